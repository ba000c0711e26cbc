import { type Difference, difference } from "./report.ts";
import { endedUnfilled, type GapRow, isFilled, isOpen, type RunRow, type SwapRow } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";

const RUN_ENDS: ReadonlySet<string> = new Set(["filled", "partial", "skipped", "failed"]);

/** Checks rows against each other: places, ends, slots, and what may be open at the same time. */
export function checkStructure(snapshot: Snapshot): Difference[] {
  const swapsOf = Map.groupBy(snapshot.swaps.values(), ({ run_id }) => run_id);
  return [
    ...snapshot.runs.flatMap((run) => checkRun(run, swapsOf.get(run.id) ?? [])),
    ...[...swapsOf].flatMap(([runId, swaps]) => checkPlaces(runId, swaps)),
    ...[...swapsOf].flatMap(([runId, swaps]) => checkHoles(runId, swaps)),
    ...checkSlots(snapshot),
    ...checkMovedSlots(snapshot),
    ...checkOpen(snapshot),
  ];
}

/** The run's end says what its swaps, by the last attempt at each place, say. */
function checkRun(run: RunRow, swaps: readonly SwapRow[]): Difference[] {
  const wrong = (message: string): Difference[] => [
    difference("RUN_END_WRONG", `run ${run.id}`, message, { state: run.state, reason: run.reason }),
  ];
  const ended = RUN_ENDS.has(run.state);
  if (ended !== (run.ended_at_ms !== null)) {
    return wrong(`Run ${run.id} is ${run.state} and has ${ended ? "no" : "an"} instant of its end.`);
  }
  if (!ended) return [];
  const open = swaps.find(isOpen);
  if (open !== undefined) return wrong(`Run ${run.id} ended ${run.state} while swap ${open.id} is ${open.state}.`);
  const last = lastAttempts(swaps);
  const filled = last.filter(isFilled).length;
  const fits =
    (run.state === "filled" && filled > 0 && filled === last.length) ||
    (run.state === "partial" && filled > 0 && filled < last.length) ||
    ((run.state === "skipped" || run.state === "failed") && filled === 0);
  if (fits) return [];
  return wrong(`Run ${run.id} ended ${run.state} with ${filled} of ${last.length} swaps filled.`);
}

function lastAttempts(swaps: readonly SwapRow[]): SwapRow[] {
  const last = new Map<number, SwapRow>();
  for (const swap of swaps) if ((last.get(swap.position)?.attempt ?? -1) < swap.attempt) last.set(swap.position, swap);
  return [...last.values()];
}

/** One fill at a place, and no further attempt while an earlier one may still land. */
function checkPlaces(runId: string, swaps: readonly SwapRow[]): Difference[] {
  return [...Map.groupBy(swaps, ({ position }) => position)].flatMap(([position, attempts]) => {
    const possible = attempts.filter((swap) => isFilled(swap) || isOpen(swap));
    const later = attempts.filter((swap) => possible[0] !== undefined && swap.attempt > possible[0].attempt);
    if (possible.length < 2 && !later.some((swap) => !endedUnfilled(swap))) return [];
    const ids = attempts.map(({ id, state }) => `${id} ${state}`).join(", ");
    const message = `Place ${position} of run ${runId} may be filled more than once: ${ids}.`;
    return [difference("PLACE_FILLED_TWICE", `run ${runId}`, message, { position, swaps: ids })];
  });
}

/** Places count from 0 and attempts from 1: what is missing in between was deleted. */
function checkHoles(runId: string, swaps: readonly SwapRow[]): Difference[] {
  const places = Map.groupBy(swaps, ({ position }) => position);
  const missing: string[] = [];
  for (let place = 0; place <= Math.max(...places.keys()); place += 1) {
    const attempts = new Set(places.get(place)?.map(({ attempt }) => attempt));
    const last = Math.max(1, ...attempts);
    for (let attempt = 1; attempt <= last; attempt += 1)
      if (!attempts.has(attempt)) missing.push(`${place}.${attempt}`);
  }
  if (missing.length === 0) return [];
  const message = `Run ${runId} lacks what it had at its places: ${missing.join(", ")} (place and attempt).`;
  return [difference("PLACE_MISSING", `run ${runId}`, message, { missing: missing.join(" ") })];
}

/** A run takes a slot that its strategy came to, under whatever schedule, or the second in which it was asked for. */
function checkMovedSlots({ runs, strategies }: Snapshot): Difference[] {
  const furthest = new Map(strategies.map(({ id, furthest_slot_ms }) => [id, furthest_slot_ms]));
  return runs.flatMap(({ id, strategy, slot_ms: slotMs, created_at_ms: createdAtMs }) => {
    const lastMs = furthest.get(strategy);
    if (lastMs === undefined || slotMs <= Math.max(lastMs, createdAtMs)) return [];
    const message = `Run ${id} has the slot ${slotMs}, and ${strategy} came to ${lastMs} only.`;
    return [difference("SLOT_MOVED", `run ${id}`, message, { strategy, slotMs, lastMs, createdAtMs })];
  });
}

/** A slot is a run or lies in one gap, never both or two. */
function checkSlots({ runs, gaps }: Snapshot): Difference[] {
  const found: Difference[] = [];
  const twice = (strategy: string, slotMs: number, how: string): void => {
    const message = `The slot ${slotMs} of ${strategy} ${how}.`;
    found.push(difference("SLOT_TWICE", `${strategy} ${slotMs}`, message, { strategy, slotMs }));
  };
  const runSlots = new Set<string>();
  for (const { strategy, slot_ms } of runs) {
    const key = `${strategy} ${slot_ms}`;
    if (runSlots.has(key)) twice(strategy, slot_ms, "has two runs");
    runSlots.add(key);
  }
  for (const [gap, before] of withGapBefore(gaps)) {
    if (before !== undefined && gap.first_slot_ms <= before.last_slot_ms) {
      twice(gap.strategy, gap.first_slot_ms, "lies in two gaps");
    }
    for (const slotMs of new Set([gap.first_slot_ms, gap.last_slot_ms])) {
      if (runSlots.has(`${gap.strategy} ${slotMs}`)) twice(gap.strategy, slotMs, "has a run and lies in a gap");
    }
  }
  return found;
}

/** Each gap, and the one before it of the same strategy. */
function withGapBefore(gaps: readonly GapRow[]): (readonly [GapRow, GapRow | undefined])[] {
  return [...Map.groupBy(gaps, ({ strategy }) => strategy).values()].flatMap((own) => {
    const sorted = own.toSorted((a, b) => a.first_slot_ms - b.first_slot_ms);
    return sorted.map((gap, index) => [gap, sorted[index - 1]] as const);
  });
}

/** One live right for a wallet and token. A swap that was confirmed and taken back by a reorganisation may be one more. */
function checkOpen({ swaps, histories }: Snapshot): Difference[] {
  const open = [...swaps.values()].filter((swap) => isOpen(swap) && !histories.swaps.get(swap.id)?.everConfirmed);
  return [...Map.groupBy(open, ({ wallet, sell_token }) => `${wallet} ${sell_token}`)].flatMap(([key, same]) => {
    if (same.length < 2) return [];
    const ids = same.map(({ id, state }) => `${id} ${state}`).join(", ");
    return [difference("TWO_LIVE", key, `More than one swap of ${key} may move money: ${ids}.`, { swaps: ids })];
  });
}
