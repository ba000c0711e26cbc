-- Transactions of an account: what must happen (intents), what was about to be signed (signings), what was signed
-- (attempts), and every move of them (transitions). Amounts are decimal text in wei.

CREATE TABLE lane_intents (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  account TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('swap', 'approve', 'revoke', 'relay')),
  to_address TEXT NOT NULL,
  data TEXT NOT NULL,
  value TEXT NOT NULL,
  gas_limit TEXT NOT NULL,
  max_fee_per_gas_cap TEXT NOT NULL,
  sign_by_seconds INTEGER NOT NULL,
  deadline_seconds INTEGER,
  state TEXT NOT NULL CHECK (state IN ('planned', 'signed', 'broadcast', 'mined', 'confirmed', 'final', 'dropped')),
  nonce INTEGER,
  outcome TEXT CHECK (outcome IN ('succeeded', 'reverted', 'cancelled')),
  mined_block_number INTEGER,
  mined_block_hash TEXT,
  mined_attempt_hash TEXT,
  created_at_ms INTEGER NOT NULL,
  -- 1 once it was confirmed: a reorg may then bring it back beside a younger one that is in flight.
  was_confirmed INTEGER NOT NULL DEFAULT 0 CHECK (was_confirmed IN (0, 1)),
  CHECK (state = 'planned' OR (state = 'dropped') = (nonce IS NULL)),
  CHECK ((state = 'final') = (outcome IS NOT NULL)),
  -- Where a transaction of somebody else took the nonce, an intent ends cancelled without a block of its own.
  CHECK (mined_block_hash IS NOT NULL OR state NOT IN ('mined', 'confirmed', 'final') OR outcome = 'cancelled'),
  CHECK (mined_block_hash IS NULL OR state IN ('mined', 'confirmed', 'final')),
  CHECK ((mined_block_number IS NULL) = (mined_block_hash IS NULL)),
  CHECK ((mined_attempt_hash IS NULL) = (mined_block_hash IS NULL))
) STRICT;

-- A nonce belongs to one intent for ever.
CREATE UNIQUE INDEX lane_intents_nonce ON lane_intents (account, chain_id, nonce) WHERE nonce IS NOT NULL;

-- One transaction in flight for each account.
CREATE UNIQUE INDEX lane_intents_in_flight ON lane_intents (account, chain_id)
  WHERE nonce IS NOT NULL AND state IN ('planned', 'signed', 'broadcast', 'mined') AND was_confirmed = 0;

CREATE INDEX lane_intents_open ON lane_intents (account, chain_id, seq)
  WHERE state IN ('planned', 'signed', 'broadcast', 'mined', 'confirmed');

CREATE TRIGGER lane_intents_content BEFORE UPDATE OF
  id, account, chain_id, purpose, to_address, data, value, gas_limit, max_fee_per_gas_cap, sign_by_seconds,
  deadline_seconds, created_at_ms ON lane_intents
BEGIN
  SELECT RAISE(ABORT, 'what an intent asks for never changes');
END;

CREATE TRIGGER lane_intents_end BEFORE UPDATE ON lane_intents WHEN OLD.state IN ('final', 'dropped')
BEGIN
  SELECT RAISE(ABORT, 'an intent that ended never changes');
END;

CREATE TRIGGER lane_intents_kept BEFORE DELETE ON lane_intents WHEN OLD.state <> 'dropped'
BEGIN
  SELECT RAISE(ABORT, 'an intent that may have been signed is never deleted');
END;

CREATE TABLE lane_signings (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  intent_id TEXT NOT NULL REFERENCES lane_intents (id),
  kind TEXT NOT NULL CHECK (kind IN ('original', 'replacement', 'cancel')),
  nonce INTEGER NOT NULL,
  to_address TEXT NOT NULL,
  data TEXT NOT NULL,
  value TEXT NOT NULL,
  gas_limit TEXT NOT NULL,
  max_fee_per_gas TEXT NOT NULL,
  max_priority_fee_per_gas TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX lane_signings_intent ON lane_signings (intent_id, seq);

CREATE TRIGGER lane_signings_append_only_update BEFORE UPDATE ON lane_signings
BEGIN
  SELECT RAISE(ABORT, 'signings are append-only');
END;

CREATE TRIGGER lane_signings_append_only_delete BEFORE DELETE ON lane_signings
BEGIN
  SELECT RAISE(ABORT, 'signings are append-only');
END;

CREATE TABLE lane_attempts (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  hash TEXT NOT NULL UNIQUE,
  intent_id TEXT NOT NULL REFERENCES lane_intents (id),
  kind TEXT NOT NULL CHECK (kind IN ('original', 'replacement', 'cancel')),
  raw TEXT NOT NULL,
  nonce INTEGER NOT NULL,
  max_fee_per_gas TEXT NOT NULL,
  max_priority_fee_per_gas TEXT NOT NULL,
  state TEXT NOT NULL
    CHECK (state IN ('signed', 'broadcast', 'mined', 'confirmed', 'reverted', 'replaced', 'dropped')),
  signed_at_ms INTEGER NOT NULL,
  first_broadcast_block INTEGER,
  last_broadcast_at_ms INTEGER,
  last_broadcast_block INTEGER
) STRICT;

CREATE INDEX lane_attempts_intent ON lane_attempts (intent_id, seq);

CREATE TRIGGER lane_attempts_content BEFORE UPDATE OF
  hash, intent_id, kind, raw, nonce, max_fee_per_gas, max_priority_fee_per_gas, signed_at_ms ON lane_attempts
BEGIN
  SELECT RAISE(ABORT, 'what was signed never changes');
END;

CREATE TRIGGER lane_attempts_kept BEFORE DELETE ON lane_attempts
BEGIN
  SELECT RAISE(ABORT, 'what was signed is never deleted');
END;

CREATE TABLE lane_transitions (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  intent_id TEXT NOT NULL,
  attempt_hash TEXT,
  from_state TEXT,
  to_state TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  detail TEXT
) STRICT;

CREATE INDEX lane_transitions_intent ON lane_transitions (intent_id, id);

CREATE TRIGGER lane_transitions_append_only_update BEFORE UPDATE ON lane_transitions
BEGIN
  SELECT RAISE(ABORT, 'transitions are append-only');
END;

CREATE TRIGGER lane_transitions_append_only_delete BEFORE DELETE ON lane_transitions
BEGIN
  SELECT RAISE(ABORT, 'transitions are append-only');
END;

-- Why an account signed nothing, and who released it. A release accepts as many transactions as the chain counted.
CREATE TABLE lane_halts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  account TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  reason TEXT NOT NULL,
  transaction_count INTEGER NOT NULL,
  at_ms INTEGER NOT NULL,
  released_by TEXT,
  released_at_ms INTEGER,
  CHECK ((released_by IS NULL) = (released_at_ms IS NULL))
) STRICT;

CREATE UNIQUE INDEX lane_halts_open ON lane_halts (account, chain_id) WHERE released_at_ms IS NULL;

CREATE TRIGGER lane_halts_released BEFORE UPDATE ON lane_halts WHEN OLD.released_at_ms IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'a halt that was released never changes');
END;

CREATE TRIGGER lane_halts_kept BEFORE DELETE ON lane_halts
BEGIN
  SELECT RAISE(ABORT, 'halts are never deleted');
END;
