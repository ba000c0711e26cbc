-- Rows of the aggregation service. Amounts are decimal text in the token's smallest unit; instants are Unix milliseconds.

-- Gasless quotes, which somebody may be signing while the service restarts.
CREATE TABLE quotes (
  id TEXT PRIMARY KEY,
  expires_at_seconds INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX quotes_by_expiry ON quotes (expires_at_seconds);

-- Swaps that the relayer accepted. One for a quote, for ever.
CREATE TABLE swaps (
  id TEXT PRIMARY KEY,
  quote_id TEXT NOT NULL UNIQUE REFERENCES quotes (id),
  intent_id TEXT NOT NULL UNIQUE,
  network TEXT NOT NULL,
  wallet TEXT NOT NULL,
  recipient TEXT NOT NULL,
  from_token TEXT NOT NULL,
  to_token TEXT NOT NULL,
  sell_amount TEXT NOT NULL,
  nonce TEXT NOT NULL,
  deadline_seconds INTEGER NOT NULL,
  swap_signature TEXT NOT NULL,
  permit_signature TEXT,
  permit_deadline INTEGER,
  status TEXT NOT NULL CHECK (status IN ('pending', 'success', 'error', 'expired')),
  amount_out TEXT,
  hash TEXT,
  block_number INTEGER,
  error_code INTEGER,
  error_message TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX swaps_by_wallet ON swaps (wallet, status);
CREATE INDEX swaps_by_hash ON swaps (hash) WHERE hash IS NOT NULL;
CREATE INDEX swaps_pending ON swaps (created_at_ms) WHERE status = 'pending';

-- Every status of every swap, for ever.
CREATE TABLE swap_transitions (
  id INTEGER PRIMARY KEY,
  swap_id TEXT NOT NULL REFERENCES swaps (id),
  from_status TEXT,
  to_status TEXT NOT NULL,
  detail TEXT,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX swap_transitions_by_swap ON swap_transitions (swap_id, id);
CREATE TRIGGER swap_transitions_never_change BEFORE UPDATE ON swap_transitions
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;
CREATE TRIGGER swap_transitions_stay BEFORE DELETE ON swap_transitions
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;
