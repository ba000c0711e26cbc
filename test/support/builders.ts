import type { Policy } from "../../src/domain/guard/policy.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { convertUp, parseUsd, type ReferencePrice, type UsdPrice } from "../../src/domain/money/price.ts";
import type { Token } from "../../src/domain/money/token.ts";
import type { Evidence, LedgerEvidence } from "../../src/domain/run/evidence.ts";
import type { Run, Swap } from "../../src/domain/run/run.ts";
import { DEFAULT_CATCH_UP } from "../../src/domain/schedule/catch-up.ts";
import { textHash } from "../../src/domain/schedule/text-hash.ts";
import type { StrategyCommon } from "../../src/domain/strategy/common.ts";
import type { DcaSpec } from "../../src/domain/strategy/dca.ts";
import type { StrategyView } from "../../src/domain/strategy/decision.ts";
import { pairPriceOf } from "../../src/domain/strategy/pair-price.ts";
import type { RebalanceSpec, RebalanceTarget } from "../../src/domain/strategy/rebalance-spec.ts";
import { initialStrategyMemory } from "../../src/domain/strategy/strategy.ts";
import type { ThresholdLeg, ThresholdSpec } from "../../src/domain/strategy/threshold-spec.ts";
import type { AlertRow } from "../../src/ports/alert-store.ts";

/** Samples for tests of runs: everything has a default in which a swap is signed, and any part of it can be changed. */

export const GWEI = 10n ** 9n;

export const WALLET = toAddress(`0x${"a1".repeat(20)}`);
export const RELAYER = toAddress(`0x${"b2".repeat(20)}`);
export const ROUTER = toAddress(`0x${"c3".repeat(20)}`);
export const POOL = toAddress(`0x${"d4".repeat(20)}`);
export const USDC: Token = { symbol: "USDC", address: toAddress(`0x${"01".repeat(20)}`), decimals: 6 };
export const WETH: Token = { symbol: "WETH", address: toAddress(`0x${"02".repeat(20)}`), decimals: 18 };
export const WBTC: Token = { symbol: "WBTC", address: toAddress(`0x${"03".repeat(20)}`), decimals: 8 };
export const ETH: Token = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };

/** An instant on a whole minute, Unix milliseconds; the sample run's slot. */
export const SLOT_MS = 1_700_000_040_000;
export const NOW_MS = SLOT_MS + 500;
export const HUNDRED_USDC = 100_000_000n;

const DOLLARS = new Map<Address, string>([
  [USDC.address, "1"],
  [WETH.address, "1000"],
  [WBTC.address, "50000"],
  [ETH.address, "1000"],
]);

export function usd(dollars: string): UsdPrice {
  const parsed = parseUsd(dollars);
  if (parsed === undefined) throw new Error(`not a price: ${dollars}`);
  return parsed;
}

/** The sample price of a token: USDC 1, WETH and ETH 1000, WBTC 50000 dollars. */
export function priceOf(token: Token): ReferencePrice {
  return { usd: usd(DOLLARS.get(token.address) ?? "1"), source: "feed", atSeconds: Math.floor(NOW_MS / 1_000) };
}

/** When the sample run asks again after its first trouble: the first wait of {@link evidenceSample}, less what is its own. */
export function firstRetryMs(nowMs: number, waitMs = 5_000): number {
  return nowMs + waitMs - (textHash("run_1 0") % (waitMs / 2 + 1));
}

/** What an amount is worth in another token at the sample prices. */
export function worth(amount: bigint, sold: Token, bought: Token): bigint {
  return convertUp({ raw: amount, decimals: sold.decimals, usd: priceOf(sold).usd }, { ...bought, ...priceOf(bought) });
}

const COMMON: StrategyCommon = {
  id: "weekly",
  wallet: { name: "main", address: WALLET },
  schedule: { kind: "every", seconds: 60 },
  catchUp: DEFAULT_CATCH_UP,
  limits: { slippage: toPpm(5_000), priceImpact: toPpm(10_000), maxFee: toPpm(30_000), maxFeePerGas: 5n * GWEI },
  gasless: "never",
  recipient: WALLET,
  affiliate: undefined,
  enableRfq: false,
  retryForSeconds: 60,
};

export function dcaSpec(change: Partial<DcaSpec> = {}): DcaSpec {
  return { ...COMMON, kind: "dca", sell: { token: USDC, raw: HUNDRED_USDC }, buy: WETH, budget: undefined, ...change };
}

export function mixTarget(token: Token, weight: number): RebalanceTarget {
  const soft = { relative: undefined, absolute: toPpm(50_000) };
  return { token, weight: toPpm(weight), exit: false, soft, hard: undefined };
}

/** Two fifths WETH, two fifths WBTC and the rest USDC, over which every swap goes: out of its band with the sample view. */
export function rebalanceSpec(change: Partial<RebalanceSpec> = {}): RebalanceSpec {
  return {
    ...COMMON,
    id: "mix",
    kind: "rebalance",
    quote: USDC,
    targets: [mixTarget(WETH, 400_000), mixTarget(WBTC, 400_000), mixTarget(USDC, 200_000)],
    bands: {
      ...{ trigger: "any", soft: { forSeconds: 0, cooldownSeconds: 0 }, hard: { forSeconds: 0 } },
      maxGapSeconds: 86_400,
    },
    destination: { to: "target" },
    trades: {
      ...{ min: 1_000_000n, maxUsd: undefined, maxTurnover: { perDay: undefined, perRun: undefined } },
      ...{ order: "sells-first", via: USDC, legTimeoutSeconds: 60, onIncomplete: "hold" },
    },
    cash: undefined,
    onDeposit: "ignore",
    ...change,
  };
}

/** Sells a tenth of a WETH above 900 USDC, and fires on the first check. */
export function thresholdLeg(change: Partial<ThresholdLeg> = {}): ThresholdLeg {
  return {
    id: "main",
    role: "only",
    trigger: { kind: "cross", side: "above", price: pairPriceOf(900_000_000n, USDC) },
    confirm: { forSeconds: 0, samples: 1 },
    amount: { raw: 10n ** 17n },
    floor: undefined,
    ifAlreadyTrue: "fire",
    onMissed: "fire-if-still-true",
    rearm: undefined,
    ...change,
  };
}

/** A strategy of that one leg. */
export function thresholdSpec(change: Partial<ThresholdSpec> = {}): ThresholdSpec {
  return {
    ...COMMON,
    id: "take-profit",
    kind: "threshold",
    sell: WETH,
    buy: USDC,
    watch: WETH,
    quote: USDC,
    legs: [thresholdLeg()],
    allocation: undefined,
    maxGapSeconds: 180,
    attempts: 3,
    untilMs: undefined,
    ...change,
  };
}

export function policySample(change: Partial<Policy> = {}): Policy {
  return {
    maxTradeUsd: usd("10000"),
    maxPerDayUsd: usd("50000"),
    maxPerMonthUsd: undefined,
    minTradeUsd: undefined,
    recipients: [WALLET],
    tokens: [USDC, WETH, WBTC, ETH].map(({ address }) => address),
    spenders: [ROUTER],
    gasReserve: 10n ** 16n,
    maxFeePerGas: 5n * GWEI,
    maxSlippage: toPpm(10_000),
    maxPriceImpact: toPpm(10_000),
    maxFee: toPpm(30_000),
    referenceTolerance: toPpm(15_000),
    maxDivergence: toPpm(20_000),
    pegged: [],
    maxDepeg: toPpm(20_000),
    roundTrip: undefined,
    acceptsUntriedGasless: false,
    trialWays: ["simulate", "trace"],
    drawdown: undefined,
    pauseAfter: { failures: 3, withinSeconds: 3_600 },
    ...change,
  };
}

/** Rows that nothing else stands in: nothing busy, nothing spent, nothing reserved. */
export function ledgerSample(change: Partial<LedgerEvidence> = {}): LedgerEvidence {
  return {
    isTokenBusy: false,
    lastFreed: undefined,
    isPermitIntended: false,
    isNonceOfOther: false,
    spentTodayUsd: 0n,
    spentMonthUsd: 0n,
    reservedByOthers: 0n,
    ...change,
  };
}

/** Evidence under which everything may happen: live, nothing barred, nothing busy, nothing spent. */
export function evidenceSample(change: Partial<Evidence> = {}): Evidence {
  const spec = change.spec ?? dcaSpec();
  return {
    nowMs: NOW_MS,
    spec,
    memory: initialStrategyMemory(spec),
    policy: policySample(),
    ours: [WALLET],
    live: true,
    signingBarred: undefined,
    tradingBarred: undefined,
    ledger: ledgerSample(),
    service: { contracts: oneContract(ROUTER), signatureHasNonce: true },
    chain: { chainId: 31_337, wrappedNative: WETH.address, nativeSymbol: "ETH", confirmations: 2 },
    pace: {
      ...{ retryMs: 5_000, longestRetryMs: 60_000, watchMs: 1_000, longestWatchMs: 15_000 },
      maxLifetimeSeconds: 300,
      submitMarginSeconds: 2,
    },
    ...change,
  };
}

export function runSample(change: Partial<Run> = {}): Run {
  return {
    id: "run_1",
    strategyId: "weekly",
    slotMs: SLOT_MS,
    slots: 1,
    state: "executing",
    reason: undefined,
    detail: undefined,
    specHash: "spec",
    windowEndsMs: SLOT_MS + 60_000,
    retries: 0,
    swaps: [],
    ...change,
  };
}

/** A swap that was planned and begun a moment ago, nothing else. */
export function swapSample(change: Partial<Swap> = {}): Swap {
  return {
    id: "run_1.0.1",
    runId: "run_1",
    position: 0,
    attempt: 1,
    state: "planned",
    reason: undefined,
    wallet: WALLET,
    recipient: WALLET,
    sell: USDC,
    buy: WETH,
    planned: { kind: "fixed", raw: HUNDRED_USDC },
    floor: undefined,
    retryForSeconds: undefined,
    windowEndsMs: undefined,
    begun: true,
    gasless: "never",
    mode: undefined,
    gross: HUNDRED_USDC,
    quote: undefined,
    terms: undefined,
    intentId: undefined,
    approvals: 0,
    tightened: false,
    signatures: undefined,
    fill: undefined,
    revokeIntentId: undefined,
    serviceSwapId: undefined,
    ...change,
  };
}

/** Balances with which the sample strategies trade: 1000 USDC, 3 WETH, nothing else. */
export function viewSample(change: Partial<StrategyView> = {}): StrategyView {
  return {
    slotMs: SLOT_MS,
    nowMs: NOW_MS,
    free: new Map([
      [USDC.address, 1_000_000_000n],
      [WETH.address, 3n * 10n ** 18n],
    ]),
    prices: new Map([USDC, WETH, WBTC].map((token) => [token.address, priceOf(token)])),
    balances: new Map([
      [USDC.address, 1_000_000_000n],
      [WETH.address, 3n * 10n ** 18n],
    ]),
    instants: 0,
    spent: new Map(),
    slots: 1,
    bought: new Map(),
    outside: new Map(),
    bars: new Map(),
    ...change,
  };
}

/** An alert about a swap, as it is written down. */
export function alertSample(change: Partial<AlertRow> = {}): AlertRow {
  const { id, code, subject } = { id: "alert_1", code: "SWAP_UNKNOWN", subject: "swap run_1.0.1" };
  const about = { strategy: "weekly", runId: undefined };
  return { id, severity: "warning", code, subject, text: "look at it", ...about, atMs: NOW_MS, ...change };
}
