import { describe, expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import type { StepResult } from "../../../src/domain/run/draft.ts";
import type { TransactionChange } from "../../../src/domain/run/events.ts";
import type { Evidence } from "../../../src/domain/run/evidence.ts";
import type { Run, Swap } from "../../../src/domain/run/run.ts";
import { step } from "../../../src/domain/run/step.ts";
import {
  evidenceSample,
  NOW_MS,
  rebalanceSpec,
  runSample,
  SLOT_MS,
  thresholdSpec,
  USDC,
  WBTC,
  WETH,
} from "../../support/builders.ts";
import { swapIn } from "../../support/reading-samples.ts";

/** A sell of WETH at place 0, and after it a buy of WBTC with what that brought. */
function pair(first: Swap, second: Partial<Swap> = {}): Run {
  const proceeds = { kind: "proceeds", of: [0], base: 0n, share: toPpm(1_000_000), min: 1_000_000n } as const;
  const buy = swapIn("planned", {
    ...{ id: "run_1.1.1", position: 1, sell: USDC, buy: WBTC, begun: false, gross: undefined },
    planned: { ...proceeds, max: 10n ** 12n },
    ...second,
  });
  return runSample({ strategyId: "mix", swaps: [first, buy] });
}

const spec = rebalanceSpec();
const sell = (state: Swap["state"], change: Partial<Swap> = {}): Swap =>
  swapIn(state, { sell: WETH, buy: USDC, gross: 10n ** 18n, ...change });

function report(run: Run, change: TransactionChange, facts: Partial<Evidence> = {}, swapId = "run_1.0.1"): StepResult {
  const event = { kind: "transaction", swapId, intentId: `${swapId}.swap`, change } as const;
  return step(run, event, evidenceSample({ spec, ...facts }));
}

const bought = (fill: bigint): Partial<Swap> => ({
  fill: { ...sell("mined").fill, bought: fill } as NonNullable<Swap["fill"]>,
});

describe("a swap that follows another", () => {
  test("ALL-9 begins when the one before it is confirmed, sized by what that really brought", () => {
    const result = report(pair(sell("mined", bought(777_000_000n))), { kind: "confirmed", succeeded: true });
    expect(result.run.swaps[1]).toMatchObject({ state: "planned", begun: true, gross: 777_000_000n });
    expect(result.records).toContainEqual({
      kind: "reserve",
      swapId: "run_1.1.1",
      token: USDC,
      amount: 777_000_000n,
    });
    expect(result.effects.at(-1)?.effect).toMatchObject({ kind: "FetchQuote", amount: "777000000" });
    expect(result.run.state).toBe("executing");
  });

  test("what it will spend belongs to it from the moment it is there", () => {
    const other = { id: "run_1.1.1", position: 1, begun: false } as const;
    const { swaps } = pair(sell("mined", bought(777_000_000n)));
    const waiting = { ...swaps[1], id: "run_1.2.1", position: 2 } as Swap;
    const planned = { ...waiting.planned, of: [0, 1] } as Swap["planned"];
    const run = runSample({
      strategyId: "mix",
      swaps: [swaps[0] as Swap, sell("planned", other), { ...waiting, planned }],
    });
    const first = report(run, { kind: "confirmed", succeeded: true });
    expect(first.run.swaps[1]).toMatchObject({ begun: true });
    expect(first.run.swaps[2]).toMatchObject({ begun: false, gross: 777_000_000n });
    expect(first.records).toContainEqual({ kind: "reserve", swapId: "run_1.2.1", token: USDC, amount: 777_000_000n });
  });

  test("does not begin before, however often something else happens", () => {
    for (const state of ["cleared", "signed", "submitted"] as const) {
      const run = pair(sell(state));
      const event = { kind: "route-read", swapId: "run_1.0.1", distributions: "[]", serviceRecord: undefined } as const;
      const result = step(run, event, evidenceSample({ spec }));
      expect(result.run.swaps[1], state).toEqual(run.swaps[1]);
    }
  });

  test("begins once: a confirmation that comes back after a reorganisation does not ask again", () => {
    const begun = report(pair(sell("mined", bought(777_000_000n))), { kind: "confirmed", succeeded: true }).run;
    const back = report(begun, { kind: "reorged" }).run;
    const receipt = {
      hash: "0x",
      blockNumber: 1,
      blockHash: "0x",
      succeeded: true,
      gasUsed: 1n,
      effectiveGasPrice: 1n,
    };
    const again = report(back, {
      kind: "mined",
      receipt: { ...receipt, hash: "0xee", blockHash: "0xb2", logs: [] },
      value: 0n,
    });
    const confirmed = report(again.run, { kind: "confirmed", succeeded: true });
    expect(confirmed.records.filter(({ kind }) => kind === "reserve")).toEqual([]);
    expect(confirmed.effects).toEqual([]);
    expect(confirmed.run.swaps[1]?.gross).toBe(777_000_000n);
  });

  test("is left out when too little came, and the run is partial", () => {
    const result = report(pair(sell("mined", bought(999_999n))), { kind: "confirmed", succeeded: true });
    expect(result.run.swaps[1]).toMatchObject({ state: "skipped", reason: "below_minimum_trade" });
    expect(result.run).toMatchObject({ state: "partial", reason: "below_minimum_trade" });
  });

  test("is left out when the one before it brought nothing, and there is nothing else to spend", () => {
    const result = report(pair(sell("submitted")), { kind: "final", outcome: "reverted" });
    expect(result.run.swaps[1]).toMatchObject({ state: "skipped", reason: "below_minimum_trade" });
    expect(result.run).toMatchObject({ state: "failed", reason: "reverted" });
  });

  test("waits for a fresh attempt at the place before it", () => {
    const dropped = report(pair(sell("cleared")), { kind: "dropped", reason: "too dear" });
    expect(dropped.run.swaps.map(({ id, state }) => [id, state])).toEqual([
      ["run_1.0.1", "skipped"],
      ["run_1.1.1", "planned"],
      ["run_1.0.2", "planned"],
    ]);
    expect(dropped.run.state).toBe("executing");
  });
});

describe("a run ends in one of four ways", () => {
  const end = (first: Swap, second: Swap["state"]): Run => {
    const buy = { ...swapIn(second), id: "run_1.1.1", position: 1, reason: `why ${second}` };
    const run = runSample({ strategyId: "mix", swaps: [first, buy] });
    const event = {
      kind: "route-read",
      swapId: "run_1.0.1",
      distributions: undefined,
      serviceRecord: undefined,
    } as const;
    return step(run, event, evidenceSample({ spec })).run;
  };
  const skipped = { ...swapIn("skipped"), reason: "quote_refused" };

  test.each([
    ["filled", swapIn("confirmed"), "final", undefined],
    ["partial", swapIn("confirmed"), "denied", "why denied"],
    ["partial", skipped, "confirmed", "quote_refused"],
    ["skipped", skipped, "skipped", "quote_refused"],
    ["failed", skipped, "denied", "quote_refused"],
    ["failed", skipped, "expired", "quote_refused"],
    ["failed", swapIn("reverted"), "cancelled", "reverted"],
  ] as const)("%s: %o and a second one that is %s", (state, first, second, reason) => {
    expect(end(first, second)).toMatchObject({ state, reason });
  });

  test("not while anything of it can still move money", () => {
    for (const state of ["signed", "submitted", "mined", "unknown"] as const) {
      expect(end(swapIn("confirmed"), state).state, state).toBe("executing");
    }
  });
});

describe("the strategy learns of the end in the same commit", () => {
  const trigger = { spec: thresholdSpec(), memory: { version: 1, state: "fired", failures: 0, slotMs: SLOT_MS } };
  const memoryOf = (result: StepResult): unknown =>
    result.records.flatMap((record) => (record.kind === "memory" ? [JSON.parse(record.memory)] : []));

  test("a fill consumes the crossing", () => {
    const run = runSample({ strategyId: "take-profit", swaps: [sell("mined")] });
    expect(memoryOf(report(run, { kind: "confirmed", succeeded: true }, trigger))).toMatchObject([
      { legs: { main: { at: { state: "done" }, fills: 1 } } },
    ]);
  });

  test("a run that bought nothing gives the crossing back, and counts the attempt", () => {
    const run = runSample({ strategyId: "take-profit", swaps: [sell("submitted")] });
    const result = report(run, { kind: "final", outcome: "reverted" }, trigger);
    expect(memoryOf(result)).toMatchObject([{ legs: { main: { at: { state: "armed", failures: 1 }, fills: 0 } } }]);
  });

  test("and can notify a person what it makes of it, under the pair, so that a swap that passes all checks ends it", () => {
    const memory = { version: 1, state: "fired", failures: 2, slotMs: SLOT_MS };
    const run = runSample({ strategyId: "take-profit", swaps: [sell("submitted")] });
    const result = report(run, { kind: "final", outcome: "reverted" }, { ...trigger, memory });
    expect(result.records.filter(({ kind }) => kind === "alert")).toMatchObject([
      { code: "TRIGGER_NOT_FILLED", severity: "warning", subject: "WETH to USDC of take-profit" },
    ]);
  });

  test("only once: the second end after a reorganisation cannot unlatch a trigger that fired again meanwhile", () => {
    const filled = runSample({ strategyId: "take-profit", state: "filled", swaps: [sell("confirmed")] });
    const reopened = report(filled, { kind: "reorged" }, trigger);
    expect(reopened.run).toMatchObject({ state: "executing", reason: "reorganised" });
    expect(memoryOf(reopened)).toEqual([]);
    const ended = report(reopened.run, { kind: "final", outcome: "reverted" }, trigger);
    expect(ended.run).toMatchObject({ state: "failed", reason: "reverted" });
    expect(memoryOf(ended)).toEqual([]);
    const alert = { code: "FILL_TAKEN_BACK", severity: "critical", subject: "fill of run_1.0.1" };
    expect(ended.records.filter(({ kind }) => kind === "alert")).toMatchObject([alert]);
  });

  test("each fill that a reorganisation takes back for good is reported by itself, when its swap ends, and no other end is", () => {
    const vain = sell("reverted", { id: "run_1.0.1", position: 0 });
    const lost = [1, 2].map((position) =>
      sell("confirmed", { id: `run_1.${position}.1`, position, intentId: `run_1.${position}.1.swap` }),
    );
    const trigger = { spec: thresholdSpec(), memory: { version: 1, state: "fired", failures: 0, slotMs: SLOT_MS } };
    let run = runSample({ strategyId: "take-profit", state: "partial", swaps: [vain, ...lost] });
    const reported: unknown[] = [];
    for (const change of [{ kind: "reorged" }, { kind: "final", outcome: "reverted" }] as const) {
      for (const { id } of lost) {
        const event = { kind: "transaction", swapId: id, intentId: `${id}.swap`, change } as const;
        const result = step(run, event, evidenceSample(trigger as Partial<Evidence>));
        reported.push(result.records.flatMap((record) => (record.kind === "alert" ? [record.subject] : [])));
        run = result.run;
      }
    }
    expect(reported).toEqual([[], [], ["fill of run_1.1.1"], ["fill of run_1.2.1"]]);
    expect(run.state).toBe("failed");
  });

  test("nobody is notified of a reorganisation after which the fill comes back", () => {
    const filled = runSample({ strategyId: "take-profit", state: "filled", swaps: [sell("confirmed")] });
    const reopened = report(filled, { kind: "reorged" }, trigger).run;
    const [swap] = reopened.swaps;
    if (swap === undefined) throw new Error("the run has no swap");
    const mined = { ...reopened, swaps: [{ ...swap, ...bought(1n), state: "mined" as const }] };
    const again = report(mined, { kind: "confirmed", succeeded: true }, trigger);
    expect(again.run.state).toBe("filled");
    expect(again.records.filter(({ kind }) => kind === "alert")).toEqual([]);
  });

  test("and hears nothing while the run is open", () => {
    const run = runSample({ strategyId: "take-profit", swaps: [sell("signed")] });
    expect(memoryOf(report(run, { kind: "broadcast", hash: "0xee" }, { ...trigger, nowMs: NOW_MS }))).toEqual([]);
  });
});

test("an ended run stays as it is when something about it is only noted", () => {
  for (const state of ["filled", "partial", "failed", "skipped"] as const) {
    const run = runSample({ state, reason: "kept", swaps: [swapIn("final")] });
    const event = { kind: "route-read", swapId: "run_1.0.1", distributions: "[]", serviceRecord: undefined } as const;
    expect(step(run, event, evidenceSample()).run).toEqual(run);
  }
});
