import { expect } from "vitest";
import { toPpm } from "../../src/domain/money/fraction.ts";
import type { Run } from "../../src/domain/run/run.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { EngineSettings } from "../../src/engine/engine-context.ts";
import { HUNDRED_USDC, SLOT_MS, USDC } from "./builders.ts";
import { ACCOUNT, createOutside, Killed, type Life, type Outside, openLife, turnUntil } from "./engine-life.ts";
import { readTransaction } from "./fake-chain.ts";

// A wallet that sends privately, and publicly what the relay brought into no block.

export const SHOWN = toPpm(1_000);
export const fallback = { afterBlocks: 6, slippage: SHOWN };

export function runOf({ db, store }: Life): Run {
  const run = store.run(db.prepare<[], string>("SELECT id FROM runs ORDER BY slot_ms").pluck().get() ?? "none");
  if (run === undefined) throw new Error("no run yet");
  return run;
}

export function isFilled({ db }: Life): boolean {
  return db.prepare("SELECT state FROM runs ORDER BY slot_ms").pluck().get() === "filled";
}

export function hiddenWorld(change: Partial<StrategySpec> = {}): Outside {
  const outside = createOutside(SLOT_MS - 1_500, { schedule: { kind: "every", seconds: 120 }, ...change });
  outside.chain.visibility = "private";
  return outside;
}

export async function begin(outside: Outside, settings: Partial<EngineSettings> = { fallback }): Promise<Life> {
  const life = openLife(outside, { settings });
  await life.engine.start();
  return life;
}

/** A relay that brings approvals into a block, and no swap. */
export function keepsSwaps({ chain }: Outside): void {
  chain.keeps = (raw) => readTransaction(raw).to !== USDC.address;
}

export function checkShown({ chain }: Outside): void {
  const kept = new Set(chain.kept);
  expect(kept.size).toBeGreaterThan(0);
  expect(chain.sent.filter((raw) => kept.has(raw))).toEqual([]);
}

/** What the relay does on the way: it keeps everything, or brings approvals into a block and no swap. */
const RELAYS: readonly ((outside: Outside) => void)[] = [() => undefined, keepsSwaps];

/** Kills at each n-th place on the way of each relay, in a world of its own, and lets the next life come to the fill. */
export async function killOnTheWay(every: number): Promise<void> {
  for (const [offset, relay] of RELAYS.entries()) {
    const places = await placesOnTheWay(relay);
    expect(places.length).toBeGreaterThan(20);
    for (const [index, label] of places.entries()) {
      if (index % every === Math.floor((offset * every) / RELAYS.length)) await killAt({ index, label }, relay);
    }
  }
}

async function placesOnTheWay(relay: (outside: Outside) => void): Promise<readonly string[]> {
  const outside = hiddenWorld();
  relay(outside);
  const life = await begin(outside);
  expect(await turnUntil(outside, life, { maxSeconds: 240, isDone: () => isFilled(life) })).toBe(true);
  return [...life.passed];
}

async function killAt(
  { index, label }: { readonly index: number; readonly label: string },
  relay: (outside: Outside) => void,
): Promise<void> {
  const what = `killed at place ${index}: ${label}`;
  const outside = hiddenWorld();
  relay(outside);
  const first = openLife(outside, {
    settings: { fallback },
    killAt: (_label, passed) => passed.length === index + 1,
  });
  await first.engine.start().catch((error: unknown) => {
    if (!(error instanceof Killed)) throw error;
  });
  await turnUntil(outside, first, { maxSeconds: 240, isDone: () => first.isDead() });
  expect([first.isDead(), first.passed.at(-1), first.errors], what).toEqual([true, label, []]);
  const second = await begin(outside);
  await turnUntil(outside, second, { maxSeconds: 400, isDone: () => isFilled(second) });
  expect(second.errors, what).toEqual([]);
  const { swaps, state } = runOf(second);
  const balance = await outside.chain.balance(USDC.address, ACCOUNT);
  expect([state, swaps.filter(({ fill }) => fill !== undefined).length], what).toEqual(["filled", 1]);
  expect(balance, what).toBe(1_000_000_000n - HUNDRED_USDC);
  checkShown(outside);
}
