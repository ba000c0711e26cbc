-- From which update on a bot is asked for commands: what was taken is taken once.
CREATE TABLE chat_offsets (
  bot TEXT PRIMARY KEY,
  next_update INTEGER NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
