-- Books date what a wallet held by its block's time: by entries around it alone, a wallet that was added later was dated
-- back by months. Older rows have none.
ALTER TABLE baselines ADD COLUMN block_time_seconds INTEGER;
