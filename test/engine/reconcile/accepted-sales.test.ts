import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import type { Address } from "../../../src/domain/money/address.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, SLOT_MS, USDC, WBTC } from "../../support/builders.ts";
import {
  accept,
  acceptAlone,
  acceptInTime,
  BUDGET,
  begin,
  copyTo,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  open,
} from "../../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, type Outside, openLife, turn } from "../../support/engine-life.ts";

// An older copy is put back, and what the newer database sold is accepted: none of it may be sold once more.

const MODES = ["only", "never"] as const;
const DAY_MS = 86_400_000;

/** One swap, a copy, and two more of the newer database. @returns the world with the copy put back */
async function putBack(outside: Outside, newest = 3): Promise<Outside> {
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  const restored = { ...outside, spec: { ...outside.spec }, file: copyTo(outside, "copy.db") };
  await fill(outside, newest, marker);
  return restored;
}

test.each(MODES)(
  "they count for a strategy whose file is away while they are accepted (gasless: %s)",
  async (gasless) => {
    const outside = begin(gasless);
    const marker = markerOf(outside);
    const restored = await putBack(outside);
    const first = openLife(restored, { marker, settings: { strategies: [] } });
    onTestFinished(() => first.engine.stop());
    await first.engine.start();
    await turn(restored, first, LIFETIME_SECONDS + 5);
    expect(await accept(first)).toContain("it counts in the budget of");
    await turn(restored, first, 5);
    await first.engine.stop();
    const life = await live(restored, marker);
    await turn(restored, life, 400);
    expect([open(life), fills(outside), life.errors]).toEqual([[], BUDGET, []]);
  },
);

test.each(MODES)("they count for a strategy that buys something else by now (gasless: %s)", async (gasless) => {
  const outside = begin(gasless);
  const restored = await putBack(outside);
  const edited = { ...restored, spec: { ...restored.spec, buy: WBTC } as StrategySpec };
  const life = await live(edited, markerOf(outside));
  await turn(edited, life, LIFETIME_SECONDS + 5);
  expect(await accept(life)).toContain("it counts in the budget of");
  await turn(edited, life, 400);
  expect([open(life), fills(outside), life.errors]).toEqual([[], BUDGET, []]);
});

const MOST_OF_A_DAY = 4;

/** A strategy with a limit a day, an older copy of which is put back after some swaps, and accepted by a clock set apart. */
async function acceptedBy(offMs: number, newest: number) {
  const limits = [{ period: "day", most: BigInt(MOST_OF_A_DAY) * HUNDRED_USDC }];
  const budget = { calendar: { timezone: "UTC", limits } };
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only", budget } as unknown as Partial<StrategySpec>);
  const restored = await putBack(outside, newest);
  const life = await live(restored, markerOf(outside));
  await turn(restored, life, LIFETIME_SECONDS + 5);
  outside.clock.jumpTo(outside.clock.nowMs() + offMs);
  expect(await acceptAlone(life)).toContain("accepted");
  outside.clock.jumpTo(outside.clock.nowMs() - offMs);
  return { outside, restored, life };
}

test.each([0, -DAY_MS])(
  "they count in the day of their blocks, whatever the clock said that they were accepted by (%i)",
  async (offMs) => {
    const { outside, restored, life } = await acceptedBy(offMs, 3);
    await turn(restored, life, 400);
    expect([fills(outside), life.errors]).toEqual([MOST_OF_A_DAY, []]);
  },
);

test.each([0, 3_650 * DAY_MS])("and in no day after it (%i)", async (offMs) => {
  const { outside, restored, life } = await acceptedBy(offMs, MOST_OF_A_DAY);
  await turn(restored, life, 100);
  expect(fills(outside)).toBe(MOST_OF_A_DAY);
  outside.clock.jumpTo(outside.clock.nowMs() + 3 * DAY_MS);
  await turn(restored, life, 600);
  expect(fills(outside)).toBe(2 * MOST_OF_A_DAY);
});

test.each(MODES)(
  "those that one endpoint hides, though a deposit made up for them, are listed by the others (gasless: %s)",
  async (gasless) => {
    const outside = begin(gasless);
    const restored = await putBack(outside);
    const { chain, clock } = outside;
    chain.ledger.credit(USDC.address, ACCOUNT, 3n * HUNDRED_USDC);
    for (let block = 0; block < 10; block += 1) {
      await clock.advance(1_000);
      chain.mine();
    }
    const [agreed, all] = [chain.agreed.bind(chain), chain.logs.bind(chain)];
    let hides = true;
    chain.logs = async (filter) => (hides ? [] : await all(filter));
    chain.agreed = async () => ({ ...(await agreed()), logs: all });
    const life = await live(restored, markerOf(outside));
    await turn(restored, life, 20);
    expect(open(life)).toEqual(expect.arrayContaining(["older", "fill"]));
    hides = false;
    await acceptInTime(restored, life);
    await turn(restored, life, 400);
    expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
  },
);

test.each(MODES)(
  "those of a block that one endpoint does not have yet when it is accepted are found before anything is signed (gasless: %s)",
  async (gasless) => {
    const outside = begin(gasless);
    const marker = markerOf(outside);
    const { chain } = outside;
    await fill(outside, 1, marker);
    const restored = { ...outside, spec: { ...outside.spec }, file: copyTo(outside, "copy.db") };
    const behind = await chain.latest();
    await fill(outside, 3, marker);
    const agreed = chain.agreed.bind(chain);
    chain.agreed = async () => {
      const reads = await agreed();
      const transactionCount = async (address: Address) => await chain.transactionCount(address, behind.number);
      return { ...reads, latest: behind, transactionCount };
    };
    const life = await live(restored, marker);
    await turn(restored, life, LIFETIME_SECONDS + 5);
    expect([open(life), await accept(life)]).toEqual([["older"], expect.stringContaining("accepted 1")]);
    await turn(restored, life, 60);
    expect([open(life), fills(outside)]).toEqual([["unchecked"], 3]);
    chain.agreed = agreed;
    await turn(restored, life, 60);
    expect(open(life)).toEqual(expect.arrayContaining(["fill", "fill"]));
    await acceptInTime(restored, life);
    await turn(restored, life, 400);
    expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
  },
);

test("those of a block whose time a node refuses count from when they were accepted", async () => {
  const outside = begin("only");
  const restored = await putBack(outside);
  const { chain } = outside;
  const { number } = await chain.latest();
  const block = chain.block.bind(chain);
  chain.block = async (asked) => {
    if (asked < number - 2) throw new ChainReadError("refused", "history has been pruned");
    return await block(asked);
  };
  for (let mined = 0; mined < 5; mined += 1) chain.mine();
  const life = await live(restored, markerOf(outside));
  await acceptInTime(restored, life);
  await turn(restored, life, 400);
  expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
});

test.each(MODES)(
  "those that all endpoints hide until it is accepted are missed in the balance, and count as what it misses (gasless: %s)",
  async (gasless) => {
    const outside = begin(gasless);
    const restored = await putBack(outside);
    outside.chain.hidesLogs = true;
    const life = await live(restored, markerOf(outside));
    await turn(restored, life, LIFETIME_SECONDS + 5);
    expect(open(life)).toEqual(expect.arrayContaining(["older", "cannot-prove"]));
    expect(await accept(life)).toMatch(/it has \S+ USDC, .*; it counts in the budget of/u);
    await turn(restored, life, 3);
    outside.chain.hidesLogs = false;
    await turn(restored, life, 300);
    // The fill that the copy knows is hidden as well: it is missed in the balance too, and counts twice.
    expect([fills(outside), life.isDead(), life.errors, open(life)]).toEqual([BUDGET - 1, false, [], []]);
  },
);

test.each(MODES)(
  "those that a slow node has not shown yet are waited for (gasless: %s)",
  { timeout: 60_000 },
  async (gasless) => {
    const outside = begin(gasless);
    const marker = markerOf(outside);
    await fill(outside, 1, marker);
    const restored = { ...outside, spec: { ...outside.spec }, file: copyTo(outside, "copy.db") };
    const { chain, clock } = outside;
    for (let block = 0; block < 6_000; block += 1) chain.mine();
    await fill(outside, 3, marker);
    for (let block = 0; block < 10; block += 1) chain.mine();
    const [agreed, all] = [chain.agreed.bind(chain), chain.logs.bind(chain)];
    let isSlow = true;
    chain.logs = async (filter) => {
      if (isSlow) await clock.sleep(21_000);
      return await all(filter);
    };
    chain.agreed = async () => ({ ...(await agreed()), logs: chain.logs });
    const starting = live(restored, marker);
    for (let second = 0; second < 70; second += 1) {
      await clock.advance(1_000);
      chain.mine();
    }
    const life = await starting;
    await turn(restored, life, LIFETIME_SECONDS + 5);
    expect(await accept(life)).toMatch(/^refused: the wallet's logs are still being read/u);
    isSlow = false;
    await turn(restored, life, 130);
    expect(open(life)).toEqual(expect.arrayContaining(["older", "fill", "fill"]));
    await acceptInTime(restored, life);
    await turn(restored, life, 500);
    expect([fills(outside), life.errors]).toEqual([BUDGET, []]);
  },
);
