import { describe, expect, test } from "vitest";
import type { DcaSpec } from "../../src/domain/strategy/dca.ts";
import { HUNDRED_USDC, runSample, SLOT_MS, thresholdSpec, WBTC } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn, turnUntil } from "../support/engine-life.ts";

const START_MS = SLOT_MS - 1_500;
const CATCH_UP = { policy: "accumulate", maxRuns: 1, maxMultiple: 5, windowSeconds: 3_600 } as const;
const FIFTY_USDC = HUNDRED_USDC / 2n;

async function begin() {
  const outside = createOutside(START_MS);
  const life = openLife(outside);
  await life.engine.start();
  const spec = outside.spec as DcaSpec;
  const edited = { spec: { ...spec, sell: { ...spec.sell, raw: FIFTY_USDC } }, specHash: "edited" };
  return { outside, life, edited };
}

function runs(life: Life): { slot: number; specHash: string; state: string; sold: string | null }[] {
  return life.db
    .prepare<[], { slot: number; specHash: string; state: string; sold: string | null }>(
      `SELECT slot_ms AS slot, spec_hash AS specHash, runs.state AS state, swaps.amount_in AS sold
       FROM runs LEFT JOIN swaps ON swaps.run_id = runs.id ORDER BY slot_ms`,
    )
    .all();
}

describe("an edited strategy", () => {
  test("applies from its next slot: the open run goes on under the edition that it began with", async () => {
    const { outside, life, edited } = await begin();
    const isOpen = (): boolean => runs(life)[0]?.state === "executing";
    expect(await turnUntil(outside, life, { maxSeconds: 5, isDone: isOpen })).toBe(true);
    await life.engine.adopt([edited]);
    expect(life.store.strategy("weekly")?.specHash).toBe("spec");
    await turn(outside, life, 70);
    expect(life.errors).toEqual([]);
    expect(runs(life)).toMatchObject([
      { slot: SLOT_MS, specHash: "spec", state: "filled", sold: HUNDRED_USDC.toString() },
      { slot: SLOT_MS + 60_000, specHash: "edited", sold: FIFTY_USDC.toString() },
    ]);
    expect(life.store.strategy("weekly")?.specHash).toBe("edited");
  });

  test("applies at once where nothing is open", async () => {
    const { outside, life, edited } = await begin();
    await life.engine.adopt([edited]);
    await turn(outside, life, 4);
    expect(runs(life)).toMatchObject([{ slot: SLOT_MS, specHash: "edited", sold: FIFTY_USDC.toString() }]);
  });

  test("without a file starts no further run, and its open one comes to its end", async () => {
    const { outside, life } = await begin();
    expect(await turnUntil(outside, life, { maxSeconds: 5, isDone: () => runs(life)[0]?.state === "executing" })).toBe(
      true,
    );
    await life.engine.adopt([]);
    await turn(outside, life, 130);
    expect(life.errors).toEqual([]);
    expect(runs(life)).toMatchObject([{ slot: SLOT_MS, state: "filled" }]);
  });

  test("without a file can still be halted while its run is open", async () => {
    const { outside, life } = await begin();
    expect(await turnUntil(outside, life, { maxSeconds: 5, isDone: () => runs(life)[0]?.state === "executing" })).toBe(
      true,
    );
    await life.engine.adopt([]);
    const asked = { mode: "halted", scope: "weekly", reason: "stop it" };
    const nowMs = outside.clock.nowMs();
    life.store.addRequest({ command: "mode", arguments: asked, madeBy: "operator", madeAtMs: nowMs });
    await turn(outside, life, 2);
    expect(life.store.mode("weekly")).toMatchObject({ mode: "halted" });
  });

  test("that was taken away and put back as it was makes up for nothing of the time between", async () => {
    const outside = createOutside(START_MS, { catchUp: CATCH_UP });
    const life = openLife(outside);
    await life.engine.start();
    const files = [{ spec: outside.spec, specHash: "spec" }];
    await life.engine.adopt([]);
    await turn(outside, life, 130);
    await life.engine.adopt(files);
    await turn(outside, life, 2);
    expect(runs(life)).toEqual([]);
    await turn(outside, life, 60);
    expect(runs(life)).toMatchObject([{ slot: SLOT_MS + 3 * 60_000, sold: HUNDRED_USDC.toString() }]);
    expect(life.db.prepare("SELECT count, reason FROM gaps").all()).toEqual([{ count: 3, reason: "missed" }]);
  });

  test.each([
    ["before the restart", true],
    ["while it was stopped", false],
  ])(
    "that was taken away %s and put back over another one makes up for nothing of the time between",
    async (_, lives) => {
      const outside = createOutside(START_MS, { catchUp: CATCH_UP });
      const first = openLife(outside);
      await first.engine.start();
      if (lives) await first.engine.adopt([]);
      first.kill();
      first.db.close();
      const without = openLife(outside, { settings: { strategies: [] } });
      if (!lives) {
        await without.engine.start();
        await turn(outside, without, 130);
      }
      without.kill();
      without.db.close();
      await outside.clock.advance(lives ? 130_000 : 0);
      const next = openLife(outside);
      await next.engine.start();
      await turn(outside, next, 2);
      expect(runs(next)).toEqual([]);
      await turn(outside, next, 60);
      expect(next.errors).toEqual([]);
      expect(runs(next)).toMatchObject([{ slot: SLOT_MS + 3 * 60_000, sold: HUNDRED_USDC.toString() }]);
      expect(next.db.prepare("SELECT count, reason FROM gaps").all()).toEqual([{ count: 3, reason: "missed" }]);
    },
  );

  test("that was taken away while the daemon waits for its node makes up for nothing either", async () => {
    const outside = createOutside(START_MS, { catchUp: CATCH_UP });
    const first = openLife(outside);
    await first.engine.start();
    first.kill();
    first.db.close();
    outside.chain.isDown = true;
    const waiting = openLife(outside, { settings: { strategies: [] } });
    await waiting.engine.start();
    waiting.kill();
    waiting.db.close();
    outside.chain.isDown = false;
    await outside.clock.advance(130_000);
    const next = openLife(outside);
    await next.engine.start();
    await turn(outside, next, 2);
    expect(runs(next)).toEqual([]);
  });

  /** Every hour, and up to half an hour later. */
  const DELAYED = { kind: "every", seconds: 3_600, jitterSeconds: 1_800, anchorSeconds: SLOT_MS / 1_000 } as const;

  test.each([
    ["a comment", "at work", HUNDRED_USDC],
    ["another amount", "at work", FIFTY_USDC],
    ["another amount", "stopped", FIFTY_USDC],
  ])("with %s, edited while the daemon is %s, starts the slot that jitter still delays", async (edit, when, sold) => {
    const outside = createOutside(START_MS, { schedule: DELAYED });
    const life = openLife(outside);
    await life.engine.start();
    await turn(outside, life, 10);
    expect(runs(life)).toEqual([]);
    const spec = outside.spec as DcaSpec;
    const amount = edit === "a comment" ? {} : { sell: { ...spec.sell, raw: FIFTY_USDC } };
    const file = { spec: { ...spec, ...amount }, specHash: "edited" };
    if (when === "at work") await life.engine.adopt([file]);
    else life.kill();
    const next = when === "at work" ? life : openLife(outside, { settings: { strategies: [file] } });
    if (next !== life) await next.engine.start();
    await turn(outside, next, 1_900);
    expect(runs(next)).toMatchObject([{ slot: SLOT_MS, specHash: "edited", state: "filled", sold: sold.toString() }]);
    expect(next.db.prepare("SELECT * FROM gaps").all()).toEqual([]);
  });

  test.each([
    ["a comment", 3n * HUNDRED_USDC],
    ["another amount", 3n * FIFTY_USDC],
  ])("with %s goes on with the slots that wait for the open run", async (edit, sold) => {
    const outside = createOutside(START_MS, { catchUp: CATCH_UP, retryForSeconds: 200 });
    const life = openLife(outside);
    await life.engine.start();
    await turn(outside, life, 4);
    const { mine } = outside.chain;
    outside.chain.mine = () => undefined;
    await turn(outside, life, 200);
    expect(runs(life)).toMatchObject([{ state: "executing" }]);
    const spec = outside.spec as DcaSpec;
    const amount = edit === "a comment" ? {} : { sell: { ...spec.sell, raw: FIFTY_USDC } };
    await life.engine.adopt([{ spec: { ...spec, ...amount }, specHash: "edited" }]);
    outside.chain.mine = mine;
    await turn(outside, life, 30);
    expect(runs(life)).toMatchObject([
      { slot: SLOT_MS, specHash: "spec" },
      { specHash: "edited", state: "filled", sold: sold.toString() },
    ]);
    expect(life.db.prepare("SELECT DISTINCT reason FROM gaps").pluck().all()).toEqual(["accumulated"]);
  });

  test("with another amount, edited over a downtime, makes up for none of its slots", async () => {
    const { outside, life, edited } = await begin();
    life.kill();
    await outside.clock.advance(130_000);
    const next = openLife(outside, { settings: { strategies: [edited] } });
    await next.engine.start();
    await turn(outside, next, 2);
    expect(runs(next)).toEqual([]);
    expect(next.db.prepare("SELECT count, reason FROM gaps").all()).toEqual([{ count: 3, reason: "missed" }]);
  });

  test.each([
    ["run", 1, { kind: "every", seconds: 60 }, [1]],
    ["skip", 1, { kind: "every", seconds: 60 }, [1]],
    ["skip", 3, { kind: "every", seconds: 60 }, [3]],
    ["run", 1, { kind: "every", seconds: 600 }, [1]],
    // Three that lie weeks apart take the place of one that lies a year apart.
    ["skip", 3, { kind: "every", seconds: 365 * 86_400, anchorSeconds: SLOT_MS / 1_000 + 100 }, [1]],
  ] as const)(
    "SCH-25 with another schedule after swapd %s, %i times, has slots of its own used up instead",
    async (command, times, schedule, counts) => {
      const day = 86_400;
      const monthly = { kind: "every", seconds: 30 * day, anchorSeconds: SLOT_MS / 1_000 + 20 * day } as const;
      const outside = createOutside(START_MS, { schedule: monthly });
      const life = openLife(outside);
      await life.engine.start();
      for (let asked = 0; asked < times; asked += 1) {
        const request = { arguments: { strategy: "weekly" }, madeBy: "ops", madeAtMs: outside.clock.nowMs() };
        life.store.addRequest({ command, ...request });
      }
      await turn(outside, life, 30);
      const extra = runs(life).length;
      const before = life.db.prepare("SELECT coalesce(max(id), 0) FROM gaps").pluck().get();
      await life.engine.adopt([{ spec: { ...outside.spec, schedule }, specHash: "edited" }]);
      const used = life.db
        .prepare("SELECT count, reason, last_slot_ms AS lastMs FROM gaps WHERE id > ?")
        .all(before) as {
        lastMs: number;
      }[];
      expect(used).toMatchObject(counts.map((count) => ({ count, reason: "skipped_by_operator" })));
      const [{ lastMs } = { lastMs: 0 }] = used;
      expect(life.store.strategy("weekly")?.lastSlotMs).toBe(lastMs);
      if (schedule.seconds > 600) return;
      await turn(outside, life, (lastMs - outside.clock.nowMs()) / 1_000 + schedule.seconds + 5);
      expect(runs(life)).toHaveLength(extra + 1);
      expect(runs(life)).toContainEqual(expect.objectContaining({ slot: lastMs + schedule.seconds * 1_000 }));
    },
  );

  test("with another schedule leaves no slots of the one before to come", async () => {
    const outside = createOutside(START_MS, { schedule: { kind: "every", seconds: 60 } });
    const life = openLife(outside);
    await life.engine.start();
    const request = { arguments: { strategy: "weekly" }, madeBy: "ops", madeAtMs: outside.clock.nowMs() };
    life.store.addRequest({ command: "skip", ...request });
    await turn(outside, life, 1);
    const schedule = { kind: "every", seconds: 300 } as const;
    await life.engine.adopt([{ spec: { ...outside.spec, schedule }, specHash: "edited" }]);
    expect(life.db.prepare("SELECT count, reason FROM gaps").all()).toEqual([
      { count: 1, reason: "skipped_by_operator" },
      { count: 1, reason: "skipped_by_operator" },
    ]);
  });

  test("with a comment, edited over a downtime, makes up for it as if nobody had edited it", async () => {
    const outside = createOutside(START_MS, { catchUp: CATCH_UP });
    const first = openLife(outside);
    await first.engine.start();
    first.kill();
    await outside.clock.advance(130_000);
    const next = openLife(outside, { settings: { strategies: [{ spec: outside.spec, specHash: "edited" }] } });
    await next.engine.start();
    await turn(outside, next, 20);
    expect(next.store.strategy("weekly")).toMatchObject({ specHash: "edited" });
    expect(runs(next)).toMatchObject([{ specHash: "edited", sold: (3n * HUNDRED_USDC).toString() }]);
  });

  test("is taken over after a kill too, and not before its open run has ended", async () => {
    const { outside, life, edited } = await begin();
    expect(await turnUntil(outside, life, { maxSeconds: 5, isDone: () => runs(life)[0]?.state === "executing" })).toBe(
      true,
    );
    life.kill();
    life.db.close();
    const next = openLife(outside, { settings: { strategies: [edited] } });
    await next.engine.start();
    expect(next.store.strategy("weekly")?.specHash).toBe("spec");
    await turn(outside, next, 70);
    expect(runs(next)[0]).toMatchObject({ specHash: "spec", state: "filled", sold: HUNDRED_USDC.toString() });
    expect(runs(next)[1]).toMatchObject({ specHash: "edited", sold: FIFTY_USDC.toString() });
  });

  test("is another edition too when the same text names other tokens: no mark of the old pair meets a price of the new", async () => {
    const outside = createOutside(START_MS);
    const owner = { wallet: outside.spec.wallet, recipient: outside.spec.recipient };
    const stop = { ...thresholdSpec(), ...owner };
    const first = openLife(outside, { settings: { strategies: [{ spec: stop, specHash: "same text" }] } });
    await first.engine.start();
    const legs = { main: { at: { state: "armed", failures: 0, unmet: 0 }, fills: 0 } };
    const seen = JSON.stringify({ version: 2, legs, sold: "7" });
    first.db.prepare("UPDATE strategies SET memory = ?").run(seen);
    first.kill();
    const moved = openLife(outside, {
      settings: { strategies: [{ spec: { ...stop, sell: WBTC, watch: WBTC }, specHash: "same text" }] },
    });
    await moved.engine.start();
    expect(JSON.parse(moved.store.strategy("take-profit")?.memory ?? "")).toEqual({ version: 2, legs: {}, sold: "0" });
    expect(moved.store.strategy("take-profit")?.spec).toMatchObject({ sell: { symbol: "WBTC" } });
  });

  test("is another edition too when its wallet's name stands for another account: a start asks for no key that is gone", async () => {
    const outside = createOutside(START_MS);
    const first = openLife(outside);
    await first.engine.start();
    first.kill();
    first.db.prepare("UPDATE strategies SET spec = replace(spec, ?, ?)").run(ACCOUNT, `0x${"e".repeat(40)}`);
    const rotated = openLife(outside);
    await rotated.engine.start();
    expect(rotated.store.strategy("weekly")?.spec.wallet.address).toBe(ACCOUNT);
    addRun(rotated.store, runSample({ id: "run_open" }));
    rotated.kill();
    const next = openLife(outside);
    await expect(next.engine.start()).resolves.toBeUndefined();
  });
});
