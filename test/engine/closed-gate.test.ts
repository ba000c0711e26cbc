import { expect, test } from "vitest";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { runsOf } from "../support/budget-life.ts";
import { priceOf, SLOT_MS, USDC, usd, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { replayAll } from "../support/replays.ts";

interface Market {
  readonly outside: Outside;
  readonly life: Life;
  /** dollars for one WETH */
  dollars: string;
}

/** Buys a day's WETH while that costs a thousand dollars at most; it stands at 990 when the slot decides. */
function open(change: Partial<StrategySpec>): Market {
  const outside = createOutside(SLOT_MS - 1_500, {
    schedule: { kind: "every", seconds: 86_400, anchorSeconds: SLOT_MS / 1_000 },
    retryForSeconds: 600,
    onlyIf: { of: WETH, comparison: "<=", price: { quote: USDC, raw: 1_000_000_000n } },
    wallet: { name: "main", address: ACCOUNT },
    ...change,
  } as Partial<StrategySpec>);
  const market = { outside, life: openLife(outside), dollars: "990" };
  Object.assign(market.life.context.deps.prices, {
    price: async (token: typeof WETH) => {
      const sample = { ...priceOf(token), atSeconds: outside.clock.nowMs() / 1_000 };
      return token.address === WETH.address ? { ...sample, usd: usd(market.dollars) } : sample;
    },
  });
  return market;
}

/** The service is away when the slot decides, and back when the price is above the gate. */
async function heldUp(change: Partial<StrategySpec>): Promise<Market> {
  const market = open(change);
  const { outside, life } = market;
  outside.service.refuses = refusal("HTTP_503", true);
  await life.engine.start();
  await turn(outside, life, 60);
  expect(runsOf(life)[0]?.state).toBe("executing");
  market.dollars = "1005";
  outside.service.refuses = undefined;
  await turn(outside, life, 180);
  return market;
}

async function fills({ outside, life }: Market): Promise<boolean> {
  return await turnUntil(outside, life, { maxSeconds: 200, isDone: () => runsOf(life)[0]?.state === "filled" });
}

/** It ended because its gate had closed, with what it saw, and nothing of it was signed. */
function expectClosed({ outside, life }: Market): void {
  expect(outside.signed).toEqual([]);
  expect(runsOf(life)[0]).toMatchObject({ state: "skipped", reason: "price_gate" });
  const said = life.db.prepare("SELECT detail FROM transitions WHERE subject = 'swap' AND to_state = 'skipped'");
  expect(said.pluck().all()).toEqual(["WETH stands at 1005 USDC, it must be <= 1000 USDC"]);
  expect(life.db.prepare("SELECT state FROM ledger").pluck().all()).toEqual(["released"]);
  expect([life.errors, replayAll(life.file)]).toEqual([[], { problems: [], runs: 1 }]);
}

const WAYS = ["never", "only"] as const;

test.each(WAYS)(
  "DCA-22 a purchase that the service held up is not made once its gate has closed (gasless: %s)",
  async (gasless) => {
    const market = await heldUp({ gasless });
    expect(market.outside.signed).toEqual([]);
    await turn(market.outside, market.life, 420);
    expectClosed(market);
  },
);

test.each(WAYS)("DCA-22 it is made where the gate opens again within the window (gasless: %s)", async (gasless) => {
  const market = await heldUp({ gasless });
  market.dollars = "1000";
  expect(await fills(market)).toBe(true);
  expect([market.life.errors, replayAll(market.life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

const APPROVED = { approveAboveUsd: usd("50"), approveWithinSeconds: 300, retryForSeconds: 120 };

/** A person is asked at 990, and approves it, or does not, when the price is above the gate. */
async function asked(change: Partial<StrategySpec>, answer?: "approve"): Promise<Market> {
  const market = open({ ...APPROVED, ...change });
  const { outside, life } = market;
  await life.engine.start();
  await turn(outside, life, 60);
  expect(outside.reported.map(({ code }) => code)).toContain("APPROVAL_NEEDED");
  market.dollars = "1005";
  if (answer === undefined) return market;
  const run = runsOf(life)[0]?.id ?? "none";
  life.store.addRequest({
    command: answer,
    arguments: { run },
    madeBy: "ada",
    madeAtMs: outside.clock.nowMs(),
  });
  await turn(outside, life, 30);
  return market;
}

test.each(WAYS)(
  "DCA-22 a purchase that a person approves once its gate has closed is not made (gasless: %s)",
  async (gasless) => {
    const market = await asked({ gasless }, "approve");
    expect([runsOf(market.life)[0]?.state, market.outside.signed]).toEqual(["executing", []]);
    await turn(market.outside, market.life, 120);
    expectClosed(market);
  },
);

test("DCA-22 what a person approved is made where the gate opens again as long as that holds", async () => {
  const market = await asked({}, "approve");
  market.dollars = "995";
  expect(await fills(market)).toBe(true);
});

test("what nobody approves ends when the time for that is over, whatever its gate says then", async () => {
  const market = await asked({});
  await turn(market.outside, market.life, 260);
  expect(runsOf(market.life)[0]).toMatchObject({ state: "skipped", reason: "not_approved" });
  expect([market.outside.signed, replayAll(market.life.file)]).toEqual([[], { problems: [], runs: 1 }]);
});

test("nobody is asked to approve what its gate has closed for", async () => {
  const market = await heldUp(APPROVED);
  expect(market.outside.reported.map(({ code }) => code)).not.toContain("APPROVAL_NEEDED");
  expectClosed(market);
});
