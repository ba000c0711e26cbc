-- With each step of a run the warnings of its strategy are read: where hundreds are open each step went through all.
CREATE INDEX alerts_of_strategy ON alerts (strategy) WHERE over_at_ms IS NULL;
