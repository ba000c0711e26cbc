import { describe, expect, test } from "vitest";
import type { DcaSpec } from "../../src/domain/strategy/dca.ts";
import { SLOT_MS } from "../support/builders.ts";
import { createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";

const BROKEN = ["{not json", '"text"', '{"version":99,"runs":0}'] as const;

function begin(schedule = { kind: "every", seconds: 60 } as const) {
  const outside = createOutside(SLOT_MS - 5_000, { schedule });
  const spec = outside.spec as DcaSpec;
  const other = { ...spec, id: "other" };
  const strategies = [spec, other].map((one) => ({ spec: one, specHash: "spec" }));
  return {
    outside,
    spec,
    strategies,
    open: (list = strategies) => openLife(outside, { settings: { strategies: list } }),
  };
}

const breakMemory = ({ db }: Life, text: string): void => {
  db.prepare("UPDATE strategies SET memory = ? WHERE id = 'weekly'").run(text);
};
const memoryOf = ({ store }: Life): string | undefined => store.strategy("weekly")?.memory;
const statesOf = ({ db }: Life, strategy: string): unknown[] =>
  db.prepare("SELECT state FROM runs WHERE strategy = ? ORDER BY slot_ms").pluck().all(strategy);

describe.each(BROKEN)("a strategy that remembers %s", (text) => {
  test("is halted alone and named, its row stays as it is, and the others trade", async () => {
    const { outside, open } = begin();
    const first = open();
    await first.engine.start();
    await turn(outside, first, 1);
    first.kill();
    breakMemory(first, text);
    first.db.close();
    const life = open();
    await life.engine.start();
    const isTraded = (): boolean => statesOf(life, "other").includes("filled");
    expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isTraded })).toBe(true);
    expect(life.errors).toEqual([]);
    expect(statesOf(life, "weekly")).toEqual([]);
    expect(memoryOf(life)).toBe(text);
    expect(life.store.mode("weekly")).toMatchObject({ mode: "halted", setBy: "swapd" });
    expect(life.store.mode("other")).toBeUndefined();
    const reported = outside.reported.filter(({ code }) => code === "MEMORY_UNREADABLE");
    expect(reported).toMatchObject([{ severity: "critical", text: expect.stringContaining("swapd resume weekly") }]);
  });

  test("ends no start when its file was edited, and no daemon when somebody resumes it unmended", async () => {
    const { outside, spec, strategies, open } = begin();
    const first = open();
    await first.engine.start();
    first.kill();
    breakMemory(first, text);
    first.db.close();
    const edited = { spec: { ...spec, retryForSeconds: 30 }, specHash: "edited" };
    const life = open([edited, ...strategies.slice(1)]);
    await life.engine.start();
    const args = { scope: "weekly", mode: "active" };
    life.store.addRequest({ command: "mode", arguments: args, madeBy: "ops", madeAtMs: outside.clock.nowMs() });
    await turn(outside, life, 100);
    expect(life.errors).toEqual([]);
    expect(memoryOf(life)).toBe(text);
    expect(life.store.mode("weekly")).toMatchObject({ mode: "halted", setBy: "swapd" });
    expect(outside.reported.filter(({ code }) => code === "MEMORY_UNREADABLE")).toHaveLength(2);
  });

  test("has its open swap followed to its end, which is written nowhere into that memory", async () => {
    const { outside, open } = begin();
    const first = open();
    await first.engine.start();
    const isSigned = (): boolean => first.store.unsettledSwaps().some((id) => id.includes("run"));
    expect(await turnUntil(outside, first, { maxSeconds: 60, isDone: isSigned })).toBe(true);
    const [swapId = ""] = first.store.unsettledSwaps();
    const { strategyId = "" } = first.store.run(swapId.split(".")[0] ?? "") ?? {};
    first.kill();
    first.db.prepare("UPDATE strategies SET memory = ? WHERE id = ?").run(text, strategyId);
    first.db.close();
    const life = open();
    await life.engine.start();
    const isFilled = (): boolean => statesOf(life, strategyId).includes("filled");
    expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: isFilled })).toBe(true);
    expect(life.errors).toEqual([]);
    expect(life.store.strategy(strategyId)?.memory).toBe(text);
  });
});

describe("a wallet that is gone", () => {
  test("from under an open swap refuses the start by name, and is no matter once the swap has ended", async () => {
    const { outside, open } = begin();
    const first = open();
    await first.engine.start();
    expect(
      await turnUntil(outside, first, { maxSeconds: 60, isDone: () => first.store.unsettledSwaps().length > 0 }),
    ).toBe(true);
    const [swapId = ""] = first.store.unsettledSwaps();
    const wallet = outside.spec.wallet.address;
    first.kill();
    first.db.close();
    const without = open();
    without.context.deps.signers instanceof Map && without.context.deps.signers.clear();
    await expect(without.engine.start()).rejects.toThrow(
      new RegExp(`run_.* is open .*wallet ${wallet}.*put the wallet back`),
    );
    expect(without.store.swapState(swapId)).toBeDefined();
    without.db.close();

    const back = open([]);
    await back.engine.start();
    await turn(outside, back, 120);
    expect(back.errors).toEqual([]);
    expect(back.store.openWork()).toEqual([]);
    back.kill();
    back.db.close();
    const later = open([]);
    later.context.deps.signers instanceof Map && later.context.deps.signers.clear();
    await later.engine.start();
    expect(later.errors).toEqual([]);
  });
});
