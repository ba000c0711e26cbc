-- What an audit of the newest blocks reads, without a look at all that came before.
CREATE INDEX lane_intents_mined ON lane_intents (mined_block_number) WHERE mined_block_number IS NOT NULL;
