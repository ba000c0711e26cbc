import type { ExpectedSwap } from "../../../src/domain/guard/bind-swap.ts";
import type { DecodedSwap } from "../../../src/domain/guard/decoded-swap.ts";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import type { SwapFacts } from "../../../src/domain/guard/swap-facts.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type ReferencePrice } from "../../../src/domain/money/price.ts";

export const ROUTER = toAddress(`0x${"11".repeat(20)}`);
export const OWNER = toAddress(`0x${"22".repeat(20)}`);
const RELAYER = toAddress(`0x${"33".repeat(20)}`);
export const USDC = toAddress(`0x${"44".repeat(20)}`);
export const WETH = toAddress(`0x${"55".repeat(20)}`);
export const AFFILIATE = toAddress(`0x${"66".repeat(20)}`);
export const STRANGER = toAddress(`0x${"77".repeat(20)}`);
export const NOW = 1_700_000_000;

export const TOKENS = { sold: { symbol: "USDC", decimals: 6 }, bought: { symbol: "WETH", decimals: 18 } } as const;

/** 100 USDC sold for at least 0.0995 of something that costs 1000. */
export const GROSS = 100_000_000n;
export const MINIMUM = 99_500_000_000_000_000n;

export function expectedSample(change: Partial<ExpectedSwap> = {}): ExpectedSwap {
  return {
    mode: "gasless",
    contracts: oneContract(ROUTER),
    chainId: 31337,
    owner: OWNER,
    recipient: OWNER,
    fromAsset: USDC,
    toAsset: WETH,
    tokens: TOKENS,
    gross: GROSS,
    affiliate: { address: AFFILIATE, fee: toPpm(3_333) },
    maxSwapFee: toPpm(20_000),
    requiredMinimum: MINIMUM,
    nowSeconds: NOW,
    maxLifetimeSeconds: 300,
    nonceRequired: true,
    ...change,
  };
}

export function decodedSample(change: Partial<DecodedSwap> = {}): DecodedSwap {
  return {
    contracts: oneContract(ROUTER),
    sender: RELAYER,
    recipient: OWNER,
    fromAsset: USDC,
    toAsset: WETH,
    deadline: BigInt(NOW + 120),
    amountOutMin: MINIMUM,
    swapFee: 500_000n,
    amountIn: GROSS - 500_000n - 333_300n,
    nonce: 7n,
    affiliate: { address: AFFILIATE, fee: 333_300n },
    permitValue: undefined,
    ...change,
  };
}

export function priceSample(usd: string): ReferencePrice {
  const parsed = parseUsd(usd);
  if (parsed === undefined) throw new Error(`not a price: ${usd}`);
  return { usd: parsed, source: "feed", atSeconds: NOW };
}

/** A self-executed sale of 100 USDC in which everything is as it should be. */
export function factsSample(change: Partial<SwapFacts> = {}): SwapFacts {
  const swap = decodedSample({
    sender: undefined,
    swapFee: 0n,
    nonce: undefined,
    affiliate: undefined,
    amountIn: GROSS,
    amountOutMin: 99_000_000_000_000_000n,
  });
  return {
    mode: "self-executed",
    floor: undefined,
    limits: {
      slippage: toPpm(10_000),
      priceImpact: toPpm(10_000),
      maxFee: toPpm(20_000),
      maxFeePerGas: 5_000_000_000n,
      maxTradeUsd: priceSample("500").usd,
      maxPerDayUsd: priceSample("1000").usd,
      maxPerMonthUsd: undefined,
      minTradeUsd: undefined,
      recipients: [OWNER],
      tokens: [USDC, WETH],
      spenders: [ROUTER],
      gasReserve: 10n ** 16n,
      referenceTolerance: toPpm(15_000),
      maxDivergence: toPpm(20_000),
      pegged: [],
      maxDepeg: toPpm(20_000),
      maxRoundTripLoss: undefined,
      acceptsUntriedGasless: false,
      trialWays: ["simulate", "trace"],
    },
    pinned: { chainId: 31337, contracts: oneContract(ROUTER), wrappedNative: WETH },
    owner: OWNER,
    ours: [OWNER],
    recipient: OWNER,
    sell: { symbol: "USDC", address: USDC, decimals: 6 },
    buy: { symbol: "WETH", address: WETH, decimals: 18 },
    nativeSymbol: "ETH",
    gross: GROSS,
    affiliate: undefined,
    prices: { sold: priceSample("1"), bought: priceSample("1000"), native: priceSample("1000") },
    ...{ priceFaults: [], secondOutput: undefined, roundTrip: undefined },
    quote: {
      amountOut: 10n ** 17n,
      targetAddress: ROUTER,
      priceImpact: toPpm(500),
      expiresAtSeconds: NOW + 20,
    },
    decoding: { ok: true, swap },
    transaction: { from: OWNER, to: ROUTER, data: "0x", value: 0n, chainId: 31337, gasLimit: undefined },
    signing: undefined,
    signatureHasNonce: true,
    nowSeconds: NOW,
    maxLifetimeSeconds: 300,
    gas: { limit: 200_000n, maxFeePerGas: 2_000_000_000n },
    authorisation: "allowance",
    balances: { sold: GROSS, native: 10n ** 18n },
    allowanceLimit: GROSS,
    spentTodayUsd: 0n,
    spentMonthUsd: 0n,
    simulation: {
      kind: "ok",
      transfers: [
        { token: USDC, from: OWNER, to: ROUTER, amount: GROSS },
        { token: WETH, from: ROUTER, to: OWNER, amount: 10n ** 17n },
      ],
      approvals: [{ token: USDC, owner: OWNER, spender: ROUTER, amount: 0n }],
    },
    ...change,
  };
}

/** The same sale through a relayer. */
export function gaslessFactsSample(change: Partial<SwapFacts> = {}): SwapFacts {
  const swap = decodedSample({ affiliate: undefined, amountIn: GROSS - 500_000n });
  return factsSample({
    mode: "gasless",
    decoding: { ok: true, swap },
    transaction: undefined,
    gas: undefined,
    signing: { verifyingContract: ROUTER, permitSpender: ROUTER },
    authorisation: "permit",
    ...change,
  });
}
