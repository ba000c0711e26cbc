-- A strategy whose file is gone makes up for nothing of that time once the file is back, however many starts lie between.
ALTER TABLE strategies ADD COLUMN is_gone INTEGER NOT NULL DEFAULT 0;
