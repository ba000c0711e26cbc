import { expect, test } from "vitest";
import type { SwapFacts } from "../../../src/domain/guard/swap-facts.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { factsOf } from "../../../src/domain/run/reading-to-facts.ts";
import {
  dcaSpec,
  ETH,
  evidenceSample,
  GWEI,
  HUNDRED_USDC,
  ledgerSample,
  NOW_MS,
  POOL,
  policySample,
  priceOf,
  RELAYER,
  ROUTER,
  USDC,
  usd,
  WALLET,
  WETH,
} from "../../support/builders.ts";
import { approvalSample, decodedFor, quoteSample, readingFor, swapIn } from "../../support/reading-samples.ts";

/** All that the guard judges by, each from where it was read: what is lost on the way here is checked by nobody. */

const seconds = Math.floor(NOW_MS / 1_000);
const affiliate = { address: RELAYER, fee: toPpm(100) };
const budget = { total: 5n * HUNDRED_USDC };
const spec = { ...dcaSpec({ affiliate }), budget };
const evidence = evidenceSample({
  spec,
  ours: [WALLET, POOL],
  nowMs: NOW_MS + 7_000,
  ledger: ledgerSample({
    ...{ spentTodayUsd: usd("11"), spentMonthUsd: usd("22"), reservedByOthers: 33n, isNonceOfOther: true },
    budget: [{ bound: "total", most: 5n * HUNDRED_USDC, sinceMs: 0, sold: new Map([[USDC.address, 44n]]), usd: 0n }],
  }),
  service: { ...evidenceSample().service, signatureHasNonce: true, targetKeepsNothing: true },
});
const change = {
  recipient: POOL,
  floor: { sold: HUNDRED_USDC, bought: 10n ** 16n },
} as const;
const named = { targetAddress: POOL, spender: RELAYER, priceImpactPpm: 321n, expiresAtSeconds: seconds + 5 } as const;
const read = {
  priceFaults: [{ token: WETH.address, code: "REFERENCE_DIVERGES", detail: "7% apart" }],
  secondOutput: { kind: "quoted", amountOut: 55n, source: "another" },
  roundTrip: { kind: "returned", sold: 66n, returned: 65n },
  ...{ balance: 2n * HUNDRED_USDC, nativeBalance: 10n ** 18n, allowance: HUNDRED_USDC + 1n },
} as const;

const SIMULATED = { kind: "ok", transfers: [], approvals: [] } as const;

const common: Partial<SwapFacts> = {
  ...{ owner: WALLET, ours: [WALLET, POOL], recipient: POOL, sell: USDC, buy: WETH, nativeSymbol: "ETH" },
  ...{ floor: 10n ** 16n, gross: HUNDRED_USDC, affiliate },
  prices: { sold: priceOf(USDC), bought: priceOf(WETH), native: priceOf(ETH) },
  ...{ priceFaults: read.priceFaults, secondOutput: read.secondOutput, roundTrip: read.roundTrip },
  pinned: {
    chainId: 31_337,
    contracts: evidence.service.contracts,
    wrappedNative: WETH.address,
  },
  quote: {
    ...{ amountOut: 10n ** 17n, targetAddress: POOL, spender: RELAYER, priceImpact: toPpm(321) },
    expiresAtSeconds: seconds + 5,
  },
  ...{ targetKeepsNothing: true, nowSeconds: seconds, maxLifetimeSeconds: 307, authorisation: "allowance" },
  balances: { sold: 2n * HUNDRED_USDC - 33n, native: 10n ** 18n },
  ...{ allowanceLimit: HUNDRED_USDC + 1n, spentTodayUsd: usd("11"), spentMonthUsd: usd("22") },
  budget: [
    {
      ...{ subject: "sold by the strategy in all", key: "total", sold: 44n, most: 5n * HUNDRED_USDC },
      inDollars: false,
    },
  ],
};

test("the guard gets all that was read of a swap of our own", () => {
  const swap = swapIn("quoted", change);
  const quoted = { ...swap, quote: quoteSample(swap, named) };
  const simulation = { ...SIMULATED, gasUsed: 165_000n };
  const reading = readingFor(quoted, { ...read, simulation, dataFee: 77n, approval: approvalSample(quoted) });
  const { limits, ...facts } = factsOf(quoted, reading, evidence);
  expect(facts).toEqual({
    ...common,
    ...{ mode: "self-executed", signing: undefined, signatureHasNonce: false, nonceUsed: undefined },
    ...{ decoding: { ok: true, swap: decodedFor(quoted) }, transaction: reading.transaction },
    // What the swap may use, and what the approval before it used: 165,000 in all, of which 120,000 are the swap's.
    gas: { limit: 200_000n + 45_000n, maxFeePerGas: 2n * GWEI + GWEI / 10n, dataFee: 77n },
    simulation,
  });
  expect(limits).toMatchObject({ maxTradeUsd: policySample().maxTradeUsd, priceImpact: spec.limits.priceImpact });
});

test("the guard gets all that was read of an order that another one executes", () => {
  const swap = swapIn("quoted", { ...change, mode: "gasless", gasless: "only" });
  const quoted = { ...swap, quote: quoteSample(swap, named) };
  const reading = readingFor(quoted, { ...read, simulation: { kind: "not-applicable" } });
  const { limits, ...facts } = factsOf(quoted, reading, evidence);
  expect(facts).toEqual({
    ...common,
    ...{ mode: "gasless", signatureHasNonce: true, nonceUsed: true, gas: undefined, simulation: undefined },
    signing: { verifyingContract: ROUTER, permitSpender: ROUTER },
    ...{ decoding: { ok: true, swap: decodedFor(quoted) }, transaction: undefined },
  });
  expect(limits).toMatchObject({ maxTradeUsd: policySample().maxTradeUsd, priceImpact: spec.limits.priceImpact });
});

test("coins that other swaps are to sell pay for no gas", () => {
  const swap = swapIn("quoted", { sell: ETH, buy: USDC, gross: 10n ** 17n });
  const reading = readingFor(swap, { balance: 10n ** 18n, nativeBalance: 10n ** 18n });
  expect(factsOf(swap, reading, evidence).balances).toEqual({ sold: 10n ** 18n - 33n, native: 10n ** 18n - 33n });
});

test("an order's nonce that the chain has used, or another swap has, is taken", () => {
  const swap = swapIn("quoted", { mode: "gasless", gasless: "only" });
  const used = (nonceUsed: boolean, isNonceOfOther: boolean) =>
    factsOf(swap, readingFor(swap, { nonceUsed }), evidenceSample({ ledger: ledgerSample({ isNonceOfOther }) }))
      .nonceUsed;
  expect([used(false, false), used(true, false), used(false, true)]).toEqual([false, true, true]);
});

test("a proposal's text is what its owners would sign", () => {
  const swap = swapIn("quoted", { wallet: toAddress(`0x${"5a".repeat(20)}`) });
  const signing = { swap: { typedData: '{"primaryType":"SafeTx"}', digest: "0x" }, permit: undefined } as const;
  const built = { version: "1.4.1", nextNonce: 4n, nonce: 5n, isBoundToNonce: true, isAllowed: true } as const;
  const proposal = { kind: "built", ...built, since: { block: 1, nonce: 4n } } as const;
  const facts = factsOf(swap, readingFor(swap, { proposal, signing }), evidenceSample());
  expect(facts).toMatchObject({ gas: undefined, signing: undefined });
  expect(facts.proposal).toMatchObject({
    ...{ version: "1.4.1", problem: undefined, nextNonce: 4n, isAllowed: true, place: "run_1.0" },
    typedData: signing.swap.typedData,
  });
});
