-- The newest fill of a wallet is asked for before each decision: also one that never traded beside one with a long history
-- has it at once.
CREATE INDEX swaps_by_wallet_block ON swaps (wallet, block_number) WHERE block_number IS NOT NULL;
