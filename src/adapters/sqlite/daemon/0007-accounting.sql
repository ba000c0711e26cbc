-- What an accountant needs of a fill, beside its amounts: when its block was made, what the service and the affiliate
-- kept (smallest unit of the sold token), and the reference prices it was cleared by (JSON: dollars scaled by 1e18 as
-- text, source and age of each). Null in rows that are older than these columns.
ALTER TABLE swaps ADD COLUMN block_time_seconds INTEGER;
ALTER TABLE swaps ADD COLUMN swap_fee TEXT;
ALTER TABLE swaps ADD COLUMN affiliate_fee TEXT;
ALTER TABLE swaps ADD COLUMN price_evidence TEXT;
