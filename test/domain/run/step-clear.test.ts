import { describe, expect, test } from "vitest";
import { oneContract } from "../../../src/domain/guard/swap-contracts.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { ClearanceReading } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import {
  dcaSpec,
  ETH,
  evidenceSample,
  firstRetryMs,
  GWEI,
  HUNDRED_USDC,
  ledgerSample,
  NOW_MS,
  policySample,
  ROUTER,
  runSample,
  swapSample,
  USDC,
  usd,
  WALLET,
  WBTC,
  WETH,
} from "../../support/builders.ts";
import {
  approvalSample,
  decodedFor,
  quoteSample,
  readingFor,
  signingSample,
  swapIn,
} from "../../support/reading-samples.ts";

const seconds = Math.floor(NOW_MS / 1_000);
const own = swapIn("quoted");
const relayed = swapIn("quoted", { mode: "gasless", gasless: "prefer" });
const lateMs = runSample().windowEndsMs - 5_000;

function clear(swap: Swap, change: Partial<ClearanceReading> = {}, facts: Partial<Evidence> = {}): StepResult {
  const reading = readingFor(swap, change);
  return step(runSample({ swaps: [swap] }), { kind: "facts-read", swapId: swap.id, reading }, evidenceSample(facts));
}

function kindsOf(result: StepResult): string[] {
  return result.records.map((record) => record.kind);
}

/** Buys WETH only while one whole `of` costs less than a dollar. */
function closedFor(of: Token): Partial<Evidence> {
  return { spec: dcaSpec({ onlyIf: { of, comparison: "<", price: { quote: USDC, raw: 1_000_000n } } }) };
}

/** Whether anything was set going that can end in a signature over a swap or an allowance. */
function signs(result: StepResult): boolean {
  const asks = result.records.some(({ kind }) => ["transaction", "intend-signature", "open-capability"].includes(kind));
  return asks || result.effects.some(({ effect }) => effect.kind === "SignGasless");
}

describe("self-executed", () => {
  test("a cleared swap hands exactly the checked transaction to its lane, under our own gas and fee ceilings", () => {
    const result = clear(own);
    expect(result.run.swaps[0]).toMatchObject({
      ...{ state: "cleared", intentId: "run_1.0.1.swap" },
      terms: {
        contracts: oneContract(ROUTER),
        amountOutMin: 99_500_000_000_000_000n,
        deadlineSeconds: seconds + 60,
        fromBlock: 96,
      },
    });
    expect(result.records).toContainEqual({
      kind: "transaction",
      request: {
        ...{ id: "run_1.0.1.swap", purpose: "swap", to: ROUTER, data: "0xabcd", value: 0n, gasLimit: 200_000n },
        ...{ maxFeePerGasCap: 5n * GWEI, signBySeconds: seconds + 58, deadlineSeconds: seconds + 60 },
      },
    });
    expect(result.effects).toEqual([]);
  });

  test("checks, value and the one capability of wallet and token are committed with the transaction", () => {
    const result = clear(own);
    expect(kindsOf(result)).toEqual(["checks", "value", "prices", "open-capability", "transaction"]);
    expect(result.records).toContainEqual({ kind: "value", swapId: own.id, usd: usd("100") });
    expect(result.records).toContainEqual({
      ...{ kind: "open-capability", swapId: own.id, wallet: WALLET, token: USDC.address, spender: ROUTER },
      untilSeconds: undefined,
    });
  });

  test("the stricter fee ceiling of policy and strategy holds, whichever it is", () => {
    const cap = (facts: Partial<Evidence>): bigint | undefined => {
      const record = clear(own, {}, facts).records.find(({ kind }) => kind === "transaction");
      return record?.kind === "transaction" ? record.request.maxFeePerGasCap : undefined;
    };
    expect(cap({ policy: policySample({ maxFeePerGas: 3n * GWEI }) })).toBe(3n * GWEI);
    const spec = dcaSpec();
    expect(cap({ spec: { ...spec, limits: { ...spec.limits, maxFeePerGas: 4n * GWEI } } })).toBe(4n * GWEI);
  });

  test("gas that grows dearer later is paid as long as the share and the reserve hold, and no longer", () => {
    const most = 1_000n * GWEI;
    const wide = { policy: policySample({ maxFeePerGas: most }), spec: dcaSpec() };
    const facts = { ...wide, spec: { ...wide.spec, limits: { ...wide.spec.limits, maxFeePerGas: most } } };
    const cap = (change: Partial<ClearanceReading>): bigint | undefined => {
      const record = clear(own, change, facts).records.find(({ kind }) => kind === "transaction");
      return record?.kind === "transaction" ? record.request.maxFeePerGasCap : undefined;
    };
    // Three dollars, at a thousand a coin, for 200,000 of gas.
    expect(cap({ nativeBalance: 10n ** 18n })).toBe(15n * GWEI);
    expect(cap({ nativeBalance: 10n ** 18n, dataFee: 10n ** 15n })).toBe(10n * GWEI);
    const reserve = policySample().gasReserve;
    expect(cap({ nativeBalance: reserve + 200_000n * 6n * GWEI })).toBe(6n * GWEI);
  });

  test("an approval comes first, exact and noted as a grant, and the swap itself is not signed with it", () => {
    const result = clear(own, { allowance: 0n, approval: approvalSample(own) });
    expect(result.run.swaps[0]).toMatchObject({ state: "approving", approvals: 1, intentId: "run_1.0.1.approve1" });
    expect(kindsOf(result)).toEqual(["checks", "value", "prices", "grant", "transaction"]);
    const windowEndSeconds = result.run.windowEndsMs / 1_000;
    const until = { signBySeconds: windowEndSeconds, deadlineSeconds: windowEndSeconds + 300 };
    expect(result.records.at(-1)).toMatchObject({
      request: { purpose: "approve", to: USDC.address, gasLimit: 120_000n, value: 0n, ...until },
    });
    expect(result.transitions.map(({ to }) => to)).toEqual(["cleared", "approving"]);
  });

  test("approvals are numbered and bounded: a token that never lets us spend ends the swap", () => {
    const asks = { allowance: 0n, approval: approvalSample(own) };
    expect(clear(swapIn("quoted", { approvals: 3 }), asks).run.swaps[0]?.intentId).toBe("run_1.0.1.approve4");
    const result = clear(swapIn("quoted", { approvals: 4 }), asks);
    expect(result.run).toMatchObject({ state: "skipped", reason: "approval_failed" });
    expect(signs(result)).toBe(false);
  });
});

describe("where several sets of contracts are pinned", () => {
  const other = toAddress(`0x${"a7".repeat(20)}`);
  const service = { contracts: oneContract(ROUTER), furtherContracts: [oneContract(other)], signatureHasNonce: true };
  const facts = { service, policy: policySample({ spenders: [ROUTER, other] }) };
  const through = (target: Address) => {
    const swap = swapIn("quoted", { quote: quoteSample(own, { targetAddress: target }) });
    const reading = readingFor(swap);
    const decoding = { ok: true, swap: decodedFor(swap, { contracts: oneContract(target) }) } as const;
    const transaction = reading.transaction && { ...reading.transaction, to: target };
    return { swap, reading: { decoding, transaction } };
  };

  test("capability, grant and terms are of the one that the quote names, and so is what is signed", () => {
    for (const target of [ROUTER, other]) {
      const { swap, reading } = through(target);
      const result = clear(swap, reading, facts);
      expect(result.run.swaps[0]?.terms?.contracts).toEqual(oneContract(target));
      expect(result.records).toContainEqual(expect.objectContaining({ kind: "open-capability", spender: target }));
      expect(result.records.at(-1)).toMatchObject({ kind: "transaction", request: { to: target } });
      const approving = clear(swap, { ...reading, allowance: 0n, approval: approvalSample(own) }, facts);
      expect(approving.records).toContainEqual(expect.objectContaining({ kind: "grant", spender: target }));
    }
  });

  test("a quote that names one and a transaction that calls another sign nothing, whichever is pinned", () => {
    const stranger = toAddress(`0x${"ff".repeat(20)}`);
    for (const [named, called] of [
      [ROUTER, other],
      [other, ROUTER],
      [other, stranger],
      [stranger, stranger],
    ] as const) {
      const { swap } = through(named);
      expect(signs(clear(swap, through(called).reading, facts)), `${named} ${called}`).toBe(false);
    }
  });

  test("one that the policy does not allow signs nothing", () => {
    const { swap, reading } = through(other);
    const policy = policySample({ spenders: [ROUTER] });
    expect(signs(clear(swap, reading, { service, policy }))).toBe(false);
  });
});

describe("gasless", () => {
  test("both digests and their typed data are committed before the key is asked", () => {
    const result = clear(relayed);
    expect(kindsOf(result)).toEqual([
      ...["checks", "value", "prices", "open-capability", "intend-signature", "grant", "intend-signature"],
    ]);
    const { swap, permit } = signingSample(HUNDRED_USDC);
    expect(result.run.swaps[0]).toMatchObject({
      state: "cleared",
      signatures: { swapDigest: swap.digest, permitDigest: permit?.digest, swapSignature: undefined },
    });
    expect(result.effects).toEqual([{ effect: { kind: "SignGasless", swapId: relayed.id }, notBeforeMs: NOW_MS }]);
  });

  test("the capability lives as long as the longer of the two signatures", () => {
    const signing = signingSample(HUNDRED_USDC);
    const permit = { ...signing.permit, deadlineSeconds: seconds + 90 } as NonNullable<typeof signing.permit>;
    const result = clear(relayed, { signing: { ...signing, permit } });
    expect(result.records).toContainEqual(
      expect.objectContaining({ kind: "open-capability", untilSeconds: seconds + 90 }),
    );
  });

  test("a sufficient allowance needs no permit, and none is signed", () => {
    const signing = { ...signingSample(0n), permit: undefined };
    const result = clear(relayed, { allowance: HUNDRED_USDC, signing });
    expect(kindsOf(result)).toEqual(["checks", "value", "prices", "open-capability", "intend-signature"]);
    expect(result.run.swaps[0]?.signatures).toMatchObject({ permitDigest: undefined });
  });

  test.each([
    ["a token without a permit", "denied", { signing: { ...signingSample(0n), permit: undefined } }],
    [
      "a relayer's fee above the fee limit",
      "skipped",
      { decoding: { ok: true, swap: decodedFor(relayed, { swapFee: 4_000_000n, amountIn: 96_000_000n }) } },
    ],
  ] as const)("%s falls back to our own transaction where gasless is only preferred", (_name, lateState, change) => {
    const result = clear(relayed, change);
    expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote", gasless: false }, notBeforeMs: NOW_MS }]);
    expect(signs(result)).toBe(false);
    const only = swapIn("quoted", { mode: "gasless", gasless: "only" });
    const late = clear(only, change, { nowMs: lateMs });
    expect(late.run.swaps[0]?.state).toBe(lateState);
    expect(late.effects).toEqual([]);
  });
});

describe("what is refused", () => {
  const denials: readonly [string, Swap, Partial<ClearanceReading>, Partial<Evidence>][] = [
    ["RECIPIENT_MISMATCH", own, { decoding: { ok: true, swap: decodedFor(own, { recipient: ROUTER }) } }, {}],
    ["RUN_CAP_EXCEEDED", own, {}, { policy: policySample({ maxTradeUsd: usd("99.99") }) }],
    ["UNDECODABLE", own, { decoding: { ok: false, problem: "unknown selector" } }, {}],
    ["TYPED_DATA_UNKNOWN", relayed, { decoding: { ok: false, problem: "unknown type" } }, {}],
    ["NONCE_MISSING", relayed, { decoding: { ok: true, swap: decodedFor(relayed, { nonce: undefined }) } }, {}],
  ];

  test.each(denials)(
    "%s ends the run failed at once, with its money freed and a person reported",
    (code, swap, change, facts) => {
      const result = clear(swap, change, facts);
      expect(result.run).toMatchObject({ state: "failed", reason: code });
      expect(result.run.swaps[0]).toMatchObject({ state: "denied", reason: code });
      expect(result.records).toContainEqual({ kind: "release", swapId: swap.id });
      expect(result.records).toContainEqual(expect.objectContaining({ kind: "alert", severity: "warning", code }));
      expect(result.records.find(({ kind }) => kind === "checks")).toBeDefined();
      expect(signs(result)).toBe(false);
      expect(result.effects).toEqual([]);
    },
  );

  const skips: readonly [string, Partial<ClearanceReading>, Partial<Evidence>][] = [
    ["BALANCE_TOO_LOW", { balance: HUNDRED_USDC - 1n }, {}],
    ["BALANCE_TOO_LOW", { balance: HUNDRED_USDC }, { ledger: ledgerSample({ reservedByOthers: 1n }) }],
    ["GAS_RESERVE_TOO_LOW", { nativeBalance: 10n ** 16n }, {}],
    ["DAILY_CAP_EXCEEDED", {}, { ledger: ledgerSample({ spentTodayUsd: usd("49900.01") }) }],
    [
      "MONTHLY_CAP_EXCEEDED",
      {},
      { policy: policySample({ maxPerMonthUsd: usd("1000") }), ledger: ledgerSample({ spentMonthUsd: usd("900.01") }) },
    ],
    ["TRADE_TOO_SMALL", {}, { policy: policySample({ minTradeUsd: usd("100.01") }) }],
  ];

  test.each(skips)("%s skips the slot at once: it is no failure, and a person is notified", (code, change, facts) => {
    const result = clear(own, change, facts);
    expect(result.run).toMatchObject({ state: "skipped", reason: code });
    expect(result.run.swaps[0]).toMatchObject({ state: "skipped", reason: code });
    expect(result.records).toContainEqual({ kind: "release", swapId: own.id });
    expect(result.records).toContainEqual(expect.objectContaining({ kind: "alert", severity: "warning", code }));
    expect(signs(result)).toBe(false);
    expect(result.effects).toEqual([]);
  });

  const dearQuote = quoteSample(swapSample(), { priceImpactPpm: 10_001n });
  const passing: readonly [string, "failed" | "skipped", Partial<ClearanceReading>, Partial<Swap>?][] = [
    ["PRICE_IMPACT_TOO_HIGH", "skipped", {}, { quote: dearQuote }],
    ["SIMULATION_REVERTED", "failed", { simulation: { kind: "reverted", reason: "K" } }],
    ["SIMULATION_UNAVAILABLE", "failed", { simulation: { kind: "unavailable", reason: "no such method" } }],
    ["GAS_PRICE_TOO_HIGH", "skipped", { priorityFee: 4n * GWEI }],
    ["REFERENCE_MISSING", "skipped", { buyPrice: undefined }],
    ["QUOTE_EXPIRED", "failed", { head: { number: 100, timestampSeconds: seconds + 20, baseFeePerGas: GWEI } }],
    [
      "DEADLINE_OUT_OF_BOUNDS",
      "failed",
      { decoding: { ok: true, swap: decodedFor(own, { deadline: BigInt(seconds + 361) }) } },
    ],
  ];

  test.each(passing)(
    "%s may pass by itself: it is asked again inside the window and counts after it",
    (code, lateState, change, quoted = {}) => {
      const swap = swapIn("quoted", quoted);
      const early = clear(swap, change);
      expect(early.run.swaps[0]?.state).toBe("quoted");
      expect(early.effects).toMatchObject([{ effect: { kind: "FetchQuote" }, notBeforeMs: firstRetryMs(NOW_MS) }]);
      expect(kindsOf(early)).not.toContain("release");
      const late = clear(swap, change, { nowMs: lateMs });
      expect(late.run).toMatchObject({ state: lateState, reason: code });
      expect(signs(early) || signs(late)).toBe(false);
    },
  );

  test.each([
    [0, 300, "cleared"],
    [0, 301, "quoted"],
    [11, 311, "cleared"],
    [11, 312, "quoted"],
    [90, 361, "denied"],
  ])(
    "a deadline counts from now, where the newest block is %i s old, as services count it: one of %i s is %s",
    (ageSeconds, lifeSeconds, state) => {
      const swap = decodedFor(own, { deadline: BigInt(seconds + lifeSeconds) });
      const result = clear(own, { decoding: { ok: true, swap } }, { nowMs: NOW_MS + ageSeconds * 1_000 });
      expect(result.run.swaps[0]?.state).toBe(state);
    },
  );

  const fault = { token: own.buy.address, detail: "7.1% apart" };
  test.each<[string, Partial<ClearanceReading>]>([
    ["REFERENCE_MISSING", { buyPrice: undefined }],
    ["REFERENCE_DIVERGES", { buyPrice: undefined, priceFaults: [{ ...fault, code: "REFERENCE_DIVERGES" }] }],
    ["SEQUENCER_DOWN", { buyPrice: undefined, priceFaults: [{ ...fault, code: "SEQUENCER_DOWN" }] }],
  ])(
    "%s after the window is reported like what a person has to mend: nothing is traded without a price",
    (code, change) => {
      const late = clear(own, change, { nowMs: lateMs });
      expect(late.run).toMatchObject({ state: "skipped", reason: code });
      expect(late.records).toContainEqual(expect.objectContaining({ kind: "alert", severity: "warning", code }));
    },
  );

  test("a wallet whose token has something open waits, and then ends unsigned: two capabilities never live together", () => {
    const busy = { ledger: ledgerSample({ isTokenBusy: true }) };
    const early = clear(own, {}, busy);
    expect(early.records).toEqual([expect.objectContaining({ kind: "retry", reason: "wallet_busy" })]);
    expect(early.effects).toMatchObject([{ effect: { kind: "FetchQuote" }, notBeforeMs: firstRetryMs(NOW_MS) }]);
    const late = clear(own, {}, { ...busy, nowMs: lateMs });
    expect(late.run).toMatchObject({ state: "skipped", reason: "wallet_busy" });
  });

  test("an order without a nonce waits while a fork may put what left the wallet before beside its fill", () => {
    const inTheWay = { hash: `0x${"ab".repeat(32)}`, block: 101, finalized: 98 } as const;
    const waits = clear(relayed, { inTheWay });
    expect(waits.records).toEqual([
      expect.objectContaining({
        ...{ kind: "retry", reason: "wallet_busy" },
        detail: expect.stringMatching(/^USDC left the wallet in block 101.*block 98 is the newest final one/u),
      }),
    ]);
    expect(signs(waits)).toBe(false);
  });

  test("facts that were read while another swap of the token came to its end are read again: a permit's nonce may be old", () => {
    const freed = { ledger: ledgerSample({ lastFreed: "later" }) };
    for (const before of [undefined, "earlier"]) {
      const again = clear(relayed, { lastFreed: before }, freed);
      expect(again.records).toEqual([expect.objectContaining({ kind: "retry", reason: "wallet_busy" })]);
    }
    expect(signs(clear(relayed, { lastFreed: "later" }, freed))).toBe(true);
  });
});

describe("a minimum that is too low", () => {
  /** The quote promises enough for the reference price, but the signed minimum would lie below it. */
  const quote = quoteSample(own, { amountOut: 99_000_000_000_000_000n });
  const low = swapIn("quoted", { quote });
  const change = { decoding: { ok: true, swap: decodedFor(low, { amountOutMin: 98_400_000_000_000_000n }) } } as const;

  test("is asked for once more with exactly the slippage that would guarantee it", () => {
    const result = clear(low, change);
    // (0.099 - 0.0985) / 0.099 = 0.50505 %, which is not tighter than the strategy's 0.5 %: the quote bound rules here.
    expect(result.run.swaps[0]?.tightened).toBe(false);
    const strict = { policy: policySample({ referenceTolerance: toPpm(12_000) }) };
    const tighter = clear(low, change, strict);
    expect(tighter.run.swaps[0]).toMatchObject({ state: "quoted", tightened: true });
    expect(tighter.effects).toMatchObject([
      { effect: { kind: "FetchQuote", slippagePpm: "2020" }, notBeforeMs: NOW_MS },
    ]);
  });

  test("is not tightened twice for one question: it waits like any other passing trouble, then it is denied", () => {
    const strict = { policy: policySample({ referenceTolerance: toPpm(12_000) }) };
    const again = { ...low, tightened: true };
    const asked = clear(again, change, strict);
    expect(asked.effects).toMatchObject([
      { effect: { kind: "FetchQuote", slippagePpm: "5000" }, notBeforeMs: firstRetryMs(NOW_MS) },
    ]);
    expect(asked.run.swaps[0]?.tightened, "the question after it may be tightened again").toBe(false);
    const late = clear(again, change, { ...strict, nowMs: lateMs });
    expect(late.run).toMatchObject({ state: "failed", reason: "OUTPUT_BELOW_MINIMUM" });
  });
});

describe("nothing is signed although every check passes", () => {
  test.each([
    ["in a dry run", { live: false }, "dry_run"],
    ["for a run that another database may have traded", { tradingBarred: "accepted" }, "signing_barred"],
    ["while signing is barred", { signingBarred: "halted by ops: dry run" }, "signing_barred"],
  ] as const)("%s", (_name, facts, reason) => {
    for (const swap of [own, relayed]) {
      for (const change of [{}, swap === own ? { allowance: 0n, approval: approvalSample(swap) } : {}]) {
        const result = clear(swap, change, facts);
        expect(result.run).toMatchObject({ state: "skipped", reason });
        expect(signs(result)).toBe(false);
        expect(result.effects).toEqual([]);
        expect(kindsOf(result)).toContain("release");
      }
    }
  });
});

test("a wallet that the configuration names no more ends the run by that, and nobody is told to allow its account", () => {
  const successor = toAddress(`0x${"5".repeat(40)}`);
  const policy = policySample({ recipients: [successor] });
  for (const swap of [own, relayed]) {
    const result = clear(swap, { sellPrice: undefined }, { ours: [successor], policy });
    expect(result.run).toMatchObject({ state: "skipped", reason: "signing_barred" });
    const detail = `the configuration names no wallet ${swap.wallet} any more`;
    expect(result.transitions).toContainEqual(expect.objectContaining({ to: "skipped", detail }));
    expect(kindsOf(result)).toContain("release");
    expect([kindsOf(result).includes("alert"), result.effects]).toEqual([false, []]);
  }
  const removed = clear(own, {}, { policy });
  expect(removed.run).toMatchObject({ reason: "RECIPIENT_NOT_ALLOWED" });
});

describe("DCA-22 a gate that has closed since it was decided", () => {
  test.each([
    ["the bought token", WETH],
    ["the native coin", ETH],
  ])("holds the swap up where it is of %s, and ends it with the window", (_name, token) => {
    for (const [swap, live] of [own, relayed].flatMap((one) => [[one, true] as const, [one, false] as const])) {
      const result = clear(swap, {}, { ...closedFor(token), live });
      expect(result.run.swaps[0]).toMatchObject({ state: "quoted" });
      expect(result.effects).toMatchObject([{ effect: { kind: "FetchQuote" }, notBeforeMs: firstRetryMs(NOW_MS) }]);
      const detail = `${token.symbol} stands at 1000 USDC, it must be < 1 USDC`;
      expect(result.records).toContainEqual(expect.objectContaining({ kind: "retry", reason: "price_gate", detail }));
      const late = clear(swap, {}, { ...closedFor(token), live, nowMs: lateMs });
      expect(late.run).toMatchObject({ state: "skipped", reason: "price_gate" });
      expect(late.transitions).toContainEqual(expect.objectContaining({ to: "skipped", detail }));
      expect([signs(result), signs(late)]).toEqual([false, false]);
    }
  });

  test("stays as it was decided where the prices of the swap do not say it", () => {
    expect(clear(own, {}, closedFor(WBTC)).run.swaps[0]?.state).toBe("cleared");
    expect(clear(relayed, { nativePrice: undefined }, closedFor(ETH)).run.swaps[0]?.state).toBe("cleared");
  });

  test("is not waited for where nothing may be signed any more", () => {
    const result = clear(own, {}, { ...closedFor(WETH), tradingBarred: "accepted" });
    expect(result.run).toMatchObject({ state: "skipped", reason: "signing_barred" });
  });
});

test("a native sale sends exactly its gross amount as value, and its reservations count against gas too", () => {
  const native = swapIn("quoted", { sell: ETH, buy: USDC, gross: 10n ** 17n });
  expect(clear(native).records.at(-1)).toMatchObject({ request: { value: 10n ** 17n } });
  const change = { nativeBalance: 2n * 10n ** 17n };
  expect(clear(native, change).run.swaps[0]?.state).toBe("cleared");
  const held = clear(native, change, { ledger: ledgerSample({ reservedByOthers: 10n ** 17n }) });
  expect(held.run).toMatchObject({ state: "skipped", reason: "GAS_RESERVE_TOO_LOW" });
});

test("facts of an unquoted swap are a broken invariant, never a decision", () => {
  expect(() => clear(swapIn("planned"))).toThrow("checked before it is quoted");
  for (const state of ["cleared", "approving", "signed", "submitted", "confirmed", "skipped"] as const) {
    expect(() => clear(swapIn(state)), state).toThrow("invalid swap transition");
  }
});
