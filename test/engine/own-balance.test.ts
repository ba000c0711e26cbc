import { expect, onTestFinished, test } from "vitest";
import { swapdProfile } from "../../src/adapters/swap-service/swapd/service.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { HUNDRED_USDC, RELAYER, ROUTER, SLOT_MS, USDC, WBTC, WETH } from "../support/builders.ts";
import { accept } from "../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";

// An order that is found by what it takes is held open by the balance of when it was signed, where nodes hide its fill.

const GRANT = { owner: ACCOUNT, token: USDC.address, spender: ROUTER };
const FILLED = [{ state: "final", sold: HUNDRED_USDC.toString() }];

function begin(): Outside {
  const change = { id: "order", gasless: "only", budget: { total: HUNDRED_USDC } };
  const outside = createOutside(SLOT_MS - 1_500, change as Partial<StrategySpec>);
  for (let block = 0; block < 6; block += 1) outside.chain.mine();
  return outside;
}

/** Hands the order over to a relayer that keeps it, and ends; the service says later that it is at work no more. */
async function handOver(outside: Outside): Promise<void> {
  const { chain, service } = outside;
  chain.holdsRelayed = true;
  const life = openLife(outside);
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 30, isDone: () => service.submissions.length > 0 })).toBe(true);
  await end(life);
  service.swapRecord = async () => ({ status: "expired", hash: undefined, raw: {} });
}

async function end(life: Life): Promise<void> {
  await life.engine.stop();
  life.db.close();
}

/** The order is filled, its deadline is past in a final block, and every node hides its logs. */
function fillHidden({ chain, clock }: Outside): void {
  chain.holdsRelayed = false;
  chain.mine();
  clock.jumpTo(clock.nowMs() + 600_000);
  for (let block = 0; block < 10; block += 1) chain.mine();
  chain.hidesLogs = true;
}

const swaps = ({ db }: Life): unknown[] => db.prepare("SELECT state, sold FROM swaps").all();

test("the balance that proves a hidden fill is not given up with an accepted one, once its service has no nonces", async () => {
  const outside = begin();
  await handOver(outside);
  fillHidden(outside);
  leaveNoncesOut(outside.service);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 10);
  expect(await accept(life)).toContain("accepted 1");
  await turn(outside, life, 60);
  expect(swaps(life)).toEqual([{ state: "submitted", sold: null }]);
  outside.chain.hidesLogs = false;
  await turn(outside, life, 120);
  expect([swaps(life), life.errors]).toEqual([FILLED, []]);
});

test("the balance that proves a hidden fill is not forgotten with a token that the configuration names no more", async () => {
  const outside = begin();
  leaveNoncesOut(outside.service);
  await handOver(outside);
  const settings = { tokens: [WETH, WBTC], strategies: [] };
  const second = openLife(outside, { settings });
  await second.engine.start();
  await turn(outside, second, 3);
  await end(second);
  fillHidden(outside);
  const life = openLife(outside, { settings });
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 60);
  expect(swaps(life)).toEqual([{ state: "submitted", sold: null }]);
  outside.chain.hidesLogs = false;
  await turn(outside, life, 120);
  expect([swaps(life), life.errors]).toEqual([FILLED, []]);
});

test("an order whose hidden fill a deposit covers waits until every endpoint listed what left its wallet", async () => {
  const outside = begin();
  leaveNoncesOut(outside.service);
  await handOver(outside);
  outside.chain.ledger.credit(USDC.address, ACCOUNT, 2n * HUNDRED_USDC);
  fillHidden(outside);
  outside.chain.unlistedBy = ["rpc2.example"];
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 120);
  expect(swaps(life)).toEqual([{ state: "unknown", sold: null }]);
  const told = life.db.prepare("SELECT text FROM alerts WHERE code = 'SWAP_UNKNOWN'").pluck();
  expect(told.all()).toEqual([expect.stringContaining("but rpc2.example did not list the wallet's transfers of USDC")]);
  outside.chain.unlistedBy = ["rpc2.example", "rpc3.example"];
  await turn(outside, life, 5);
  expect(told.all()).toEqual([expect.stringContaining("but rpc2.example and rpc3.example did not list")]);
  outside.chain.hidesLogs = false;
  outside.chain.unlistedBy = [];
  await turn(outside, life, 120);
  expect([swaps(life), life.errors]).toEqual([FILLED, []]);
});

test.each(["the same", "one whose orders have nonces"])(
  "what left after the deadline of an order without a nonce is found and accepted, with a service that is: %s",
  async (service) => {
    const outside = begin();
    const { chain, clock } = outside;
    leaveNoncesOut(outside.service);
    await handOver(outside);
    clock.jumpTo(clock.nowMs() + 400_000);
    chain.mine();
    chain.takeAway({ token: USDC.address, from: ACCOUNT, to: RELAYER, amount: HUNDRED_USDC });
    if (service !== "the same")
      Object.assign(outside.service, { profile: swapdProfile, twist: (swap: object) => swap });
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 120);
    expect(life.store.openDifferences().map(({ kind }) => kind)).toEqual(["outflow"]);
    expect(await accept(life)).toContain("accepted 1");
    const isOver = (): boolean =>
      life.db.prepare("SELECT state FROM swaps ORDER BY created_at_ms").pluck().get() === "expired";
    expect(await turnUntil(outside, life, { maxSeconds: 120, isDone: isOver })).toBe(true);
    expect(life.errors).toEqual([]);
  },
);

test("what cannot be proved bars no end of an order whose allowance is left: it is taken back, and the rest is accepted", async () => {
  const outside = begin();
  const { chain } = outside;
  leaveNoncesOut(outside.service);
  await handOver(outside);
  // Somebody brings the permit alone, and the token moves without a log, as those do whose balances are rebased.
  chain.mine();
  chain.ledger.setAllowance(USDC.address, ACCOUNT, HUNDRED_USDC);
  chain.ledger.credit(USDC.address, ACCOUNT, -1n);
  const between = openLife(outside);
  const known = between.store.knownChain(ACCOUNT);
  if (known === undefined) throw new Error("nothing is known of the wallet");
  // So long ago that its balance holds no end back any more.
  between.store.saveKnownChain({ ...known, block: -60_000 }, 1);
  between.db.close();
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  const kinds = (): unknown[] => life.store.openDifferences().map(({ kind }) => kind);
  const isOver = (): boolean =>
    life.db.prepare("SELECT state FROM swaps ORDER BY created_at_ms").pluck().get() === "expired";
  expect(await turnUntil(outside, life, { maxSeconds: 4_000, isDone: isOver })).toBe(true);
  expect([kinds(), await chain.allowance(GRANT)]).toEqual([["cannot-prove"], 0n]);
  expect(await accept(life)).toContain("accepted 1");
  await turn(outside, life, 5);
  expect([kinds(), life.errors]).toEqual([[], []]);
});

test("a balance that nobody can prove is not accepted while an order without a nonce may have taken it: its fill is its own", async () => {
  const outside = begin();
  leaveNoncesOut(outside.service);
  await handOver(outside);
  fillHidden(outside);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  const kinds = () => life.store.openDifferences().map(({ kind }) => kind);
  await life.engine.start();
  await turn(outside, life, 10);
  expect(kinds()).toEqual(["cannot-prove"]);
  expect(await accept(life)).toMatch(/^refused: the order run_\S+ over 100 USDC is open and may be what took it/u);
  await turn(outside, life, 120);
  expect([swaps(life), kinds()]).toEqual([[{ state: "submitted", sold: null }], ["cannot-prove"]]);
  outside.chain.hidesLogs = false;
  await turn(outside, life, 120);
  expect([swaps(life), kinds(), life.errors]).toEqual([FILLED, [], []]);
});
