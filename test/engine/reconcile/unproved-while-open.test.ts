import { expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { decideAcceptance } from "../../../src/engine/reconcile/accept.ts";
import type { AcceptanceRows } from "../../../src/ports/reconciliation-questions.ts";
import type { Difference } from "../../../src/ports/reconciliation-store.ts";
import { dcaSpec, ETH, ROUTER, swapSample, USDC, WALLET, WETH } from "../../support/builders.ts";
import { FakeClock } from "../../support/fake-clock.ts";

// The balance of before is all that shows that a node hides the fill of an order without a nonce.

const PROPOSAL = { version: "1.4.1", nonce: 3n, isBoundToNonce: true, since: { block: 1, nonce: 3n } } as const;
const OTHER = { id: 2, kind: "nonce", text: "it sent a transaction", facts: { count: "1" } } as const;

function unproved(change: Partial<Difference> = {}): Difference {
  return {
    ...{ id: 1, key: "cannot prove", wallet: WALLET, token: USDC.address, kind: "cannot-prove", scope: "gasless" },
    ...{ text: "cannot prove it", facts: { token: USDC.address }, foundAtMs: 0, foundSinceBoot: undefined },
    ...change,
  };
}

function order(change: Partial<Swap> = {}, nonce?: bigint): Swap {
  const amounts = { amountOutMin: 1n, swapFee: 0n, affiliateFee: 0n };
  const terms = { ...amounts, contracts: oneContract(ROUTER), deadlineSeconds: 60, nonce, fromBlock: 1 };
  return swapSample({ state: "submitted", mode: "gasless", terms, ...change });
}

function accept(
  open: readonly Difference[],
  swaps: readonly Swap[],
  known: AcceptanceRows["known"] = new Map(),
  strategies: AcceptanceRows["strategies"] = [],
) {
  const settings = { chainId: 1, pace: { maxLifetimeSeconds: 60 }, strategies: [] };
  const context = { settings, deps: { clock: new FakeClock(0) } };
  const { value, changes } = decideAcceptance(context, { open, swaps, strategies, known }, "ann");
  const settled = changes.flatMap((change) => (change.kind === "difference-settled" ? [change.id] : []));
  const isToldStill = changes.every(({ kind }) => kind !== "alerts-over");
  const left = open.map(({ id }) => id).filter((id) => !settled.includes(id));
  expect(isToldStill).toBe(left.length > 0);
  return { answer: value, left, changes };
}

test.each<[string, Swap, Difference]>([
  ["what the balance misses", order(), unproved()],
  ["logs that are not read back", order({ state: "signed" }), unproved({ token: undefined, facts: { toBlock: "9" } })],
  ["what may have gone beside a fill that a fork may take back", order({ state: "confirmed" }), unproved()],
])("an open order without a nonce keeps open: %s", (_what, swap, difference) => {
  const { answer, left } = accept([difference], [swap]);
  expect([answer, left]).toEqual([
    expect.stringMatching(/^refused: the order run_1\.0\.1 over 100 USDC is open/u),
    [1],
  ]);
  expect(answer).toContain("swapd show run_1");
});

test.each<[string, Swap, Difference]>([
  ["what has a nonce", order({}, 0n), unproved()],
  ["a proposal to a Safe", order({ proposal: PROPOSAL }), unproved()],
  ["our own transaction", order({ mode: "self-executed" }), unproved()],
  ["what is not signed", order({ state: "cleared" }), unproved()],
  ["what has ended", order({ state: "expired" }), unproved()],
  ["an order over another token", order({ sell: WETH }), unproved()],
  ["an order of another wallet", order({ wallet: ROUTER }), unproved()],
  ["a token that refuses its allowance", order(), unproved({ scope: "token" })],
])("nothing is kept open by %s", (_what, swap, difference) => {
  expect(accept([difference], [swap])).toMatchObject({ answer: expect.stringMatching(/^accepted 1:/u), left: [] });
});

test("what another token misses is accepted alone: the balance that holds the order open stands", () => {
  const facts = { token: WETH.address, expected: "9", now: "4" };
  const baseline = { block: 1, transactionCount: 0 };
  const balances = new Map([[USDC.address, 7n] as const, [WETH.address, 9n] as const]);
  const known = new Map([[WALLET, { wallet: WALLET, block: 3, transactionCount: 0, balances, baseline }]]);
  const { answer, left, changes } = accept(
    [unproved(), unproved({ id: 2, token: WETH.address, facts })],
    [order()],
    known,
  );
  const after = new Map([[USDC.address, 7n] as const, [WETH.address, 4n] as const]);
  expect(changes).toContainEqual({
    kind: "known-chain",
    known: expect.objectContaining({ block: 3, balances: after }),
  });
  expect([answer, left]).toEqual([expect.stringContaining("no strategy sells this"), [1]]);
});

test.each<[string, Partial<Difference>, string]>([
  [
    "what is read still is accepted by nobody",
    { facts: { readUpTo: "5", toBlock: "9" } },
    "refused: the wallet's logs are still being read",
  ],
  [
    "what was not read is said to count nowhere",
    { facts: { toBlock: "9" } },
    "what was sold in them counts in no budget",
  ],
])("of logs: %s", (_what, change, said) => {
  const baseline = { block: 1, transactionCount: 0 };
  const known = new Map([[WALLET, { wallet: WALLET, block: 3, transactionCount: 0, balances: new Map(), baseline }]]);
  expect(accept([unproved({ token: undefined, ...change })], [], known).answer).toContain(said);
});

test.each([
  [ETH, "pause weekly unless you know that they sold none"],
  [USDC, undefined],
])(
  "who accepts transactions is told of sales of coins that no log shows, where a strategy sells them: %o",
  (sell, said) => {
    const baseline = { block: 1, transactionCount: 0 };
    const known = new Map([[WALLET, { wallet: WALLET, block: 3, transactionCount: 0, balances: new Map(), baseline }]]);
    const facts = { count: "2", areCoinsUnseen: "true" };
    const strategies = [{ id: "weekly", spec: dcaSpec({ sell: { token: sell, raw: 1n }, buy: WETH }) }];
    const { answer } = accept([unproved({ ...OTHER, facts })], [], known, strategies);
    expect(answer.includes("pause weekly unless")).toBe(said !== undefined);
  },
);

test("what else is open is accepted beside it, and what is left goes on being told of", () => {
  const { answer, left } = accept([unproved(), unproved(OTHER)], [order(), order({ id: "run_2.0.1" })]);
  expect(left).toEqual([1]);
  expect(answer).toMatch(
    /^accepted 1:\n {2}it sent a transaction\n {2}not accepted: cannot prove it: the order run_1\.0\.1 over 100 USDC is open \(and 1 more\)/u,
  );
});
