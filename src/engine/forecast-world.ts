import type { RunAtOnce } from "../domain/forecast/coming-runs.ts";
import type { ForecastStrategy, ForecastWorld } from "../domain/forecast/forecast.ts";
import type { ForecastWallet } from "../domain/forecast/holdings.ts";
import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { ReferencePrice } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import { type BudgetView, budgetSpans } from "../domain/strategy/budget.ts";
import type { PriceBar, ViewNeeds } from "../domain/strategy/decision.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { initialStrategyMemory, strategyNeeds } from "../domain/strategy/strategy.ts";
import { DAY_MS, HOUR_MS } from "../domain/time/durations.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { PriceSource } from "../ports/price-source.ts";
import type { UnitOfWork } from "../ports/unit-of-work.ts";
import type { ViewRows } from "../ports/view-questions.ts";
import type { EngineSettings } from "./engine-context.ts";
import { withoutLentGas } from "./lent-gas.ts";
import { barringMode, modeOf } from "./modes.ts";
import { budgetView } from "./perform/read-view.ts";
import { hasReadableMemory, parseStoredMemory } from "./quarantine.ts";
import { refusedByToken } from "./refused-by-token.ts";

/** What a forecast is read with. */
export interface ForecastDeps {
  readonly store: Pick<UnitOfWork, "read">;
  readonly chain: Pick<Chain, "balance">;
  readonly prices: PriceSource;
  readonly clock: Clock;
  readonly zones: ZoneOffsets;
}

/** A forecast's beginning, and what could not be read. */
export interface ForecastStart {
  /** without the strategies of which nothing can be said */
  readonly world: ForecastWorld;
  /** strategies that need a balance which its token refuses to tell */
  readonly unread: readonly { readonly strategyId: string; readonly detail: string }[];
  readonly unpriced: readonly { readonly token: string; readonly detail: string }[];
}

/**
 * Reads what the next slots start from: memories and modes of the database, balances and reference prices of the chain.
 * @throws ChainReadError when the chain cannot be read
 */
export async function readForecastStart(
  deps: ForecastDeps,
  settings: Pick<EngineSettings, "policy" | "strategies" | "lentGas">,
  slots: number,
): Promise<ForecastStart> {
  const nowMs = deps.clock.nowMs();
  const { policy } = settings;
  const strategyIds = settings.strategies.map(({ spec }) => spec.id);
  const { endedAhead, busy } = await deps.store.read({ kind: "slots", strategyIds });
  const due = await readDueRuns(deps);
  const standings = await Promise.all(settings.strategies.map(({ spec }) => readStanding(deps, spec)));
  const prices = new Map<Address, ReferencePrice>();
  const unpriced: { token: string; detail: string }[] = [];
  for (const token of uniqueTokens(standings)) {
    const price = await deps.prices.price(token);
    if ("missing" in price) unpriced.push({ token: token.symbol, detail: price.detail });
    else prices.set(token.address, price);
  }
  const balances = new Map<Address, ReadonlyMap<Address, bigint>>();
  const refusals: Refusal[] = [];
  for (const [holder, tokens] of tokensByHolder(standings))
    balances.set(holder, await readBalances({ ...deps, ...settings }, { holder, tokens, refusals }));
  const unread = standings.flatMap((standing) => refusalTo(standing, refusals) ?? []);
  const seen = await Promise.all(standings.map((standing) => readRows(deps, standing, nowMs)));
  const budgetOf = ({ strategy: { spec }, rows }: Seen): BudgetView | undefined =>
    spec.budget && budgetView(rows, budgetSpans(spec.budget, nowMs, deps.zones));
  const wallets = new Map<Address, ForecastWallet>();
  const byWallet = Map.groupBy(seen, walletOf);
  for (const [holder, held] of balances) wallets.set(holder, moneyOf(held, byWallet.get(holder) ?? [], policy));
  const world: ForecastWorld = {
    nowMs,
    strategies: seen
      .filter(({ strategy: { spec } }) => unread.every(({ strategyId }) => strategyId !== spec.id))
      .map((one) => {
        const { sold, bought, accepted } = one.rows;
        const { id } = one.strategy.spec;
        const open = due.get(id);
        const isBusy = busy.has(id) && open === undefined;
        const known = { ended: endedAhead.get(id), due: open, isBusy, budget: budgetOf(one) };
        return { ...one.strategy, spent: sold, bought, accepted, ...known };
      }),
    wallets,
    prices,
    bars: longestBars(seen),
    limits: policy,
    trades: await readTrades(deps, nowMs),
    zones: deps.zones,
    slots,
  };
  return { world, unread, unpriced };
}

/** A strategy as the rows know it, before the chain is read. */
interface Standing {
  readonly strategy: Omit<ForecastStrategy, "spent" | "bought" | "accepted" | "ended" | "due" | "isBusy" | "budget">;
  readonly needs: ViewNeeds;
}

/** The same with what the rows add to what the chain shows. */
interface Seen extends Standing {
  readonly rows: ViewRows;
}

/** @throws Error when the strategy was not registered: a broken invariant */
async function readStanding({ store }: ForecastDeps, spec: StrategySpec): Promise<Standing> {
  const { strategy: row, ...rows } = await store.read({ kind: "strategy", strategyId: spec.id });
  if (row === undefined) throw new Error(`strategy ${spec.id} is not registered`);
  const { mode } = modeOf(spec.id, rows);
  const barred = barringMode(mode, spec);
  const isReadable = hasReadableMemory({ ...row, spec });
  const memory = isReadable ? parseStoredMemory(row.memory) : initialStrategyMemory(spec);
  return {
    strategy: { spec, memory, handledMs: row.lastSlotMs, barred: barred ?? (isReadable ? undefined : "halted") },
    needs: strategyNeeds(spec, memory),
  };
}

/** So many runs that have not begun are read at most: each is one of another strategy. */
const MOST_DUE = 10_000;

/** By strategy, the run that has not begun. */
async function readDueRuns({ store }: ForecastDeps): Promise<ReadonlyMap<string, RunAtOnce>> {
  const due = new Map<string, RunAtOnce>();
  for (const runId of await store.read({ kind: "due-runs", limit: MOST_DUE })) {
    const { run } = await store.read({ kind: "hold", runId });
    if (run !== undefined) due.set(run.strategyId, { slotMs: run.slotMs, slots: run.slots });
  }
  return due;
}

async function readRows({ store, zones }: ForecastDeps, standing: Standing, nowMs: number): Promise<Seen> {
  const { needs, strategy } = standing;
  const spans = budgetSpans(strategy.spec.budget, nowMs, zones);
  const rows = await store.read({
    kind: "view",
    strategyId: strategy.spec.id,
    wallet: walletOf(standing),
    tokens: uniqueTokens([standing]).map(({ address }) => address),
    bars: needs.bars.map(({ token, seconds }) => ({ token: token.address, sinceMs: nowMs - seconds * 1_000 })),
    soldSinceMs: spans.map(({ sinceMs }) => sinceMs),
  });
  return { ...standing, rows };
}

/** What a token did not tell of a holder, and why. */
interface Refusal {
  readonly holder: Address;
  readonly token: Address;
  readonly detail: string;
}

/** Balances of a holder; what a token refuses to tell is added to the refusals. */
async function readBalances(
  { chain, ...settings }: Pick<ForecastDeps, "chain"> & Pick<EngineSettings, "lentGas">,
  { holder, tokens, refusals }: { holder: Address; tokens: readonly Token[]; refusals: Refusal[] },
): Promise<ReadonlyMap<Address, bigint>> {
  const balances = new Map<Address, bigint>();
  for (const { address: token } of tokens) {
    try {
      const balance = await chain.balance(token, holder);
      balances.set(token, withoutLentGas(settings, { token, wallet: holder }, balance));
    } catch (error) {
      refusals.push({ holder, token, detail: refusedByToken(error) });
    }
  }
  return balances;
}

/** Why nothing can be said of a strategy; undefined where everything that it needs could be read. */
function refusalTo(standing: Standing, refusals: readonly Refusal[]): ForecastStart["unread"][number] | undefined {
  const asked = askedBy(standing);
  const found = refusals.find(({ holder, token }) =>
    asked.some(({ address, tokens }) => address === holder && tokens.some((one) => one.address === token)),
  );
  return found && { strategyId: standing.strategy.spec.id, detail: found.detail };
}

/** How long before this hour each piece of the ceilings' windows begins: by the hour of a day, by the day before it. */
const PIECES_MS = [
  ...Array.from({ length: CEILING_WINDOWS_MS.day / HOUR_MS + 1 }, (_, hour) => hour * HOUR_MS),
  ...Array.from({ length: CEILING_WINDOWS_MS.month / DAY_MS - 1 }, (_, day) => (day + 2) * DAY_MS),
];

/**
 * As if what was sold in a piece of time was sold at its end: it counts for a ceiling a little longer, never less. Pieces
 * begin with whole hours, of which a copy of the database has the sums, but not the rows.
 */
async function readTrades({ store }: ForecastDeps, nowMs: number): Promise<ForecastWorld["trades"]> {
  const soldSince = async (sinceMs: number): Promise<bigint> =>
    (await store.read({ kind: "sold-usd", daySinceMs: sinceMs, monthSinceMs: sinceMs })).day;
  const hourMs = nowMs - (nowMs % HOUR_MS);
  let known = await soldSince(nowMs);
  const trades = [{ atMs: nowMs, usd: known, atLeastUsd: known }];
  let endMs = nowMs;
  for (const agoMs of PIECES_MS) {
    const sinceMs = hourMs - agoMs;
    const sold = await soldSince(sinceMs);
    trades.push({ atMs: endMs, usd: sold - known, atLeastUsd: sold - known });
    [known, endMs] = [sold, sinceMs];
  }
  return trades;
}

/** What a wallet has for its strategies. */
function moneyOf(
  balances: ReadonlyMap<Address, bigint>,
  own: readonly Seen[],
  policy: EngineSettings["policy"],
): ForecastWallet {
  const reserved = new Map(own.flatMap(({ rows }) => [...rows.reserved]));
  const net = new Map(own.flatMap(({ rows }) => [...rows.net]));
  const free = new Map<Address, bigint>();
  const outside = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const held = (reserved.get(token) ?? 0n) + (token === NATIVE_TOKEN ? policy.gasReserve : 0n);
    free.set(token, balance > held ? balance - held : 0n);
    const moved = net.get(token);
    if (moved !== undefined) outside.set(token, balance - moved);
  }
  return { free, balances, outside };
}

/** Whose balances are asked for: of the wallets, and of addresses that count besides. */
function tokensByHolder(standings: readonly Standing[]): ReadonlyMap<Address, readonly Token[]> {
  const asked = standings.flatMap(askedBy);
  return new Map(
    [...Map.groupBy(asked, ({ address }) => address)].map(([holder, all]) => [holder, eachOnce(all)] as const),
  );
}

function askedBy(standing: Standing): readonly { readonly address: Address; readonly tokens: readonly Token[] }[] {
  return [{ address: walletOf(standing), tokens: standing.needs.tokens }, ...(standing.needs.external ?? [])];
}

function walletOf({ strategy }: Standing): Address {
  return strategy.spec.wallet.address;
}

function uniqueTokens(standings: readonly Standing[]): readonly Token[] {
  return eachOnce(standings.map(({ needs }) => needs));
}

function eachOnce(asked: readonly { readonly tokens: readonly Token[] }[]): readonly Token[] {
  const tokens = asked.flatMap((one) => one.tokens);
  return [...new Map(tokens.map((token) => [token.address, token])).values()];
}

/** One strategy may look back further than another. */
function longestBars(seen: readonly Seen[]): ReadonlyMap<Address, readonly PriceBar[]> {
  const bars = new Map<Address, readonly PriceBar[]>();
  for (const [token, read] of seen.flatMap(({ rows }) => [...rows.bars])) {
    if (read.length >= (bars.get(token)?.length ?? 0)) bars.set(token, read);
  }
  return bars;
}
