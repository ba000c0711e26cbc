import type { SimStrategy } from "../daemon/workload.ts";
import type { SimChain } from "../world/chain.ts";
import { Ledger } from "../world/ledger.ts";
import { ROUTER, TOKENS } from "../world/places.ts";
import type { Rows } from "./rows.ts";
import type { Report, SigningOracle } from "./signing.ts";

/** of a trigger, as its page says */
const ATTEMPTS = 3;

/** Before the pause, while everything outside is well: who should be asked is asked. */
export function checkProgress(parts: {
  rows: Rows;
  strategies: readonly SimStrategy[];
  askedAtMs: readonly number[];
  quietSinceMs: number;
  nowMs: number;
  report: Report;
}): void {
  const { rows, strategies, askedAtMs, quietSinceMs, nowMs, report } = parts;
  const endless = strategies.filter(({ isEndless }) => isEndless);
  const isAsked = askedAtMs.some((atMs) => atMs > quietSinceMs + (nowMs - quietSinceMs) / 2);
  if (endless.length > 0 && !isAsked) report("L1", "the service is not asked any more, though strategies are due");
  for (const { id, everySeconds } of strategies) {
    const last = rows.one<{ last_slot_ms: number }>(
      "SELECT last_slot_ms FROM strategies WHERE id = ?",
      id,
    )?.last_slot_ms;
    if (last === undefined) report("L1", `${id} was never taken up`);
    else if (!id.startsWith("twap") && nowMs - last > 2 * everySeconds * 1_000 + 20_000) {
      report("L1", `the last slot of ${id} that was handled is ${Math.round((nowMs - last) / 1_000)} s old`);
    }
  }
  for (const { code, subject, text } of openAlerts(rows))
    report("L1", `the alert ${code} of ${subject} is not over: ${text}`);
  const halt = rows.one<{ reason: string }>("SELECT reason FROM lane_halts WHERE released_at_ms IS NULL");
  if (halt !== undefined) report("L3", `the account is halted: ${halt.reason}`);
}

/** Of what goes on while strategies run the alert may be there at any instant; all others are over by now. */
function openAlerts(rows: Rows): { code: string; subject: string; text: string }[] {
  return rows.all(
    "SELECT code, subject, text FROM alerts WHERE over_at_ms IS NULL AND severity <> 'info' AND code IN ('SWAP_UNKNOWN', 'CLOCK_DISAGREES', 'RUN_PARKED', 'ACCOUNT_HALTED', 'STRATEGY_PAUSED', 'MEMORY_UNREADABLE', 'DATABASE_BEHIND')",
  );
}

/** Once nothing new begins: everything that was begun has its end, and nothing is held any more. */
export function checkRest(parts: {
  chain: SimChain;
  rows: Rows;
  wallet: string;
  oracle: SigningOracle;
  strategies: readonly SimStrategy[];
  report: Report;
}): void {
  const { chain, rows, wallet, oracle, strategies, report } = parts;
  const open = rows.all<{ id: string; state: string; detail: string | null }>(
    `SELECT id, state, reason AS detail FROM runs WHERE state NOT IN ('filled', 'partial', 'skipped', 'failed')
     UNION ALL SELECT id, state, reason FROM swaps
     WHERE state NOT IN ('final', 'skipped', 'denied', 'reverted', 'expired', 'cancelled')`,
  );
  for (const { id, state, detail } of open) report("L1", `${id} is still ${state} (${detail ?? "no reason"})`);
  for (const { subject_id, ends } of rows.all<{ subject_id: string; ends: number }>(
    `SELECT runs.id AS subject_id, count(transitions.id) AS ends FROM runs LEFT JOIN transitions ON subject_id = runs.id
     AND to_state IN ('filled', 'partial', 'skipped', 'failed') GROUP BY runs.id
     HAVING ends <> 1 + (SELECT count(*) FROM transitions AS back WHERE back.subject_id = runs.id AND back.reason = 'reorganised')`,
  ))
    report("L1", `run ${subject_id} has ${ends} ends`);
  for (const { swap_id } of rows.all<{ swap_id: string }>("SELECT swap_id FROM ledger WHERE state = 'reserved'"))
    report("L2", `${swap_id} still reserves money`);
  for (const { swap_id } of rows.all<{ swap_id: string }>("SELECT swap_id FROM capabilities WHERE live = 1"))
    report("L2", `${swap_id} still counts as a live capability`);
  for (const { id, state } of rows.all<{ id: string; state: string }>(
    "SELECT id, state FROM lane_intents WHERE state NOT IN ('final', 'dropped')",
  ))
    report("L3", `the transaction ${id} is still ${state}`);
  const ledger = new Ledger(chain.finalized.state);
  for (const { symbol, address } of TOKENS) {
    const left = ledger.allowance(address, wallet, ROUTER);
    if (left !== 0n) report("L4", `${left} of ${symbol} may still be taken`);
  }
  for (const { code, subject } of openAlerts(rows)) report("L1", `the alert ${code} of ${subject} is not over`);
  for (const strategy of strategies) checkSlots(rows, strategy, report);
  checkTriggers(rows, oracle, report);
}

/** Only what was signed and came to nothing gives a trigger back: a stop that never traded is armed still. */
function checkTriggers(rows: Rows, { capabilities }: SigningOracle, report: Report): void {
  const given = rows.all<{ strategy: string; count: number }>(
    "SELECT strategy, count(*) AS count FROM alerts WHERE code = 'TRIGGER_GIVEN_BACK' GROUP BY strategy",
  );
  for (const { strategy: id, count } of given) {
    const approvals = rows.one<{ count: number }>(
      "SELECT count(*) AS count FROM swaps JOIN runs ON runs.id = run_id WHERE strategy = ? AND swaps.reason = 'approval_failed'",
      id,
    );
    const signed = capabilities.filter(({ strategy }) => strategy === id).length + (approvals?.count ?? 0);
    if (signed < count * ATTEMPTS)
      report("L1", `${id} gave its trigger back ${count} times after ${signed} signatures`);
  }
}

/** Every slot from the first to the last one is a run, or lies in one gap; none is both, twice or missing. */
function checkSlots(rows: Rows, { id, everySeconds }: SimStrategy, report: Report): void {
  // The slots of a time-weighted sale follow from its own start.
  if (id.startsWith("twap")) return;
  const everyMs = everySeconds * 1_000;
  const handled = new Map<number, number>();
  const note = (slotMs: number): void => void handled.set(slotMs, (handled.get(slotMs) ?? 0) + 1);
  const runs = rows.all<{ slot_ms: number; slots: number }>("SELECT slot_ms, slots FROM runs WHERE strategy = ?", id);
  for (const { slot_ms } of runs) note(slot_ms);
  for (const gap of rows.all<{ first_slot_ms: number; last_slot_ms: number; count: number }>(
    "SELECT first_slot_ms, last_slot_ms, count FROM gaps WHERE strategy = ?",
    id,
  )) {
    const { first_slot_ms: first, last_slot_ms: last, count } = gap;
    if ((last - first) / everyMs + 1 !== count)
      report("L1", `a gap of ${id} from ${first} to ${last} counts ${count} slots`);
    for (let slotMs = first; slotMs <= last; slotMs += everyMs) note(slotMs);
  }
  const slots = [...handled.keys()].sort((a, b) => a - b);
  for (const [index, slotMs] of slots.entries()) {
    const before = slots[index - 1];
    if (handled.get(slotMs) !== 1) report("L1", `the slot ${slotMs} of ${id} was handled ${handled.get(slotMs)} times`);
    if (before !== undefined && slotMs - before !== everyMs)
      report("L1", `${id} lost the slots from ${before} to ${slotMs}`);
  }
}
