import { describe, expect, test } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { GLOBAL_SCOPE } from "../../src/domain/run/operating-mode.ts";
import { createClockWatch } from "../../src/engine/clock-watch.ts";
import { watchDrawdown } from "../../src/engine/drawdown.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { EngineContext } from "../../src/engine/engine-context.ts";
import { revokeLeftovers } from "../../src/engine/janitor.ts";
import type { QuestionKind } from "../../src/ports/questions.ts";
import { NOW_MS, policySample, ROUTER, runSample, SLOT_MS, USDC } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";
import { swapIn } from "../support/reading-samples.ts";
import { writtenBetween } from "../support/written-between.ts";

// What else may be written after a unit of work was submitted and before its rows are read.

const running = new AbortController().signal;
const grant = { wallet: ACCOUNT, token: USDC.address, spender: ROUTER };

/** The engine's context on rows to which something else is written first. */
function between({ context, store }: Life, kind: QuestionKind, happen: () => void | Promise<void>): EngineContext {
  return { ...context, deps: { ...context.deps, store: writtenBetween(store, kind, happen) } };
}

function halt({ store }: Life): void {
  store.setMode({ scope: GLOBAL_SCOPE, mode: "halted", setBy: "anna", reason: "a check", atMs: NOW_MS });
}

/** A swap that reserves some of the wallet's USDC; once it is signed it may take that at any moment. */
function beginSwap({ store }: Life, state: "planned" | "signed"): void {
  addRun(store, runSample({ swaps: [swapIn(state, { wallet: ACCOUNT })] }));
}

describe("a fall of the wallets' value that is found while", () => {
  /** One sample, and a price that falls by a third before the next. */
  async function fallen(): Promise<{ outside: Outside; life: Life; check(context: EngineContext): Promise<void> }> {
    const outside = createOutside(NOW_MS);
    const drawdown = { stop: toPpm(100_000), overSeconds: 604_800 };
    const life = openLife(outside, { settings: { policy: policySample({ recipients: [ACCOUNT], drawdown }) } });
    const check = async (context: EngineContext): Promise<void> => {
      await outside.clock.advance(60_000);
      await watchDrawdown(context, running, { problem: () => undefined });
    };
    await check(life.context);
    const { price } = life.context.deps.prices;
    life.context.deps.prices.price = async (token) => {
      const reported = await price(token);
      return "missing" in reported ? reported : { ...reported, usd: ((reported.usd * 2n) / 3n) as typeof reported.usd };
    };
    return { outside, life, check };
  }

  test("a person halts everything leaves it halted", async () => {
    const { life, check } = await fallen();
    await check(between(life, "drawdown", () => halt(life)));
    expect(life.store.mode(GLOBAL_SCOPE)).toMatchObject({ mode: "halted", setBy: "anna" });
    expect(life.store.drawdown()?.stopped).toBe(true);
  });

  test("swaps change what the rows count is no sample, also where none of them is open any more", async () => {
    const { life, check } = await fallen();
    const before = life.store.drawdown();
    await check(between(life, "drawdown", () => beginSwap(life, "planned")));
    expect([life.store.drawdown(), life.store.mode(GLOBAL_SCOPE)]).toEqual([before, undefined]);
  });
});

describe("a leftover allowance", () => {
  function begin(left: bigint): { outside: Outside; life: Life } {
    const outside = createOutside(NOW_MS);
    outside.chain.ledger.setAllowance(USDC.address, ACCOUNT, left);
    const life = openLife(outside);
    life.store.writeRecord(runSample(), { kind: "grant", ...grant }, 1);
    return { outside, life };
  }
  const revocations = ({ lanes }: Life): number => lanes.openIntents(ACCOUNT, 31_337).length;

  test("is taken back where nothing comes between", async () => {
    const { life } = begin(5n);
    await revokeLeftovers(between(life, "grant", () => undefined));
    expect(revocations(life)).toBe(1);
  });

  test("is not taken back where everything was halted while the chain was asked", async () => {
    const { life } = begin(5n);
    await revokeLeftovers(between(life, "grant", () => halt(life)));
    expect(revocations(life)).toBe(0);
  });

  test("is not taken back under a swap that began while the chain was asked", async () => {
    const { life } = begin(5n);
    await revokeLeftovers(between(life, "grant", () => beginSwap(life, "signed")));
    expect(revocations(life)).toBe(0);
  });

  test("is not forgotten under a swap that began while the chain was asked", async () => {
    const { life } = begin(0n);
    await revokeLeftovers(between(life, "grant", () => beginSwap(life, "signed")));
    expect(life.db.prepare("SELECT count(*) FROM grants").pluck().get()).toBe(1);
  });
});

test("a clock that jumps while a check of it is written is not believed by that check", async () => {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const context = between(life, "left-ahead", () => outside.clock.jumpTo(SLOT_MS + 3_600_000));
  const watch = createClockWatch(context);
  watch.observe(await outside.chain.latest());
  expect(await watch.check()).toContain("ahead of the chain's time");
});

describe("a start whose rows are still being checked against the marker", () => {
  /** An engine whose first commit of that waits until it is let go. */
  function starting() {
    const outside = createOutside(SLOT_MS - 1_500);
    const life = openLife(outside);
    let letGo = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const errors: unknown[] = [];
    const engine = createEngine(
      between(life, "standing", () => gate),
      (error) => errors.push(error),
    );
    return { outside, life, engine, errors, letGo };
  }

  test("takes no request and no slot: what stands in an older copy is refused first", async () => {
    const { outside, life, engine, errors, letGo } = starting();
    const asked = {
      command: "run",
      arguments: { strategy: outside.spec.id, extra: "true" },
      madeBy: "anna",
      madeAtMs: outside.clock.nowMs(),
    };
    const started = engine.start();
    await quiet();
    const id = life.store.addRequest(asked);
    for (let second = 0; second < 3; second += 1) {
      await outside.clock.advance(1_000);
      await engine.tick();
    }
    expect(life.store.answerOf(id)).toContain("refused: the daemon waits for its node to begin");
    expect(life.store.openWork()).toEqual([]);
    letGo();
    await started;
    const again = life.store.addRequest(asked);
    await engine.tick();
    expect(life.store.answerOf(again)).toContain("started");
    await engine.stop();
    expect(errors).toEqual([]);
  });

  test("is waited for by a stop, and begins nothing after it", async () => {
    const { life, engine, errors, letGo } = starting();
    const started = engine.start();
    await quiet();
    const order: string[] = [];
    const stopped = engine.stop().then(() => order.push("stopped"));
    await quiet();
    expect(order).toEqual([]);
    letGo();
    await Promise.all([started, stopped]);
    life.db.close();
    await quiet();
    expect(errors).toEqual([]);
  });
});
