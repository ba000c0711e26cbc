import { describe, expect, it } from "vitest";
import { toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { StrategySpec } from "../../../src/domain/strategy/spec.ts";
import {
  decideStrategy,
  initialStrategyMemory,
  strategyEdited,
  strategyRunEnded,
} from "../../../src/domain/strategy/strategy.ts";
import type { SweepSpec } from "../../../src/domain/strategy/sweep.ts";
import type { ValueAveragingSpec } from "../../../src/domain/strategy/value-averaging.ts";
import { HOUR, legsIn, mixSpec, RebalanceLife, RULES, START_MS, target } from "./rebalance-world.ts";
import { cross, leg, spec, trigger, usdc } from "./threshold-world.ts";
import { common, of, USDC, view, WBTC, WETH } from "./world.ts";

const OTHER_KEY = toAddress(`0x${"b".repeat(40)}`);

/** Each edit of a wallet: the file names another one, or the name of the same one stands for another key. */
const EDITS = [
  ["another wallet", { name: "second", address: OTHER_KEY }],
  ["another key of the same name", { name: common.wallet.name, address: OTHER_KEY }],
] as const;

type Wallet = StrategySpec["wallet"];

function moved<Spec extends StrategySpec>(strategy: Spec, wallet: Wallet): Spec {
  return { ...strategy, wallet, recipient: wallet.address };
}

describe.each(EDITS)("under %s", (_name, wallet) => {
  it("ALL-11 what a mix of the other wallet held is no measure of a deposit", () => {
    const mix = mixSpec([target(WETH, 50), target(USDC, 50)], { onDeposit: "buy-underweight" });
    const life = holding(mix, { weth: "1", usdc: "3000" });
    expect(legsIn(life.slot())).toEqual(["within_bands"]);
    move(life, mix, wallet);
    own(life, { weth: "10", usdc: "34000" });
    expect(legsIn(life.pass(HOUR).slot())).toEqual(["within_bands"]);
  });

  it("ALL-11 nothing is owed of what the other wallet sold, and its drift and cooldown are not this one's", () => {
    const bands = { ...RULES, soft: { forSeconds: 7_200, cooldownSeconds: 86_400 } };
    const mix = mixSpec([target(WETH, 50), target(WBTC, 50)], { bands, trades: { via: USDC, onIncomplete: "retry" } });
    const life = holding(mix, { weth: "1", usdc: "5000" });
    life.memory = {
      ...life.remembered(),
      ...{ owed: { [USDC.address]: of(USDC, 1_000).toString() }, softSinceMs: START_MS - 4 * HOUR },
      ...{ lookedMs: START_MS - HOUR, doneMs: START_MS - HOUR, isConverging: true },
    };
    move(life, mix, wallet);
    own(life, { weth: "1", usdc: "5000" });
    expect(legsIn(life.slot())).toEqual(["confirming"]);
    expect(legsIn(life.pass(2 * HOUR).slot())).toEqual(["0.3 WETH -> USDC", "proceeds of 0: USDC -> WBTC"]);
  });

  it("ALL-11 a sweep that was under way waits for the mark again, and what was sold in the last day stays sold", () => {
    const from = [{ token: WETH, keep: of(WETH, "0.2"), above: { raw: of(WETH, 5) } }];
    const sweep: SweepSpec = {
      ...{ ...common, kind: "sweep", from, to: USDC, refill: undefined, lot: { min: usd("100"), max: usd("900") } },
      ...{ maxPerDay: usd("950"), cooldownSeconds: 0, exit: true },
    };
    const memory = soldOnce(sweep);
    const after = moved(sweep, wallet);
    const kept = strategyEdited(sweep, after, memory);
    expect(decideSweep(after, kept, 3).outcome).toMatchObject({ kind: "skip", reason: "below_mark" });
    expect(decideSweep(after, kept, 6).outcome).toMatchObject({ kind: "skip", reason: "turnover_spent" });
  });

  it("ALL-11 a ladder sells shares of this wallet's allocation; a level that has sold stays done", () => {
    const level = (id: string, price: number, ppm: number) =>
      leg({ id, role: "level", trigger: cross("above", price), amount: { share: toPpm(ppm) } });
    const ladder = spec([level("one", 4_000, 250_000), level("two", 4_500, 250_000), level("three", 5_000, 500_000)], {
      allocation: "free",
    });
    const strategy = trigger(ladder);
    strategy.see(3_900);
    strategy.see(4_000);
    expect(strategy.end()).toBe(of(WETH, 2));
    strategy.edit(moved(ladder, wallet));
    strategy.fund(of(WETH, 40));
    strategy.see(3_900);
    expect(strategy.see(4_000)).toBe("not_triggered");
    strategy.see(4_500);
    expect(strategy.end()).toBe(of(WETH, 10));
    strategy.see(5_000);
    expect(strategy.end()).toBe(of(WETH, 20));
  });

  it("ALL-11 a allocation of a fixed amount is whole again", () => {
    const rearm = { price: usdc(4_200), cooldownSeconds: 60, times: undefined };
    const allocated = spec([leg({ amount: { raw: of(WETH, 3) }, rearm })], { allocation: { raw: of(WETH, 4) } });
    const strategy = trigger(allocated);
    strategy.see(4_000);
    strategy.see(4_500);
    strategy.end();
    strategy.edit(moved(allocated, wallet));
    strategy.see(4_000, 90);
    strategy.see(4_500);
    expect(strategy.end()).toBe(of(WETH, 3));
  });

  it("ALL-11 a trailing stop keeps its mark: that is the price's, not the wallet's", () => {
    const trail = { kind: "trail", share: toPpm(100_000), activateAt: usdc(4_000) } as const;
    const stop = spec([leg({ trigger: trail, floor: { price: usdc(1_000) } })]);
    const strategy = trigger(stop);
    for (const price of [4_000, 5_000, 5_000]) strategy.see(price);
    strategy.edit(moved(stop, wallet));
    expect(strategy.see(4_500)).toBeInstanceOf(Array);
  });

  it("VAL-12 a value path goes on over what was bought in both wallets, and sells only what was bought in this one", () => {
    const path: ValueAveragingSpec = {
      ...{ ...common, kind: "value-averaging", pay: USDC, buy: WETH, path: { step: of(USDC, 100), growth: toPpm(0) } },
      ...{ maxContribution: of(USDC, 300), min: of(USDC, 10), budget: undefined, allowSell: true },
      ...{ startMs: undefined, onInsufficient: "skip" },
    };
    const after = moved(path, wallet);
    const kept = strategyEdited(path, after, { version: 1, slots: 1, lastMs: START_MS - HOUR });
    const below = decidePath(after, kept, "0.025");
    expect(below.outcome).toMatchObject({ swaps: [{ sell: USDC, amount: { raw: of(USDC, 100) } }] });
    const above = decidePath(after, kept, "1");
    expect(above.outcome).toMatchObject({ kind: "skip", reason: "insufficient_balance" });
    const later = decidePath(after, above.memory, "1.05");
    expect(later.outcome).toMatchObject({ swaps: [{ sell: WETH, amount: { raw: of(WETH, "0.05") } }] });
  });
});

it("ALL-11 the wallet's own name may change: it is the same money", () => {
  const life = holding(mixSpec([target(WETH, 50), target(WBTC, 50)]), { weth: "1", usdc: "0" });
  const owed = { ...life.remembered(), owed: { [USDC.address]: "8" } };
  const renamed = { ...life.spec, wallet: { ...common.wallet, name: "treasury" } };
  expect(strategyEdited(life.spec, renamed, owed)).toMatchObject({ owed: { [USDC.address]: "8" } });
});

interface Held {
  readonly weth: string;
  readonly usdc: string;
}

function holding(mix: ReturnType<typeof mixSpec>, held: Held): RebalanceLife {
  return new RebalanceLife(mix, [
    [WETH, held.weth],
    [WBTC, "0.02"],
    [USDC, held.usdc],
  ]);
}

function own(life: RebalanceLife, held: Held): void {
  life.free.set(WETH, of(WETH, held.weth));
  life.free.set(USDC, of(USDC, held.usdc));
}

function move(life: RebalanceLife, mix: ReturnType<typeof mixSpec>, wallet: Wallet): void {
  life.spec = moved(mix, wallet);
  life.memory = JSON.parse(JSON.stringify(strategyEdited(mix, life.spec, life.memory)));
}

function usd(text: string): UsdPrice {
  const parsed = parseUsd(text);
  if (parsed === undefined) throw new Error(`no dollars: ${text}`);
  return parsed;
}

const PRICES = [
  [WETH, "4000"],
  [USDC, "1"],
] as const;

function decideSweep(sweep: SweepSpec, memory: unknown, weth: number) {
  const seen = view({ nowMs: START_MS, free: [[WETH, of(WETH, weth)]], prices: PRICES });
  return decideStrategy(sweep, seen, memory);
}

/** The memory of a sweep of 6 WETH after its first lot of 900 USD. */
function soldOnce(sweep: SweepSpec): unknown {
  const { outcome, memory } = decideSweep(sweep, initialStrategyMemory(sweep), 6);
  if (outcome.kind !== "swap") throw new Error(`nothing was swept: ${outcome.detail}`);
  const swaps = outcome.swaps.map(({ sell, buy, amount }, position) => {
    const sold = amount.kind === "fixed" ? amount.raw : 0n;
    return { position, sell, buy, sold, bought: 1n, reason: undefined };
  });
  const end = { slotMs: START_MS, nowMs: START_MS, filled: true, swaps };
  return JSON.parse(JSON.stringify(strategyRunEnded(sweep, memory, end).memory));
}

function decidePath(path: ValueAveragingSpec, memory: unknown, bought: string) {
  const seen = view({
    ...{ nowMs: START_MS, instants: 1, prices: PRICES, bought: [[WETH, of(WETH, bought)]] },
    free: [
      [USDC, of(USDC, 10_000)],
      [WETH, of(WETH, 50)],
    ],
  });
  return decideStrategy(path, seen, JSON.parse(JSON.stringify(memory)));
}
