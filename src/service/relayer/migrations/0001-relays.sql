-- What the relayer may earn and lose with each swap that it accepted. Amounts are wei of the native token, as decimal text.
CREATE TABLE relays (
  intent_id TEXT PRIMARY KEY,
  -- what the swap fee was worth when the swap was accepted
  fee_worth TEXT NOT NULL,
  -- what its gas was expected to cost then
  expected_cost TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

-- What a transaction cost that is in a block: one row an intent, gone again when its block is.
CREATE TABLE relay_costs (
  intent_id TEXT PRIMARY KEY,
  gas_paid TEXT NOT NULL,
  -- what of it the swap fee did not repay
  loss TEXT NOT NULL,
  paid_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX relay_losses ON relay_costs (paid_at_ms) WHERE loss <> '0';
