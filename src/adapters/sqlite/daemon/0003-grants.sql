-- Whose swap granted an allowance last: what is left of it is not revoked while that strategy is halted.
ALTER TABLE grants ADD COLUMN strategy TEXT;

-- Whether a token of a wallet is busy is asked for every swap and every leftover.
CREATE INDEX swaps_by_token ON swaps (wallet, sell_token);
