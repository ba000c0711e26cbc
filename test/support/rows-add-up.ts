import { expect } from "vitest";
import { readRecorded } from "../e2e/kill/recorded.ts";
import { POOL, ROUTER } from "./builders.ts";
import { ACCOUNT, type Life, type Outside } from "./engine-life.ts";
import { topicOf } from "./reading-samples.ts";
import { keptTotals, recount } from "./recount.ts";

const RUN_ENDS = ["filled", "partial", "skipped", "failed"];

/** Nothing is held, live or left to be done, and the transitions of each run and swap follow one another. */
export function expectRowsToAddUp(life: Life): void {
  const count = (sql: string): unknown => life.db.prepare(sql).pluck().get();
  expect(count("SELECT count(*) FROM ledger WHERE state = 'reserved'")).toBe(0);
  expect(count("SELECT count(*) FROM capabilities WHERE live = 1")).toBe(0);
  expect(keptTotals(life.db)).toEqual(recount(life.db));
  expect(count("SELECT count(*) FROM effects")).toBe(0);
  expect(count("SELECT count(*) FROM lane_intents WHERE state NOT IN ('final', 'dropped', 'confirmed')")).toBe(0);
  expect(
    count(
      `SELECT count(*) FROM transitions AS later WHERE later.from_state IS NOT (SELECT earlier.to_state FROM transitions AS earlier
       WHERE earlier.subject_id = later.subject_id AND earlier.id < later.id ORDER BY earlier.id DESC LIMIT 1)`,
    ),
  ).toBe(0);
}

/** What left the account for a pool, by the chain alone. */
export function leftForPools({ chain }: Outside): readonly { hash: string; token: string; amount: bigint }[] {
  return chain
    .receipts()
    .flatMap(({ hash, logs }) =>
      logs
        .filter(({ topics }) => topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL))
        .map(({ address, data }) => ({ hash, token: address, amount: BigInt(data) })),
    );
}

/** Each slot from the first to the last one is a run with one end, or lies in one gap: none is both, twice or missing. */
export function expectOneEndForEachSlot(outside: Outside, everySeconds: number): void {
  const { runs, gaps, runEnds } = readRecorded(outside.file);
  const everyMs = everySeconds * 1_000;
  const inGaps = gaps.flatMap(({ first_slot_ms: first, last_slot_ms: last, count }) => {
    expect((last - first) / everyMs + 1).toBe(count);
    return Array.from({ length: count }, (_, index) => first + index * everyMs);
  });
  const slots = [...runs.map(({ slot_ms }) => slot_ms), ...inGaps].sort((a, b) => a - b);
  expect(slots).toEqual(slots.map((_, index) => (slots[0] ?? 0) + index * everyMs));
  expect(new Map(runEnds.map(({ subject_id, ends }) => [subject_id, ends]))).toEqual(
    new Map(runs.map(({ id }) => [id, 1])),
  );
  for (const { id, state } of runs) expect(RUN_ENDS, id).toContain(state);
}

/**
 * Everything that left the account is the one fill of one swap, every fill of the rows left it, no place of a run was
 * signed for twice, nothing was submitted twice where that is another swap, each nonce has its row, and no allowance
 * is left.
 */
export function expectEachFillOnce(outside: Outside): void {
  const { swaps, signed, nonces } = readRecorded(outside.file);
  const filled = swaps.filter(({ state }) => state === "final");
  const left = leftForPools(outside);
  const reported = (fill: { hash: string | null; token: string; amount: unknown }): string =>
    `${fill.amount} of ${fill.token} in ${fill.hash}`;
  expect(
    filled.map(({ hash, sell_token, sold }) => reported({ hash, token: sell_token, amount: sold })).sort(),
  ).toEqual(left.map(reported).sort());
  expect(new Set(left.map(({ hash }) => hash)).size).toBe(left.length);
  for (const [place, tries] of Map.groupBy(swaps, ({ run_id, position }) => `${run_id} ${position}`)) {
    expect(tries.filter(({ id }) => signed.has(id)).length, `signed at ${place}`).toBeLessThan(2);
  }
  const { submissions, profile } = outside.service;
  const handedOver = submissions.map(({ quoteId }) => quoteId);
  if (!profile.idempotentExecuteSwap) expect(handedOver).toEqual([...new Set(handedOver)]);
  expect(nonces).toEqual(nonces.map((_, index) => index));
  expect(outside.chain.ledger.count(ACCOUNT)).toBe(nonces.length);
  expect(allowancesOf(outside)).toEqual([]);
}

/** What the router may still take, of any token. */
export function allowancesOf({ chain }: Outside): readonly string[] {
  const ours = [...chain.ledger.values].filter(
    ([name, raw]) => name.startsWith("allowance ") && name.endsWith(` ${ACCOUNT} ${ROUTER}`) && raw > 0n,
  );
  return ours.map(([name, raw]) => `${name}: ${raw}`);
}
