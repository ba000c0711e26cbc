import { expect } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { HUNDRED_USDC, POOL, SLOT_MS, USDC } from "./builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "./engine-life.ts";
import { topicOf } from "./reading-samples.ts";

const START_MS = SLOT_MS - 1_500;
const MINUTE_MS = 60_000;

/** The gas of a swap, with its approval, is too much for 100 USDC, and not too much for 200. */
export function createCostlyOutside(): Outside {
  const { limits } = createOutside(START_MS).spec;
  return createOutside(START_MS, {
    ...{ limits: { ...limits, maxFee: toPpm(3_000) }, retryForSeconds: 10 },
    ...{ budget: { total: 2n * HUNDRED_USDC }, carry: { maxMultiple: toPpm(3_000_000) } },
  });
}

export const runsOf = ({ db, store }: Life) =>
  db
    .prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms")
    .pluck()
    .all()
    .flatMap((id) => store.run(id) ?? []);

function hasCompleted(life: Life): boolean {
  const open = runsOf(life).some((run) => run.swaps.some(({ state }) => !isSwapEnd(state)));
  return life.store.mode(life.context.settings.strategies[0]?.spec.id ?? "") !== undefined && !open;
}

/** A life from its start to the end of everything, or to its death. */
export async function liveOn(
  outside: Outside,
  killAt?: (label: string, passed: readonly string[]) => boolean,
): Promise<Life> {
  const life = openLife(outside, killAt === undefined ? {} : { killAt });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 150, isDone: () => hasCompleted(life) });
  expect(life.errors).toEqual([]);
  return life;
}

function outflows({ chain }: Outside): readonly bigint[] {
  const sent = chain.receipts().flatMap(({ logs }) => logs);
  return sent
    .filter(
      ({ address, topics }) =>
        address === USDC.address && topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL),
    )
    .map(({ data }) => BigInt(data));
}

export function expectOneOrderOfTwoSlots(outside: Outside, life: Life): void {
  expect(outflows(outside)).toEqual([2n * HUNDRED_USDC]);
  expect(runsOf(life).map(({ slotMs, state, reason }) => [slotMs - SLOT_MS, state, reason])).toEqual([
    [0, "skipped", "FEE_CAP_EXCEEDED"],
    [MINUTE_MS, "filled", undefined],
  ]);
  const { id } = outside.spec;
  expect(life.store.mode(id)).toMatchObject({
    mode: "paused",
    setBy: "strategy",
    reason: "completed: spent 200 USDC of 200 USDC",
  });
  expect(JSON.parse(life.store.strategy(id)?.memory ?? "")).toEqual({ version: 1, runs: 1, carry: {} });
}
