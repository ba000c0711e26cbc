import { expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { decideAcceptance } from "../../../src/engine/reconcile/accept.ts";
import type { Difference } from "../../../src/ports/reconciliation-store.ts";
import { ROUTER, swapSample, USDC, WALLET, WETH } from "../../support/builders.ts";
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

function accept(open: readonly Difference[], swaps: readonly Swap[]): { answer: string; left: readonly number[] } {
  const settings = { chainId: 1, pace: { maxLifetimeSeconds: 60 }, strategies: [] };
  const context = { settings, deps: { clock: new FakeClock(0) } };
  const { value, changes } = decideAcceptance(context, { open, swaps, known: new Map() }, "ann");
  const settled = changes.flatMap((change) => (change.kind === "difference-settled" ? [change.id] : []));
  const isToldStill = changes.every(({ kind }) => kind !== "alerts-over");
  const left = open.map(({ id }) => id).filter((id) => !settled.includes(id));
  expect(isToldStill).toBe(left.length > 0);
  return { answer: value, left };
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
  expect(accept([difference], [swap])).toEqual({ answer: expect.stringMatching(/^accepted 1:/u), left: [] });
});

test("what else is open is accepted beside it, and what is left goes on being told of", () => {
  const { answer, left } = accept([unproved(), unproved(OTHER)], [order(), order({ id: "run_2.0.1" })]);
  expect(left).toEqual([1]);
  expect(answer).toMatch(
    /^accepted 1:\n {2}it sent a transaction\n {2}not accepted: cannot prove it: the order run_1\.0\.1 over 100 USDC is open \(and 1 more\)/u,
  );
});
