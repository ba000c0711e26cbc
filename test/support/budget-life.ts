import { expect } from "vitest";
import { isSwapEnd } from "../../src/domain/run/states.ts";
import { HUNDRED_USDC, POOL, USDC } from "./builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "./engine-life.ts";
import { topicOf } from "./reading-samples.ts";

/** A midnight of UTC, with a slot of every minute. */
export const MIDNIGHT_MS = Date.UTC(2023, 10, 15);

/** 100 USDC a minute, 250 USDC a day: three slots before midnight and three from then on. */
export function createBudgetOutside(): Outside {
  const limits = [{ period: "day" as const, most: (5n * HUNDRED_USDC) / 2n }];
  return createOutside(MIDNIGHT_MS - 181_500, {
    budget: { calendar: { timezone: "UTC", limits } },
    retryForSeconds: 20,
  });
}

export const runsOf = ({ db, store }: Life) =>
  db
    .prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms")
    .pluck()
    .all()
    .flatMap((id) => store.run(id) ?? []);

/** A life until three minutes after midnight, or to its death. */
export async function liveOverMidnight(
  outside: Outside,
  killAt?: (label: string, passed: readonly string[]) => boolean,
): Promise<Life> {
  const life = openLife(outside, killAt === undefined ? {} : { killAt });
  await life.engine.start();
  const isDone = (): boolean => {
    const runs = runsOf(life);
    const isOpen = runs.some(({ swaps }) => swaps.some(({ state }) => !isSwapEnd(state)));
    return outside.clock.nowMs() > MIDNIGHT_MS + 160_000 && !isOpen;
  };
  await turnUntil(outside, life, { maxSeconds: 420, isDone });
  expect(life.errors).toEqual([]);
  return life;
}

/** What left the wallet before midnight and from then on, by the chain alone: by the times of its blocks. */
export async function soldByDay({ chain }: Outside): Promise<readonly [before: bigint, after: bigint]> {
  let [before, after] = [0n, 0n];
  for (const { logs, blockNumber } of chain.receipts()) {
    const seconds = (await chain.block(blockNumber))?.timestamp ?? 0;
    for (const { address, topics, data } of logs) {
      const isSale = topics[1] === topicOf(ACCOUNT) && topics[2] === topicOf(POOL);
      if (address !== USDC.address || !isSale) continue;
      if (seconds * 1_000 < MIDNIGHT_MS) before += BigInt(data);
      else after += BigInt(data);
    }
  }
  return [before, after];
}
