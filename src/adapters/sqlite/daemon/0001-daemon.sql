-- Rows of the daemon. Amounts are decimal text in the token's smallest unit; instants are Unix milliseconds.

CREATE TABLE identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  network TEXT NOT NULL,
  chain_id INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT;

-- What the audit counts from: balances of each wallet when it was first seen.
CREATE TABLE baselines (
  wallet TEXT NOT NULL,
  token TEXT NOT NULL,
  symbol TEXT NOT NULL,
  decimals INTEGER NOT NULL,
  block_number INTEGER NOT NULL,
  balance TEXT NOT NULL,
  PRIMARY KEY (wallet, token)
) STRICT;

CREATE TABLE modes (
  scope TEXT PRIMARY KEY,
  mode TEXT NOT NULL CHECK (mode IN ('active', 'paused', 'exits-only', 'halted')),
  set_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE strategies (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  spec_hash TEXT NOT NULL,
  -- the last edition that was loaded: open swaps of a strategy whose file is gone are still watched under it
  spec TEXT NOT NULL,
  memory TEXT NOT NULL,
  memory_at_ms INTEGER NOT NULL,
  last_slot_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE runs (
  id TEXT PRIMARY KEY,
  strategy TEXT NOT NULL,
  slot_ms INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  detail TEXT,
  spec_hash TEXT NOT NULL,
  window_ends_ms INTEGER NOT NULL,
  created_at_ms INTEGER NOT NULL,
  ended_at_ms INTEGER,
  UNIQUE (strategy, slot_ms)
) STRICT;
CREATE INDEX runs_open ON runs (state) WHERE state IN ('due', 'deciding', 'executing', 'parked');
CREATE INDEX runs_by_slot ON runs (slot_ms);

CREATE TABLE swaps (
  id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  position INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  reason TEXT,
  mode TEXT CHECK (mode IN ('self-executed', 'gasless')),
  wallet TEXT NOT NULL,
  recipient TEXT NOT NULL,
  sell_token TEXT NOT NULL,
  sell_symbol TEXT NOT NULL,
  sell_decimals INTEGER NOT NULL,
  buy_token TEXT NOT NULL,
  buy_symbol TEXT NOT NULL,
  buy_decimals INTEGER NOT NULL,
  amount_in TEXT,
  amount_out_min TEXT,
  quote_id TEXT,
  intent_id TEXT,
  nonce TEXT,
  deadline_seconds INTEGER,
  hash TEXT,
  block_number INTEGER,
  sold TEXT,
  bought TEXT,
  distributions TEXT,
  service_record TEXT,
  body TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  UNIQUE (run_id, position, attempt)
) STRICT;
CREATE INDEX swaps_open ON swaps (state) WHERE state IN ('signed', 'submitted', 'mined', 'confirmed', 'unknown');
CREATE INDEX swaps_by_nonce ON swaps (wallet, nonce) WHERE nonce IS NOT NULL;
CREATE INDEX swaps_by_run ON swaps (run_id);
CREATE INDEX swaps_by_intent ON swaps (intent_id) WHERE intent_id IS NOT NULL;

-- Every status transition, for ever.
CREATE TABLE transitions (
  id INTEGER PRIMARY KEY,
  subject TEXT NOT NULL CHECK (subject IN ('run', 'swap')),
  subject_id TEXT NOT NULL,
  from_state TEXT,
  to_state TEXT NOT NULL,
  reason TEXT,
  detail TEXT,
  at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX transitions_by_subject ON transitions (subject_id, id);
CREATE TRIGGER transitions_never_change BEFORE UPDATE ON transitions
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;
CREATE TRIGGER transitions_stay BEFORE DELETE ON transitions
BEGIN SELECT RAISE(ABORT, 'transitions are append-only'); END;

-- What is to be done next, written down before it is done.
CREATE TABLE effects (
  id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs (id),
  swap_id TEXT,
  kind TEXT NOT NULL,
  version INTEGER NOT NULL,
  payload TEXT NOT NULL,
  not_before_ms INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  done_at_ms INTEGER,
  created_at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX effects_pending ON effects (not_before_ms) WHERE done_at_ms IS NULL;
CREATE INDEX effects_by_run ON effects (run_id);

-- The money of each swap: reserved while it may still move, spent once it moved, released when it can no longer.
CREATE TABLE ledger (
  swap_id TEXT PRIMARY KEY REFERENCES swaps (id),
  strategy TEXT NOT NULL,
  wallet TEXT NOT NULL,
  token TEXT NOT NULL,
  amount TEXT NOT NULL,
  usd TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('reserved', 'spent', 'released')),
  reserved_at_ms INTEGER NOT NULL,
  settled_at_ms INTEGER
) STRICT;
CREATE INDEX ledger_reserved ON ledger (wallet, token) WHERE state = 'reserved';
CREATE INDEX ledger_by_strategy ON ledger (strategy, token);
CREATE INDEX ledger_by_time ON ledger (reserved_at_ms);

-- A signed swap or permit is a bearer right. At most one is live for a wallet and token, over both modes.
CREATE TABLE capabilities (
  swap_id TEXT PRIMARY KEY REFERENCES swaps (id),
  wallet TEXT NOT NULL,
  token TEXT NOT NULL,
  spender TEXT NOT NULL,
  live INTEGER NOT NULL CHECK (live IN (0, 1)),
  until_seconds INTEGER,
  opened_at_ms INTEGER NOT NULL,
  closed_at_ms INTEGER
) STRICT;
CREATE UNIQUE INDEX capabilities_one_live ON capabilities (wallet, token) WHERE live = 1;

-- Each digest before it is signed, each signature before it leaves.
CREATE TABLE signatures (
  digest TEXT PRIMARY KEY,
  swap_id TEXT NOT NULL REFERENCES swaps (id),
  kind TEXT NOT NULL CHECK (kind IN ('swap', 'permit')),
  typed_data TEXT NOT NULL,
  valid_until_seconds INTEGER NOT NULL,
  intended_at_ms INTEGER NOT NULL,
  signature TEXT,
  signed_at_ms INTEGER
) STRICT;
CREATE INDEX signatures_by_swap ON signatures (swap_id);

-- Every allowance that was ever granted, so that leftovers are found and revoked.
CREATE TABLE grants (
  wallet TEXT NOT NULL,
  token TEXT NOT NULL,
  spender TEXT NOT NULL,
  granted_at_ms INTEGER NOT NULL,
  PRIMARY KEY (wallet, token, spender)
) STRICT;

-- Slots that got no run: equal uneventful ends in a row share one line.
CREATE TABLE gaps (
  strategy TEXT NOT NULL,
  first_slot_ms INTEGER NOT NULL,
  last_slot_ms INTEGER NOT NULL,
  count INTEGER NOT NULL,
  reason TEXT NOT NULL,
  recorded_at_ms INTEGER NOT NULL,
  PRIMARY KEY (strategy, first_slot_ms)
) STRICT;

-- What the operator asks of the running daemon.
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL,
  arguments TEXT NOT NULL,
  made_by TEXT NOT NULL,
  made_at_ms INTEGER NOT NULL,
  taken_at_ms INTEGER,
  answer TEXT
) STRICT;

-- Checks of each decision to sign or not to sign, for the question why.
CREATE TABLE checks (
  swap_id TEXT NOT NULL REFERENCES swaps (id),
  at_ms INTEGER NOT NULL,
  position INTEGER NOT NULL,
  code TEXT NOT NULL,
  passed INTEGER NOT NULL CHECK (passed IN (0, 1)),
  value TEXT NOT NULL,
  bound TEXT NOT NULL,
  PRIMARY KEY (swap_id, at_ms, position)
) STRICT;

-- Start, stop and other events of the daemon's own life.
CREATE TABLE daemon_events (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  detail TEXT NOT NULL,
  at_ms INTEGER NOT NULL
) STRICT;
