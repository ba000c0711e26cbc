-- What a swap delivers to another wallet may be in that one's balance before it is counted. Few swaps do: those that keep
-- what they buy are in no index of this kind.
CREATE INDEX swaps_delivering ON swaps (recipient, buy_token)
  WHERE recipient <> wallet AND state IN ('signed', 'submitted', 'mined', 'unknown');
-- The newest block of a wallet is asked for before each decision, and what was delivered to it counts.
CREATE INDEX swaps_by_recipient_block ON swaps (recipient, block_number)
  WHERE recipient <> wallet AND block_number IS NOT NULL;
