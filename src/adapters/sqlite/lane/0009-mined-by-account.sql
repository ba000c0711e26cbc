-- The newest transaction of an account, and those above a block.
CREATE INDEX lane_intents_mined_of ON lane_intents (account, mined_block_number) WHERE mined_block_number IS NOT NULL;
