import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkSwap } from "../../../src/domain/guard/check-swap.ts";
import { DENIALS, type DenialCode, isDenialCode } from "../../../src/domain/guard/denial.ts";
import { effectiveLimits, type SwapFacts } from "../../../src/domain/guard/swap-facts.ts";
import { NATIVE_TOKEN } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import {
  decodedSample,
  factsSample,
  GROSS,
  gaslessFactsSample,
  NOW,
  OWNER,
  priceSample,
  ROUTER,
  STRANGER,
  USDC,
  WETH,
} from "./swap-samples.ts";

const own = factsSample();
const swap = own.decoding.ok ? own.decoding.swap : decodedSample();
const decoded = (change: Partial<typeof swap>): Partial<SwapFacts> => ({
  decoding: { ok: true, swap: { ...swap, ...change } },
});
const limits = (change: Partial<SwapFacts["limits"]>): Partial<SwapFacts> => ({
  limits: { ...own.limits, ...change },
});
const charged: Partial<SwapFacts> = { gas: { limit: 0n, maxFeePerGas: 0n, ...own.gas, dataFee: 1n } };
const quote = (change: Partial<SwapFacts["quote"]>): Partial<SwapFacts> => ({ quote: { ...own.quote, ...change } });
const transaction = (change: object): Partial<SwapFacts> => ({
  transaction: { from: OWNER, to: ROUTER, data: "0x", value: 0n, chainId: 31337, gasLimit: undefined, ...change },
});

const other = (usd: string) => ({ usd: priceSample(usd).usd, source: "twap" });
const roundTrip = limits({ maxRoundTripLoss: toPpm(50_000) });

const selfExecuted: readonly (readonly [DenialCode, string, Partial<SwapFacts>])[] = [
  ["RECIPIENT_NOT_ALLOWED", "a recipient that the policy does not list", limits({ recipients: [STRANGER] })],
  ["TOKEN_NOT_ALLOWED", "a sold token that the policy does not list", limits({ tokens: [WETH] })],
  ["TOKEN_NOT_ALLOWED", "a bought token that the policy does not list", limits({ tokens: [USDC] })],
  ["SPENDER_NOT_ALLOWED", "a settlement contract that the policy does not list", limits({ spenders: [STRANGER] })],
  ["QUOTE_EXPIRED", "a quote at its last second", quote({ expiresAtSeconds: NOW })],
  ["PRICE_IMPACT_TOO_HIGH", "an impact above the limit", quote({ priceImpact: toPpm(10_001) })],
  ["PRICE_LIMIT_NOT_MET", "a quote one unit below the strategy's own floor", { floor: own.quote.amountOut + 1n }],
  ["OUTPUT_BELOW_MINIMUM", "a signed minimum below a floor that the quote meets", { floor: own.quote.amountOut }],
  ["BALANCE_TOO_LOW", "a balance one unit short", { balances: { sold: GROSS - 1n, native: 10n ** 18n } }],
  ["GAS_PRICE_TOO_HIGH", "a fee per gas above the ceiling", limits({ maxFeePerGas: 1_999_999_999n })],
  ["GAS_PRICE_TOO_HIGH", "an unknown fee per gas", { gas: undefined }],
  [
    "GAS_RESERVE_TOO_LOW",
    "gas that would eat the reserve",
    { balances: { sold: GROSS, native: 10n ** 16n + 399_999_999_999_999n } },
  ],
  [
    "GAS_RESERVE_TOO_LOW",
    "a rollup's charge for data that would eat the reserve",
    { ...charged, balances: { sold: GROSS, native: 10n ** 16n + 4n * 10n ** 14n } },
  ],
  ["RUN_CAP_EXCEEDED", "a trade above the cap", limits({ maxTradeUsd: priceSample("99.99").usd })],
  [
    "MONTHLY_CAP_EXCEEDED",
    "30 days above the cap",
    { ...limits({ maxPerMonthUsd: priceSample("5000").usd }), spentMonthUsd: priceSample("4900.000001").usd },
  ],
  [
    "BUDGET_EXCEEDED",
    "one unit more than the strategy's own budget of a day",
    { budget: [{ subject: "sold today", key: "per_day", sold: 1n, most: GROSS, inDollars: false }] },
  ],
  [
    "BUDGET_EXCEEDED",
    "a trade above the strategy's own budget in dollars",
    { budget: [{ subject: "sold", key: "total", sold: 1n, most: priceSample("100").usd, inDollars: true }] },
  ],
  ["TRADE_TOO_SMALL", "a trade one cent below the smallest", limits({ minTradeUsd: priceSample("100.01").usd })],
  ["DAILY_CAP_EXCEEDED", "a day above the cap", { spentTodayUsd: priceSample("900.000001").usd }],
  ["FEE_CAP_EXCEEDED", "gas above its share of the trade", limits({ maxFee: toPpm(3_999) })],
  [
    "FEE_CAP_EXCEEDED",
    "gas within its share, and a rollup's charge for data beyond it",
    { ...charged, ...limits({ maxFee: toPpm(4_000) }) },
  ],
  [
    "PROPOSAL_MISMATCH",
    "a proposal to an account that is no Safe",
    {
      gas: undefined,
      proposal: {
        version: undefined,
        problem: "none",
        nextNonce: 0n,
        typedData: undefined,
        isAllowed: false,
        place: "",
      },
    },
  ],
  ["REFERENCE_MISSING", "no price of the sold token", { prices: { ...own.prices, sold: undefined } }],
  ["REFERENCE_MISSING", "no price of the bought token", { prices: { ...own.prices, bought: undefined } }],
  ["REFERENCE_MISSING", "a price of zero", { prices: { ...own.prices, bought: priceSample("0") } }],
  ["REFERENCE_MISSING", "no price of the gas", { prices: { ...own.prices, native: undefined } }],
  [
    "REFERENCE_DIVERGES",
    "sources that a source was too many for",
    {
      prices: { ...own.prices, bought: undefined },
      priceFaults: [{ token: WETH, code: "REFERENCE_DIVERGES", detail: "7.1% apart" }],
    },
  ],
  [
    "SEQUENCER_DOWN",
    "a rollup that stands still",
    {
      prices: { sold: undefined, bought: undefined, native: undefined },
      priceFaults: [{ token: USDC, code: "SEQUENCER_DOWN", detail: "the sequencer is down" }],
    },
  ],
  [
    "REFERENCE_DIVERGES",
    "two sources of one price that are too far apart",
    { prices: { ...own.prices, bought: { ...priceSample("1000"), others: [other("1020.01")] } } },
  ],
  [
    "REFERENCE_DIVERGES",
    "a second service that would give far more than prices say",
    { secondOutput: { kind: "quoted", amountOut: 102_000_000_000_000_001n, source: "second" } },
  ],
  [
    "REFERENCE_DIVERGES",
    "a second service that would give far less",
    { secondOutput: { kind: "quoted", amountOut: 98_039_215_686_274_509n, source: "second" } },
  ],
  ["REFERENCE_MISSING", "a second service that does not say", { secondOutput: { kind: "missing", detail: "down" } }],
  [
    "OUTPUT_BELOW_MINIMUM",
    "a signed minimum below what the second service would give, less the tolerance",
    { secondOutput: { kind: "quoted", amountOut: 101_000_000_000_000_000n, source: "second" } },
  ],
  [
    "STABLECOIN_DEPEGGED",
    "a stablecoin two cents and a bit below its dollar",
    { ...limits({ pegged: [USDC] }), prices: { ...own.prices, sold: priceSample("0.979999") } },
  ],
  [
    "STABLECOIN_DEPEGGED",
    "a stablecoin above its dollar, by the word of one source of two",
    {
      ...limits({ pegged: [USDC], maxDivergence: toPpm(500_000) }),
      prices: { ...own.prices, sold: { ...priceSample("1"), others: [other("1.0201")] } },
    },
  ],
  [
    "ROUND_TRIP_LOSS",
    "a token of which selling back costs a twentieth and one unit",
    { ...roundTrip, roundTrip: { kind: "returned", sold: GROSS, returned: 94_999_999n } },
  ],
  [
    "ROUND_TRIP_LOSS",
    "a token that cannot be sold",
    { ...roundTrip, roundTrip: { kind: "impossible", reason: "transfer forbidden" } },
  ],
  ["TARGET_NOT_PINNED", "a quote for another contract", quote({ targetAddress: STRANGER })],
  ["SPENDER_NOT_PINNED", "a quote that names another spender", quote({ spender: STRANGER })],
  ["TARGET_NOT_PINNED", "a transaction to another contract", transaction({ to: STRANGER })],
  ["CHAIN_MISMATCH", "a transaction for another chain", transaction({ chainId: 1 })],
  ["SENDER_MISMATCH", "a transaction of another sender", transaction({ from: STRANGER })],
  ["VALUE_MISMATCH", "a transaction that pays native token", transaction({ value: 1n })],
  ["UNDECODABLE", "no transaction", { transaction: undefined }],
  ["UNDECODABLE", "calldata that the decoder does not know", { decoding: { ok: false, problem: "selector" } }],
  ["RECIPIENT_MISMATCH", "calldata that pays somebody else", decoded({ recipient: STRANGER })],
  ["TOKEN_MISMATCH", "calldata that buys another token", decoded({ toAsset: STRANGER })],
  ["AMOUNT_MISMATCH", "calldata that sells more", decoded({ amountIn: GROSS + 1n })],
  ["AFFILIATE_MISMATCH", "an affiliate nobody asked for", decoded({ affiliate: { address: STRANGER, fee: 0n } })],
  ["OUTPUT_BELOW_MINIMUM", "a minimum one unit short", decoded({ amountOutMin: swap.amountOutMin - 1n })],
  ["DEADLINE_OUT_OF_BOUNDS", "a deadline too far", decoded({ deadline: BigInt(NOW + 301) })],
  ["PERMIT_UNEXPECTED", "a permit inside the calldata", decoded({ permitValue: GROSS })],
  ["SIMULATION_UNAVAILABLE", "no simulation", { simulation: undefined }],
  ["SIMULATION_REVERTED", "a simulation that reverts", { simulation: { kind: "reverted", reason: "paused" } }],
  [
    "SIMULATION_MISMATCH",
    "a simulation that does nothing",
    { simulation: { kind: "ok", transfers: [], approvals: [] } },
  ],
  [
    "TOKEN_TAX",
    "a bought token that charges for transfers",
    {
      simulation: {
        kind: "ok",
        approvals: [],
        transfers: [
          { token: WETH, from: ROUTER, to: OWNER, amount: 95n * 10n ** 15n },
          { token: WETH, from: ROUTER, to: STRANGER, amount: 5n * 10n ** 15n },
        ],
      },
    },
  ],
];

const gasless: readonly (readonly [DenialCode, string, Partial<SwapFacts>])[] = [
  ["TYPED_DATA_UNKNOWN", "typed data of another kind", { decoding: { ok: false, problem: "Dex Aggregator/1" } }],
  [
    "VERIFYING_CONTRACT_NOT_PINNED",
    "an order that another contract would check",
    { signing: { verifyingContract: STRANGER, permitSpender: ROUTER } },
  ],
  [
    "RECIPIENT_MISMATCH",
    "an order that pays somebody else",
    {
      decoding: {
        ok: true,
        swap: decodedSample({ affiliate: undefined, amountIn: GROSS - 500_000n, recipient: STRANGER }),
      },
    },
  ],
  ["NONCE_USED", "a nonce that another swap has", { nonceUsed: true }],
  ["PERMIT_UNSUPPORTED", "neither permit nor allowance", { authorisation: "none" }],
  ["GASLESS_UNTRIED", "an order that nobody could simulate", { simulation: undefined }],
  [
    "SIMULATION_UNAVAILABLE",
    "a node that cannot simulate",
    { simulation: { kind: "unavailable", reason: "no method" } },
  ],
  ["SIMULATION_REVERTED", "an order that reverts", { simulation: { kind: "reverted", reason: "K" } }],
  [
    "SIMULATION_MISMATCH",
    "an order that moves another token of ours",
    {
      simulation: { kind: "ok", approvals: [], transfers: [{ token: STRANGER, from: OWNER, to: ROUTER, amount: 1n }] },
    },
  ],
  [
    "NONCE_MISSING",
    "a signature that could be used twice",
    {
      decoding: {
        ok: true,
        swap: decodedSample({ affiliate: undefined, amountIn: GROSS - 500_000n, nonce: undefined }),
      },
    },
  ],
  [
    "FEE_CAP_EXCEEDED",
    "a service fee above its share",
    {
      decoding: { ok: true, swap: decodedSample({ affiliate: undefined, swapFee: 2_000_001n, amountIn: 97_999_999n }) },
    },
  ],
];

describe("the one list of checks before a signature", () => {
  it("lets a proper swap of either mode pass, and lists what it compared", () => {
    for (const facts of [own, gaslessFactsSample()]) {
      const verdict = checkSwap(facts);
      expect(verdict.denial).toBeUndefined();
      expect(verdict.checks.every((check) => check.ok)).toBe(true);
      expect(verdict.checks.length).toBeGreaterThan(15);
    }
  });

  it.each(selfExecuted)("answers %s to %s", (code, _name, change) => {
    expect(checkSwap(factsSample(change)).denial?.code).toBe(code);
  });

  it.each(gasless)("answers %s to %s, gasless", (code, _name, change) => {
    expect(checkSwap(gaslessFactsSample(change)).denial?.code).toBe(code);
  });

  it.each(gasless.filter(([, , change]) => !("simulation" in change)))(
    "answers %s to %s, gasless, also where an order that nobody could simulate is accepted",
    (code, _name, change) => {
      const { limits } = gaslessFactsSample();
      const untried = { simulation: undefined, limits: { ...limits, acceptsUntriedGasless: true } };
      expect(checkSwap(gaslessFactsSample({ ...change, ...untried })).denial?.code).toBe(code);
    },
  );

  it("has a test for every code, but for those of unusable answers and the fee bound that the fee cap meets first", () => {
    const tested = new Set([...selfExecuted, ...gasless].map(([code]) => code));
    expect(Object.keys(DENIALS).filter((code) => !tested.has(code as DenialCode))).toEqual([
      "SWAP_FEE_TOO_HIGH",
      "ANSWER_TOO_LARGE",
      "ANSWER_NOT_JSON",
      "ANSWER_MALFORMED",
    ]);
    expect(["TOKEN_TAX", "HTTP_404", "toString"].map(isDenialCode)).toEqual([true, false, false]);
  });

  it("ALL-10 keeps the comparisons after the first broken one, so that `why` can show all", () => {
    const broken = checkSwap(factsSample({ ...decoded({ recipient: STRANGER }), simulation: undefined }));
    expect(broken.checks.filter((check) => !check.ok).map((check) => check.code)).toEqual([
      "RECIPIENT_MISMATCH",
      "SIMULATION_UNAVAILABLE",
    ]);
  });

  it("keeps the gas reserve when the native token itself is sold", () => {
    const native = { symbol: "ETH", address: NATIVE_TOKEN, decimals: 18 };
    const gross = 10n ** 17n;
    const facts = factsSample({
      sell: native,
      gross,
      balances: { sold: 10n ** 18n, native: gross + 10n ** 16n },
      ...limits({ maxFee: toPpm(20_000) }),
    });
    expect(checkSwap(facts).checks.find((check) => check.code === "GAS_RESERVE_TOO_LOW")?.ok).toBe(false);
  });

  it("takes an order that nobody could simulate where the policy accepts it, and shows that it did", () => {
    const { limits } = gaslessFactsSample();
    const accepting = gaslessFactsSample({ simulation: undefined, limits: { ...limits, acceptsUntriedGasless: true } });
    const { denial, checks } = checkSwap(accepting);
    expect(denial).toBeUndefined();
    expect(checks.at(-1)).toMatchObject({ code: "GASLESS_UNTRIED", limit: "accepted by the policy", ok: true });
  });

  it("does not take a gasless sale of the native token", () => {
    const facts = gaslessFactsSample({ sell: { symbol: "ETH", address: NATIVE_TOKEN, decimals: 6 } });
    expect(checkSwap(facts).checks.find((check) => check.code === "PERMIT_UNSUPPORTED")?.ok).toBe(false);
  });

  it("never passes a swap whose guaranteed output is below the reference price less the tolerance", () => {
    const property = fc.property(
      fc.bigInt({ min: 1n, max: 2n * 10n ** 17n }),
      fc.bigInt({ min: 1n, max: 2n * 10n ** 17n }),
      (amountOut, amountOutMin) => {
        const verdict = checkSwap(factsSample({ ...decoded({ amountOutMin }), ...quote({ amountOut }) }));
        return (
          verdict.denial !== undefined ||
          (amountOutMin >= 98_500_000_000_000_000n && amountOutMin * 100n >= amountOut * 99n)
        );
      },
    );
    fc.assert(property, { numRuns: 1_000 });
  });
});

describe("limits of policy and strategy together", () => {
  it("takes the stricter of each", () => {
    const strict = { slippage: toPpm(50), priceImpact: toPpm(70), maxFee: toPpm(10), maxFeePerGas: 5n };
    const loose = { slippage: toPpm(100), priceImpact: toPpm(900), maxFee: toPpm(100), maxFeePerGas: 9n };
    const owners = {
      maxTradeUsd: priceSample("500").usd,
      maxPerDayUsd: priceSample("1000").usd,
      maxPerMonthUsd: undefined,
      minTradeUsd: undefined,
      recipients: [USDC],
      tokens: [WETH],
      spenders: [ROUTER],
      gasReserve: 1n,
      referenceTolerance: toPpm(15_000),
      maxDivergence: toPpm(20_000),
      pegged: [USDC],
      maxDepeg: toPpm(20_000),
      roundTrip: { maxLoss: toPpm(50_000), when: "always" as const },
      acceptsUntriedGasless: true,
      drawdown: undefined,
      pauseAfter: { failures: 3, withinSeconds: 3_600 },
    };
    const together = (strategy: typeof strict, { slippage, priceImpact, ...fees }: typeof strict) =>
      effectiveLimits(strategy, { ...owners, ...fees, maxSlippage: slippage, maxPriceImpact: priceImpact });
    expect(together(strict, loose)).toMatchObject(strict);
    expect(together(loose, strict)).toMatchObject({
      ...strict,
      gasReserve: 1n,
      pegged: [USDC],
      maxRoundTripLoss: 50_000n,
      acceptsUntriedGasless: true,
      tokens: [WETH],
      spenders: [ROUTER],
    });
  });
});

describe("the table of denial codes", () => {
  it("says of each code what it means and what to do", () => {
    for (const { meaning, whatToDo } of Object.values(DENIALS)) {
      expect(meaning).toMatch(/^[A-Z].{20,}\.$/);
      expect(whatToDo).toMatch(/^[A-Z].{15,}\.$/);
    }
  });
});
