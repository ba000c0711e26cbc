-- What an audit of the newest blocks reads, without a look at all that came before.
CREATE INDEX swaps_by_block ON swaps (block_number) WHERE block_number IS NOT NULL;
