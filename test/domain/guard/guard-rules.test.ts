import { describe, expect, it } from "vitest";
import { consequenceOf } from "../../../src/domain/guard/consequence.ts";
import { parseUnits } from "../../../src/domain/money/amount.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { ReferencePrice } from "../../../src/domain/money/price.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { ClearanceReading } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import { step } from "../../../src/domain/run/step.ts";
import {
  dcaSpec,
  ETH,
  evidenceSample,
  GWEI,
  HUNDRED_USDC,
  ledgerSample,
  NOW_MS,
  policySample,
  priceOf,
  ROUTER,
  runSample,
  USDC,
  usd,
  WETH,
} from "../../support/builders.ts";
import { decodedFor, readingFor, swapIn } from "../../support/reading-samples.ts";

const own = swapIn("quoted");
const LATE_MS = runSample().windowEndsMs - 5_000;
const OUT = 10n ** 17n;

function clear(change: Partial<ClearanceReading> = {}, facts: Partial<Evidence> = {}): StepResult {
  const event = { kind: "facts-read", swapId: own.id, reading: readingFor(own, change) } as const;
  return step(runSample({ swaps: [own] }), event, evidenceSample(facts));
}

function checksOf(result: StepResult) {
  return result.records.flatMap((record) => (record.kind === "checks" ? record.checks : []));
}

/** The codes of what is not satisfied, in order. */
function broken(change: Partial<ClearanceReading>, facts: Partial<Evidence> = {}): string[] {
  return checksOf(clear(change, facts)).flatMap(({ ok, code }) => (ok ? [] : [code]));
}

/** The least output that the simulated transfer is checked against, which is the required minimum. */
function minimumOf(change: Partial<ClearanceReading>, facts: Partial<Evidence> = {}): bigint {
  const check = checksOf(clear(change, facts)).find(({ subject }) => subject === "bought token in to the recipient");
  const [, least = ""] = /^at least ([0-9.]+) WETH$/.exec(check?.limit ?? "") ?? [];
  return parseUnits(least, WETH.decimals) as bigint;
}

const said = (price: ReferencePrice, other: string): ReferencePrice => ({
  ...price,
  others: [{ usd: usd(other), source: "twap" }],
});

const WIDE = policySample({ maxDivergence: toPpm(100_000) });

describe("order and consequence", () => {
  it("GRD-1 makes and records every check, and the first that is not satisfied is the denial", () => {
    const decoding = { ok: true, swap: decodedFor(own, { recipient: ROUTER }) } as const;
    const result = clear({ decoding, balance: 0n });
    expect(checksOf(result).length).toBeGreaterThan(20);
    expect(result.run.swaps[0]).toMatchObject({ reason: "BALANCE_TOO_LOW" });
    expect(broken({ decoding, balance: 0n })).toEqual(["BALANCE_TOO_LOW", "RECIPIENT_MISMATCH"]);
  });

  it("GRD-2 asks limits, reference, payload, simulation and round trip in this order", () => {
    const change: Partial<ClearanceReading> = {
      balance: 0n,
      sellPrice: said(priceOf(USDC), "1.2"),
      decoding: { ok: true, swap: decodedFor(own, { recipient: ROUTER }) },
      simulation: { kind: "reverted", reason: "K" },
      roundTrip: { kind: "impossible", reason: "no sale" },
    };
    const policy = policySample({ roundTrip: { maxLoss: toPpm(50_000), when: "always" } });
    expect(broken(change, { policy })).toEqual([
      "BALANCE_TOO_LOW",
      "REFERENCE_DIVERGES",
      "RECIPIENT_MISMATCH",
      "OUTPUT_BELOW_MINIMUM",
      "SIMULATION_REVERTED",
      "ROUND_TRIP_LOSS",
    ]);
    const unpriced = broken({ ...change, sellPrice: undefined }, { policy });
    expect(unpriced).toEqual(["BALANCE_TOO_LOW", "REFERENCE_MISSING", "ROUND_TRIP_LOSS"]);
  });

  it("GRD-3 denies at once what is wrong: the run fails and a person is notified", () => {
    const result = clear({ decoding: { ok: false, problem: "unknown selector" } });
    expect(result.run).toMatchObject({ state: "failed", reason: "UNDECODABLE" });
    expect(result.records).toContainEqual(expect.objectContaining({ kind: "alert", code: "UNDECODABLE" }));
    expect(consequenceOf("ROUND_TRIP_LOSS")).toBe("fail");
  });

  it("GRD-4 asks again for what may be of the moment, and denies it at the end of the window", () => {
    const change = { simulation: { kind: "reverted", reason: "K" } } as const;
    expect(clear(change).effects).toMatchObject([{ effect: { kind: "FetchQuote" } }]);
    expect(clear(change, { nowMs: LATE_MS }).run).toMatchObject({ state: "failed", reason: "SIMULATION_REVERTED" });
  });

  it.each([
    ["REFERENCE_DIVERGES", { sellPrice: said(priceOf(USDC), "1.03") }, {}],
    ["STABLECOIN_DEPEGGED", {}, { policy: policySample({ pegged: [WETH.address] }) }],
    [
      "SEQUENCER_DOWN",
      { sellPrice: undefined, priceFaults: [{ token: USDC.address, code: "SEQUENCER_DOWN", detail: "down" }] },
      {},
    ],
  ] as const)("GRD-5 asks again while %s lasts, and skips it at the end of the window", (code, change, facts) => {
    expect(clear(change, facts).effects).toMatchObject([{ effect: { kind: "FetchQuote" } }]);
    expect(clear(change, { ...facts, nowMs: LATE_MS }).run).toMatchObject({ state: "skipped", reason: code });
  });

  it("GRD-6 skips at once what cannot be at this slot, and notifies a person", () => {
    const result = clear({ balance: HUNDRED_USDC - 1n });
    expect(result.run).toMatchObject({ state: "skipped", reason: "BALANCE_TOO_LOW" });
    expect(result.records).toContainEqual(expect.objectContaining({ kind: "alert", code: "BALANCE_TOO_LOW" }));
  });

  it("GRD-7 takes the stricter of policy and strategy, whichever it is", () => {
    const spec = dcaSpec();
    const strict = { ...spec, limits: { ...spec.limits, maxFeePerGas: GWEI } };
    for (const facts of [{ spec: strict }, { policy: policySample({ maxFeePerGas: GWEI }) }]) {
      expect(broken({}, facts)).toEqual(["GAS_PRICE_TOO_HIGH"]);
    }
  });

  it("GRD-8 leaves nothing behind of what is refused, and frees its money", () => {
    const result = clear({ balance: 0n });
    const asks = ["transaction", "intend-signature", "open-capability", "grant"];
    expect(result.records.filter(({ kind }) => asks.includes(kind))).toEqual([]);
    expect(result.effects).toEqual([]);
    expect(result.records).toContainEqual({ kind: "release", swapId: own.id });
  });
});

describe("the reference", () => {
  it("GRD-9 requires the largest of quote, prices and second service", () => {
    // The quote of 0.1 less 0.5 %; the prices' 0.1 less 1.5 %; the second service's 0.1015 less 1.5 %.
    expect(minimumOf({})).toBe((OUT * 995n) / 1_000n);
    expect(minimumOf({ sellPrice: { ...priceOf(USDC), usd: usd("1.02") } })).toBe((OUT * 102n * 985n) / 100_000n);
    const second = (amountOut: bigint) => ({ secondOutput: { kind: "quoted", amountOut, source: "second" } as const });
    expect(minimumOf(second((OUT * 1_015n) / 1_000n))).toBe((OUT * 1_015n * 985n) / 1_000_000n);
    expect(minimumOf(second((OUT * 985n) / 1_000n))).toBe((OUT * 995n) / 1_000n);
  });

  it("GRD-11 names the source's reason in the check of the token that has no price", () => {
    const fault = { token: WETH.address, code: "REFERENCE_MISSING", detail: "stale: an hour old" } as const;
    const checks = checksOf(clear({ buyPrice: undefined, priceFaults: [fault] })).filter(({ ok }) => !ok);
    expect(checks).toMatchObject([
      { code: "REFERENCE_MISSING", subject: "reference price of WETH", value: fault.detail },
    ]);
    const native = { token: ETH.address, code: "SEQUENCER_DOWN", detail: "down" } as const;
    const gas = checksOf(clear({ nativePrice: undefined, priceFaults: [native] })).filter(({ ok }) => !ok);
    expect(gas).toMatchObject([{ code: "SEQUENCER_DOWN", subject: "reference price of the native token" }]);
  });

  it("GRD-12 lets sources be as far apart as allowed, and one millionth further not", () => {
    expect(broken({ sellPrice: said(priceOf(USDC), "1.02") })).not.toContain("REFERENCE_DIVERGES");
    expect(broken({ sellPrice: said(priceOf(USDC), "1.020001") })).toContain("REFERENCE_DIVERGES");
    expect(broken({ buyPrice: said(priceOf(WETH), "980.392156") })).toContain("REFERENCE_DIVERGES");
  });

  it("GRD-13 uses the highest price of what is sold and the lowest of what is bought, in whichever order they come", () => {
    const dear = (OUT * 105n * 985n) / 100_000n;
    for (const [usual, other] of [
      ["1", "1.05"],
      ["1.05", "1"],
    ] as const) {
      const sellPrice = said({ ...priceOf(USDC), usd: usd(usual) }, other);
      expect(minimumOf({ sellPrice }, { policy: WIDE })).toBe(dear);
      const buyPrice = said(
        { ...priceOf(WETH), usd: usd(usual === "1" ? "1000" : "800") },
        usual === "1" ? "800" : "1000",
      );
      const wider = { policy: policySample({ maxDivergence: toPpm(300_000) }) };
      expect(minimumOf({ buyPrice }, wider)).toBe((OUT * 125n * 985n) / 100_000n);
      const cap = { policy: policySample({ ...WIDE, maxTradeUsd: usd("104.99") }) };
      expect(broken({ sellPrice }, cap)).toContain("RUN_CAP_EXCEEDED");
    }
  });

  it("GRD-14 trades nothing without the second service's answer, nor when it is far from what prices say", () => {
    expect(broken({ secondOutput: { kind: "missing", detail: "HTTP 500" } })).toEqual(["REFERENCE_MISSING"]);
    const far = (OUT * 97n) / 100n;
    expect(broken({ secondOutput: { kind: "quoted", amountOut: far, source: "second" } })).toEqual([
      "REFERENCE_DIVERGES",
    ]);
    expect(broken({ secondOutput: { kind: "quoted", amountOut: 0n, source: "second" } })).toContain(
      "REFERENCE_MISSING",
    );
  });

  it("GRD-17 does not trade a token that left its peg, to either side and by any source's word", () => {
    const policy = policySample({ pegged: [USDC.address], maxDivergence: toPpm(100_000) });
    const at = (dollars: string) => ({ sellPrice: { ...priceOf(USDC), usd: usd(dollars) } });
    for (const held of ["1", "0.98", "1.02"]) expect(broken(at(held), { policy })).not.toContain("STABLECOIN_DEPEGGED");
    for (const left of ["0.979999", "1.020001"]) expect(broken(at(left), { policy })).toContain("STABLECOIN_DEPEGGED");
    expect(broken({ sellPrice: said(priceOf(USDC), "0.97") }, { policy })).toContain("STABLECOIN_DEPEGGED");
    expect(broken(at("0.9"))).not.toContain("STABLECOIN_DEPEGGED");
  });
});

describe("reservations", () => {
  it("GRD-19 counts what is reserved as gone from the balance and as sold today", () => {
    const exact = { balance: HUNDRED_USDC };
    expect(broken(exact)).toEqual([]);
    expect(broken(exact, { ledger: ledgerSample({ reservedByOthers: 1n }) })).toEqual(["BALANCE_TOO_LOW"]);
    const policy = policySample({ maxPerDayUsd: usd("1000") });
    expect(broken({}, { policy, ledger: ledgerSample({ spentTodayUsd: usd("900") }) })).toEqual([]);
    expect(broken({}, { policy, ledger: ledgerSample({ spentTodayUsd: usd("900.01") }) })).toEqual([
      "DAILY_CAP_EXCEEDED",
    ]);
  });

  it("GRD-20 lets a second swap of wallet and token wait, and skips it at the end of its window", () => {
    const busy = { ledger: ledgerSample({ isTokenBusy: true }) };
    const [again, ...others] = clear({}, busy).effects;
    expect([again?.effect.kind, others]).toEqual(["FetchQuote", []]);
    expect(again?.notBeforeMs).toBeGreaterThan(NOW_MS);
    expect(again?.notBeforeMs).toBeLessThanOrEqual(NOW_MS + 5_000);
    expect(clear({}, { ...busy, nowMs: LATE_MS }).run).toMatchObject({ state: "skipped", reason: "wallet_busy" });
  });
});

describe("the round trip", () => {
  const policy = policySample({ roundTrip: { maxLoss: toPpm(50_000), when: "always" } });

  it("GRD-24 fails above the largest loss, by one unit, and not at it", () => {
    const back = (returned: bigint) => ({ roundTrip: { kind: "returned", sold: HUNDRED_USDC, returned } as const });
    expect(broken(back(95_000_000n), { policy })).toEqual([]);
    expect(broken(back(94_999_999n), { policy })).toEqual(["ROUND_TRIP_LOSS"]);
    expect(broken(back(200_000_000n), { policy })).toEqual([]);
    expect(clear(back(0n), { policy }).run).toMatchObject({ state: "failed", reason: "ROUND_TRIP_LOSS" });
  });
});
