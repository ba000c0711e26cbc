import { expect, test } from "vitest";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { step } from "../../../src/domain/run/step.ts";
import type { TwapSpec } from "../../../src/domain/strategy/twap.ts";
import {
  dcaSpec,
  evidenceSample,
  firstRetryMs,
  HUNDRED_USDC,
  NOW_MS,
  rebalanceSpec,
  runSample,
  SLOT_MS,
  thresholdSpec,
  USDC,
  viewSample,
  WALLET,
  WETH,
} from "../../support/builders.ts";

const deciding = runSample({ state: "deciding" });

test("a due run reads the world before it decides anything", () => {
  const result = step(runSample({ state: "due" }), { kind: "started" }, evidenceSample());
  expect(result.run.state).toBe("deciding");
  expect(result.effects).toEqual([{ effect: { kind: "ReadView" }, notBeforeMs: NOW_MS }]);
  expect(result.records).toEqual([]);
});

test("ALL-5 the decision's memory, its swaps and their reservations are one result, so no kill can part them", () => {
  const facts = evidenceSample({ spec: thresholdSpec(), memory: { version: 1, state: "armed", failures: 0 } });
  const result = step(deciding, { kind: "view-read", view: viewSample() }, facts);
  const [memory, reserve] = result.records;
  const memories = result.records.flatMap((record) => (record.kind === "memory" ? [JSON.parse(record.memory)] : []));
  expect(memory?.kind).toBe("memory");
  expect(memories).toMatchObject([{ legs: { main: { at: { state: "fired", failures: 0, slotMs: SLOT_MS } } } }]);
  expect(reserve).toEqual({ kind: "reserve", swapId: "run_1.0.1", token: WETH, amount: 10n ** 17n });
  expect(result.run.swaps).toHaveLength(1);
  expect(result.transitions.map(({ subjectId, from, to }) => [subjectId, from, to])).toEqual([
    ["run_1", "deciding", "executing"],
    ["run_1.0.1", undefined, "planned"],
  ]);
});

test("a planned swap takes wallet, recipient, tokens and mode from its strategy alone", () => {
  const recipient = USDC.address;
  const facts = evidenceSample({ spec: dcaSpec({ gasless: "only", recipient }) });
  const [swap] = step(deciding, { kind: "view-read", view: viewSample() }, facts).run.swaps;
  expect(swap).toMatchObject({
    ...{ id: "run_1.0.1", position: 0, attempt: 1, state: "planned", begun: true, mode: undefined },
    ...{ wallet: WALLET, recipient, sell: USDC, buy: WETH, gross: HUNDRED_USDC, gasless: "only" },
  });
});

test("the first question goes out with the decision, for exactly the reserved amount and the strategy's slippage", () => {
  const result = step(deciding, { kind: "view-read", view: viewSample() }, evidenceSample());
  expect(result.effects).toEqual([
    {
      effect: {
        kind: "FetchQuote",
        swapId: "run_1.0.1",
        amount: HUNDRED_USDC.toString(),
        gasless: false,
        slippagePpm: "5000",
      },
      notBeforeMs: NOW_MS,
    },
  ]);
});

test("ALL-4 a strategy that decides against trading ends its slot with its reason and its memory, and without a swap", () => {
  const facts = evidenceSample({ spec: dcaSpec({ budget: { total: HUNDRED_USDC } }) });
  const spent = new Map([[USDC.address, HUNDRED_USDC]]);
  const result = step(deciding, { kind: "view-read", view: viewSample({ spent }) }, facts);
  expect(result.run).toMatchObject({ state: "skipped", reason: "budget_spent", swaps: [] });
  expect(result.records[0]).toEqual({ kind: "memory", memory: '{"version":1,"runs":0,"carry":{}}' });
  expect(result.records.filter(({ kind }) => kind === "reserve")).toEqual([]);
  expect(result.effects).toEqual([]);
});

test("an order whose size is not plain from the settings says why in the run's transition", () => {
  const facts = evidenceSample({ spec: dcaSpec() });
  const result = step(deciding, { kind: "view-read", view: viewSample({ slots: 2 }) }, facts);
  expect(result.transitions[0]).toMatchObject({ to: "executing", detail: "sells 200 USDC: for 2 slots" });
  const plain = step(deciding, { kind: "view-read", view: viewSample() }, facts);
  expect(plain.transitions[0]).toMatchObject({ to: "executing", detail: undefined });
});

test("swaps that wait for earlier ones are planned at once, reserve what they may spend besides, and ask for nothing yet", () => {
  const facts = evidenceSample({ spec: rebalanceSpec() });
  const result = step(deciding, { kind: "view-read", view: viewSample() }, facts);
  const [sells, buys] = result.run.swaps;
  expect(sells).toMatchObject({ sell: WETH, buy: USDC, begun: true });
  const own = 200_000_000n;
  expect(buys).toMatchObject({ sell: USDC, begun: false, gross: own, planned: { kind: "proceeds", base: own } });
  expect(result.records.filter((record) => record.kind === "reserve")).toEqual([
    { kind: "reserve", swapId: "run_1.0.1", token: WETH, amount: 14n * 10n ** 17n },
    { kind: "reserve", swapId: "run_1.1.1", token: USDC, amount: own },
  ]);
  expect(result.effects).toHaveLength(1);
});

test("ALL-4 an unreadable world is asked again inside the window and ends the slot with its reason after it", () => {
  const event = { kind: "view-unavailable", detail: "no node answered" } as const;
  const early = step(deciding, event, evidenceSample());
  expect(early.run.state).toBe("deciding");
  expect(early.effects).toEqual([{ effect: { kind: "ReadView" }, notBeforeMs: firstRetryMs(NOW_MS) }]);
  const late = step(deciding, event, evidenceSample({ nowMs: deciding.windowEndsMs - 5_000 }));
  expect(late.run).toMatchObject({ state: "skipped", reason: "view_unavailable", detail: "no node answered" });
  expect(late.effects).toEqual([]);
});

test("a decision comes once: a second view cannot plan the slot again", () => {
  const { run } = step(deciding, { kind: "view-read", view: viewSample() }, evidenceSample());
  expect(() => step(run, { kind: "view-read", view: viewSample() }, evidenceSample())).toThrow(
    "invalid run transition: executing -> executing",
  );
  expect(() => step(run, { kind: "started" }, evidenceSample())).toThrow(
    "invalid run transition: executing -> deciding",
  );
});

test("TWAP-13 a plan that began live goes on where it stood after a dry run, and one that did not begins anew", () => {
  const { sell: _sell, buy: _buy, ...common } = dcaSpec();
  const spec: TwapSpec = {
    ...common,
    ...{ kind: "twap", sell: { token: USDC, raw: 2n * HUNDRED_USDC }, buy: WETH, startMs: undefined },
    ...{ slices: 2, everySeconds: 3_600, spread: toPpm(0), exit: false, limit: { floor: undefined, abort: undefined } },
    slice: { unfilled: "roll", min: 1n, max: 2n * HUNDRED_USDC },
  };
  const memoryAfter = (live: boolean, startMs: number | null) => {
    const memory = { version: 1, startMs, left: null } as const;
    const facts = evidenceSample({ spec, memory, live });
    const { records, run } = step(deciding, { kind: "view-read", view: viewSample() }, facts);
    expect(run.state).toBe("executing");
    return records.flatMap((record) => (record.kind === "memory" ? [JSON.parse(record.memory).startMs] : []));
  };
  const began = SLOT_MS - 3_600_000;
  expect([memoryAfter(false, null), memoryAfter(true, null)]).toEqual([[null], [SLOT_MS]]);
  expect([memoryAfter(false, began), memoryAfter(true, began)]).toEqual([[began], [began]]);
});
