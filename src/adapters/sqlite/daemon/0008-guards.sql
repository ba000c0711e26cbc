-- The database refuses what the program must never do: an illegal move, a settled amount that changes, a lost row.

-- Every move of runs and swaps that there is; an empty `from_state` is the beginning. A test holds it against the
-- program's own tables.
CREATE TABLE moves (
  subject TEXT NOT NULL CHECK (subject IN ('run', 'swap')),
  from_state TEXT NOT NULL,
  to_state TEXT NOT NULL,
  PRIMARY KEY (subject, from_state, to_state)
) STRICT, WITHOUT ROWID;
INSERT INTO moves (subject, from_state, to_state) VALUES
  ('run', '', 'due'),
  ('run', 'due', 'deciding'),
  ('run', 'due', 'skipped'),
  ('run', 'due', 'failed'),
  ('run', 'deciding', 'executing'),
  ('run', 'deciding', 'skipped'),
  ('run', 'deciding', 'failed'),
  ('run', 'executing', 'filled'),
  ('run', 'executing', 'partial'),
  ('run', 'executing', 'skipped'),
  ('run', 'executing', 'failed'),
  ('run', 'executing', 'parked'),
  ('run', 'filled', 'executing'),
  ('run', 'partial', 'executing'),
  ('run', 'failed', 'executing'),
  ('run', 'parked', 'executing'),
  ('run', 'parked', 'failed'),
  ('run', 'parked', 'skipped'),
  ('swap', '', 'planned'),
  ('swap', 'planned', 'quoted'),
  ('swap', 'planned', 'skipped'),
  ('swap', 'planned', 'denied'),
  ('swap', 'quoted', 'quoted'),
  ('swap', 'quoted', 'cleared'),
  ('swap', 'quoted', 'skipped'),
  ('swap', 'quoted', 'denied'),
  ('swap', 'cleared', 'approving'),
  ('swap', 'cleared', 'signed'),
  ('swap', 'cleared', 'quoted'),
  ('swap', 'cleared', 'skipped'),
  ('swap', 'cleared', 'denied'),
  ('swap', 'approving', 'quoted'),
  ('swap', 'approving', 'skipped'),
  ('swap', 'approving', 'denied'),
  ('swap', 'signed', 'submitted'),
  ('swap', 'signed', 'mined'),
  ('swap', 'signed', 'unknown'),
  ('swap', 'signed', 'expired'),
  ('swap', 'signed', 'cancelled'),
  ('swap', 'signed', 'reverted'),
  ('swap', 'submitted', 'mined'),
  ('swap', 'submitted', 'unknown'),
  ('swap', 'submitted', 'reverted'),
  ('swap', 'submitted', 'expired'),
  ('swap', 'submitted', 'cancelled'),
  ('swap', 'mined', 'confirmed'),
  ('swap', 'mined', 'submitted'),
  ('swap', 'mined', 'reverted'),
  ('swap', 'mined', 'expired'),
  ('swap', 'mined', 'cancelled'),
  ('swap', 'mined', 'final'),
  ('swap', 'confirmed', 'final'),
  ('swap', 'confirmed', 'submitted'),
  ('swap', 'confirmed', 'reverted'),
  ('swap', 'confirmed', 'cancelled'),
  ('swap', 'confirmed', 'expired'),
  ('swap', 'unknown', 'mined'),
  ('swap', 'unknown', 'submitted'),
  ('swap', 'unknown', 'reverted'),
  ('swap', 'unknown', 'expired'),
  ('swap', 'unknown', 'cancelled');

CREATE TRIGGER transitions_legal BEFORE INSERT ON transitions
WHEN NOT EXISTS (
  SELECT 1 FROM moves
  WHERE subject = NEW.subject AND from_state = coalesce(NEW.from_state, '') AND to_state = NEW.to_state
)
BEGIN SELECT RAISE(ABORT, 'no table lists this transition'); END;

CREATE TRIGGER transitions_of_something BEFORE INSERT ON transitions
WHEN NOT iif(
  NEW.subject = 'run',
  EXISTS (SELECT 1 FROM runs WHERE id = NEW.subject_id),
  EXISTS (SELECT 1 FROM swaps WHERE id = NEW.subject_id)
)
BEGIN SELECT RAISE(ABORT, 'a transition of nothing'); END;

CREATE TRIGGER transitions_in_a_row BEFORE INSERT ON transitions
WHEN NEW.from_state IS NOT (
  SELECT to_state FROM transitions WHERE subject_id = NEW.subject_id AND subject = NEW.subject ORDER BY id DESC LIMIT 1
)
BEGIN SELECT RAISE(ABORT, 'a transition begins where the last one ended'); END;

-- The state of a row is the end of its last transition: the transition is written first.
CREATE TRIGGER runs_begin AFTER INSERT ON runs WHEN NEW.state <> 'due'
BEGIN SELECT RAISE(ABORT, 'a run begins as due'); END;
CREATE TRIGGER runs_state BEFORE UPDATE OF state ON runs
WHEN NEW.state <> OLD.state AND NEW.state IS NOT (
  SELECT to_state FROM transitions WHERE subject_id = NEW.id AND subject = 'run' ORDER BY id DESC LIMIT 1
)
BEGIN SELECT RAISE(ABORT, 'the state of a run changes by a transition'); END;
CREATE TRIGGER runs_content BEFORE UPDATE OF id, strategy, slot_ms, slots, created_at_ms ON runs
WHEN NEW.id <> OLD.id OR NEW.strategy <> OLD.strategy OR NEW.slot_ms <> OLD.slot_ms OR NEW.slots <> OLD.slots
  OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'what a run stands for never changes'); END;

CREATE TRIGGER swaps_begin AFTER INSERT ON swaps WHEN NEW.state <> 'planned'
BEGIN SELECT RAISE(ABORT, 'a swap begins as planned'); END;
CREATE TRIGGER swaps_state BEFORE UPDATE OF state ON swaps
WHEN NEW.state <> OLD.state AND NEW.state IS NOT (
  SELECT to_state FROM transitions WHERE subject_id = NEW.id AND subject = 'swap' ORDER BY id DESC LIMIT 1
)
BEGIN SELECT RAISE(ABORT, 'the state of a swap changes by a transition'); END;
CREATE TRIGGER swaps_content BEFORE UPDATE OF
  id, run_id, position, attempt, wallet, recipient, sell_token, buy_token, created_at_ms ON swaps
WHEN NEW.id <> OLD.id OR NEW.run_id <> OLD.run_id OR NEW.position <> OLD.position OR NEW.attempt <> OLD.attempt
  OR NEW.wallet <> OLD.wallet OR NEW.recipient <> OLD.recipient OR NEW.sell_token <> OLD.sell_token
  OR NEW.buy_token <> OLD.buy_token OR NEW.created_at_ms <> OLD.created_at_ms
BEGIN SELECT RAISE(ABORT, 'what a swap is about never changes'); END;
CREATE TRIGGER swaps_end BEFORE UPDATE OF
  mode, amount_in, amount_out_min, quote_id, intent_id, nonce, deadline_seconds, hash, block_number, sold, bought
  ON swaps
WHEN OLD.state IN ('final', 'reverted', 'expired', 'cancelled') AND (
  NEW.mode IS NOT OLD.mode OR NEW.amount_in IS NOT OLD.amount_in OR NEW.amount_out_min IS NOT OLD.amount_out_min
  OR NEW.quote_id IS NOT OLD.quote_id OR NEW.intent_id IS NOT OLD.intent_id OR NEW.nonce IS NOT OLD.nonce
  OR NEW.deadline_seconds IS NOT OLD.deadline_seconds OR NEW.hash IS NOT OLD.hash
  OR NEW.block_number IS NOT OLD.block_number OR NEW.sold IS NOT OLD.sold OR NEW.bought IS NOT OLD.bought
)
BEGIN SELECT RAISE(ABORT, 'a signed swap that ended never changes'); END;
CREATE TRIGGER swaps_kept BEFORE DELETE ON swaps
WHEN OLD.state NOT IN ('planned', 'quoted', 'skipped', 'denied')
BEGIN SELECT RAISE(ABORT, 'a swap that may have been signed is never deleted'); END;

CREATE TRIGGER ledger_begin AFTER INSERT ON ledger WHEN NEW.state <> 'reserved'
BEGIN SELECT RAISE(ABORT, 'the money of a swap is reserved first'); END;
CREATE TRIGGER ledger_state BEFORE UPDATE OF state ON ledger
WHEN NEW.state <> OLD.state
  AND NOT (OLD.state = 'reserved' AND NEW.state IN ('spent', 'released'))
  AND NOT (OLD.state = 'spent' AND NEW.state = 'reserved')
BEGIN SELECT RAISE(ABORT, 'no such move of the money of a swap'); END;
CREATE TRIGGER ledger_content BEFORE UPDATE OF swap_id, strategy, wallet, token, reserved_at_ms ON ledger
WHEN NEW.swap_id <> OLD.swap_id OR NEW.strategy <> OLD.strategy OR NEW.wallet <> OLD.wallet
  OR NEW.token <> OLD.token OR NEW.reserved_at_ms <> OLD.reserved_at_ms
BEGIN SELECT RAISE(ABORT, 'whose money it is never changes'); END;
-- While nothing is signed what is reserved may follow what is measured; later only a settlement says another amount.
CREATE TRIGGER ledger_amount BEFORE UPDATE OF amount ON ledger
WHEN NEW.amount <> OLD.amount AND NEW.state = OLD.state AND NOT (
  OLD.state = 'reserved' AND (SELECT state FROM swaps WHERE id = OLD.swap_id) IN ('planned', 'quoted')
)
BEGIN SELECT RAISE(ABORT, 'the money of a signed swap never changes but by its settlement'); END;
CREATE TRIGGER ledger_usd BEFORE UPDATE OF usd ON ledger WHEN NEW.usd <> OLD.usd AND OLD.state <> 'reserved'
BEGIN SELECT RAISE(ABORT, 'the value of a settled swap never changes'); END;
CREATE TRIGGER ledger_kept BEFORE DELETE ON ledger
WHEN (SELECT state FROM swaps WHERE id = OLD.swap_id) NOT IN ('planned', 'quoted', 'skipped', 'denied')
BEGIN SELECT RAISE(ABORT, 'the money of a swap that may have been signed is never forgotten'); END;
