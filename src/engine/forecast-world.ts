import type { ForecastStrategy, ForecastWallet, ForecastWorld } from "../domain/forecast/forecast.ts";
import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { ReferencePrice } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import type { PriceBar, ViewNeeds } from "../domain/strategy/decision.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { initialStrategyMemory, isExitStrategy, strategyNeeds } from "../domain/strategy/strategy.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { PriceSource } from "../ports/price-source.ts";
import type { Store } from "../ports/store.ts";
import type { EngineSettings } from "./engine-context.ts";
import { effectiveMode } from "./modes.ts";
import { hasReadableMemory, parseStoredMemory } from "./quarantine.ts";

/** What a forecast is read with. */
export interface ForecastDeps {
  readonly store: Store;
  readonly chain: Pick<Chain, "balance">;
  readonly prices: PriceSource;
  readonly clock: Clock;
  readonly zones: ZoneOffsets;
}

/** A forecast's beginning, and the prices that could not be read. */
export interface ForecastStart {
  readonly world: ForecastWorld;
  readonly unpriced: readonly { readonly token: string; readonly detail: string }[];
}

/**
 * Reads what the next slots start from: memories and modes of the database, balances and reference prices of the chain.
 * @throws ChainReadError when the chain cannot be read
 */
export async function readForecastStart(
  deps: ForecastDeps,
  settings: Pick<EngineSettings, "policy" | "strategies">,
  slots: number,
): Promise<ForecastStart> {
  const nowMs = deps.clock.nowMs();
  const strategies = settings.strategies.map(({ spec }) => standing(deps.store, spec, nowMs));
  const needs = strategies.map(({ spec, memory }) => ({ spec, needs: strategyNeeds(spec, memory) }));
  const prices = new Map<Address, ReferencePrice>();
  const unpriced: { token: string; detail: string }[] = [];
  for (const token of uniqueTokens(needs.map((entry) => entry.needs))) {
    const price = await deps.prices.price(token);
    if ("missing" in price) unpriced.push({ token: token.symbol, detail: price.detail });
    else prices.set(token.address, price);
  }
  const wallets = new Map<Address, ForecastWallet>();
  for (const wallet of new Set(needs.map(({ spec }) => spec.wallet.address))) {
    const own = needs.filter(({ spec }) => spec.wallet.address === wallet).map((entry) => entry.needs);
    wallets.set(wallet, await readWallet(deps, wallet, { tokens: uniqueTokens(own), policy: settings.policy }));
  }
  const { policy } = settings;
  const spentMonth = deps.store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.month, "");
  const spentDay = deps.store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.day, "");
  const world: ForecastWorld = {
    nowMs,
    strategies,
    wallets,
    prices,
    bars: barsOf(
      deps.store,
      needs.map((entry) => entry.needs),
      nowMs,
    ),
    limits: policy,
    // As if today's were made now and the month's long ago: what counts for a ceiling counts a little longer, never less.
    trades: [
      { atMs: nowMs, usd: spentDay, atLeastUsd: spentDay },
      { atMs: nowMs - CEILING_WINDOWS_MS.day - 1, usd: spentMonth - spentDay, atLeastUsd: spentMonth - spentDay },
    ],
    zones: deps.zones,
    slots,
  };
  return { world, unpriced };
}

/** A strategy as the database knows it. @throws Error when it was not registered: a broken invariant */
function standing(store: Store, spec: StrategySpec, nowMs: number): ForecastStrategy {
  const row = store.strategy(spec.id);
  if (row === undefined) throw new Error(`strategy ${spec.id} is not registered`);
  const { mode } = effectiveMode(store, spec.id);
  const barred = mode === "paused" || mode === "halted" || (mode === "exits-only" && !isExitStrategy(spec));
  return {
    spec,
    memory: hasReadableMemory({ ...row, spec }) ? parseStoredMemory(row.memory) : initialStrategyMemory(spec),
    handledMs: Math.max(row.lastSlotMs, nowMs),
    barred: barred ? mode : hasReadableMemory({ ...row, spec }) ? undefined : "halted",
    spent: store.soldBy(spec.id),
    bought: store.boughtBy(spec.id),
  };
}

async function readWallet(
  deps: ForecastDeps,
  wallet: Address,
  asked: { tokens: readonly Token[]; policy: EngineSettings["policy"] },
): Promise<ForecastWallet> {
  const free = new Map<Address, bigint>();
  const balances = new Map<Address, bigint>();
  const outside = new Map<Address, bigint>();
  for (const token of asked.tokens) {
    const balance = await deps.chain.balance(token.address, wallet);
    const reserve = token.address === NATIVE_TOKEN ? asked.policy.gasReserve : 0n;
    const held = deps.store.reserved(wallet, token.address) + reserve;
    balances.set(token.address, balance);
    free.set(token.address, balance > held ? balance - held : 0n);
    const net = deps.store.netOfSwaps(wallet, token.address);
    if (net !== undefined) outside.set(token.address, balance - net);
  }
  return { free, balances, outside };
}

function uniqueTokens(needs: readonly ViewNeeds[]): readonly Token[] {
  return [...new Map(needs.flatMap((need) => need.tokens).map((token) => [token.address, token])).values()];
}

function barsOf(store: Store, needs: readonly ViewNeeds[], nowMs: number): ReadonlyMap<Address, readonly PriceBar[]> {
  const bars = new Map<Address, readonly PriceBar[]>();
  for (const { token, seconds } of needs.flatMap((need) => need.bars)) {
    const known = bars.get(token.address) ?? [];
    const read = store.priceBars(token.address, nowMs - seconds * 1_000);
    if (read.length >= known.length) bars.set(token.address, read);
  }
  return bars;
}
