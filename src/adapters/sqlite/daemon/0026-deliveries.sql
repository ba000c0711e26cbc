-- What a swap delivers to another wallet may be in that one's balance before it is counted. Few swaps do: those that keep
-- what they buy are in no index of this kind.
CREATE INDEX swaps_delivering ON swaps (recipient, buy_token)
  WHERE recipient <> wallet AND state IN ('signed', 'submitted', 'mined', 'unknown');
