import { Transaction } from "ethers";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isRunEnd, isSwapEnd } from "../../src/domain/run/states.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, POOL, ROUTER, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turnUntil } from "../support/engine-life.ts";
import { topicOf } from "../support/reading-samples.ts";
import { expectRowsToAddUp } from "../support/rows-add-up.ts";

const START_MS = SLOT_MS - 1_500;
const SLOTS = 1;

interface Row {
  readonly id: string;
  readonly slot_ms: number;
}

function runsOf(life: Life): readonly Row[] {
  return life.db.prepare<[], Row>("SELECT id, slot_ms FROM runs ORDER BY slot_ms").all();
}

/** Nothing is left to be done: every run and swap has its end, every effect its answer. */
function isSettled(life: Life): boolean {
  const runs = runsOf(life).flatMap(({ id }) => life.store.run(id) ?? []);
  const isOver = runs.every((run) => isRunEnd(run.state) && run.swaps.every((swap) => isSwapEnd(swap.state)));
  return runs.length >= SLOTS && isOver && life.store.nextEffectMs() === undefined;
}

/** A life on the file from its start to the end of everything, or to its death. */
async function liveOn(outside: Outside, killAt?: (label: string, passed: readonly string[]) => boolean): Promise<Life> {
  const life = openLife(outside, killAt === undefined ? {} : { killAt });
  await life.engine.start();
  await turnUntil(outside, life, { maxSeconds: 60, isDone: () => isSettled(life) });
  expect(life.errors).toEqual([]);
  return life;
}

/** How often the account's USDC really left for a swap, by the chain alone. */
function outflows(outside: Outside): readonly bigint[] {
  return outside.chain
    .receipts()
    .flatMap(({ logs }) => logs)
    .filter(
      (log) => log.address === USDC.address && log.topics[1] === topicOf(ACCOUNT) && log.topics[2] === topicOf(POOL),
    )
    .map((log) => BigInt(log.data));
}

/** Different things that were signed for a swap: an identical signature after a kill is the same one. */
function swapSignatures(outside: Outside): ReadonlySet<string> {
  return new Set(
    outside.signed.flatMap(({ kind, text }) => {
      if (kind === "typed data") return text.includes('"primaryType":"Swap"') ? [text] : [];
      const { to, nonce, data } = Transaction.from(text);
      return to?.toLowerCase() === ROUTER ? [`${nonce} ${data}`] : [];
    }),
  );
}

function expectOneFill(outside: Outside, life: Life): void {
  expect(isSettled(life), JSON.stringify(runsOf(life).map(({ id }) => life.store.run(id)?.state))).toBe(true);
  expect(runsOf(life).map(({ slot_ms }) => slot_ms)).toEqual([SLOT_MS]);
  const run = life.store.run(runsOf(life)[0]?.id ?? "");
  expect(run?.state).toBe("filled");
  expect(run?.swaps.map((swap) => [swap.state, swap.fill?.sold])).toEqual([["final", HUNDRED_USDC]]);
  expect(outflows(outside)).toEqual([HUNDRED_USDC]);
  expect(swapSignatures(outside).size).toBe(1);
  expectRowsToAddUp(life);
}

const MODES: readonly [string, Partial<StrategySpec>][] = [
  ["self-executed", { gasless: "never" }],
  ["gasless", { gasless: "only" }],
];

/** Places of which a swap that goes well passes each at least once. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  "self-executed": [
    "lane.reserve.after",
    "lane.sign.before",
    "lane.signed.after",
    "lane.broadcast.after",
    "lane.final.after",
  ],
  gasless: ["gasless.sign.before", "gasless.sign.after", "gasless.submit.before", "gasless.submit.after"],
};

describe.each(MODES)("a %s swap is done once, wherever the process is killed:", (mode, change) => {
  test("ALL-5 at every named place, each time that it is passed", async () => {
    const whole = createOutside(START_MS, change);
    const first = await liveOn(whole);
    expectOneFill(whole, first);
    expect(first.passed).toEqual(expect.arrayContaining([...(PLACES[mode] ?? [])]));
    for (const [index, label] of first.passed.entries()) {
      const outside = createOutside(START_MS, change);
      const killed = await liveOn(outside, (_label, passed) => passed.length === index + 1);
      expect([killed.isDead(), killed.passed.at(-1)], `place ${index}`).toEqual([true, label]);
      killed.db.close();
      expectOneFill(outside, await liveOn(outside));
    }
  });

  test("again and again while it recovers, at places that chance chooses", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(12), { minLength: 2, maxLength: 12 }), async (kills) => {
        const outside = createOutside(START_MS, change);
        for (const after of kills) {
          const killed = await liveOn(outside, (_label, passed) => passed.length === after + 1);
          killed.db.close();
        }
        expectOneFill(outside, await liveOn(outside));
      }),
      { numRuns: 8 },
    );
  });
});
