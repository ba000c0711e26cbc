import type { Address } from "../../domain/money/address.ts";
import type { Fill, Swap } from "../../domain/run/run.ts";
import type { SoldSince } from "../../domain/strategy/budget.ts";
import { MINUTE_MS } from "../../domain/time/durations.ts";

/** Amounts count from the beginning of the quarter of an hour in which an instant lies, as in the daemon's rows. */
const QUARTER_MS = 15 * MINUTE_MS;

interface Entry {
  readonly swapId: string;
  readonly runId: string;
  readonly strategyId: string;
  readonly wallet: Address;
  readonly token: Address;
  readonly amount: bigint;
  /** dollars (1e-18) at clearance */
  readonly usd: bigint;
}

interface Spent extends Entry {
  readonly atMs: number;
}

type Totals = Map<string, Map<Address, bigint>>;

/** The money of a backtest, as the daemon's ledger counts it: what open swaps reserve, and what was sold and bought. */
export class Ledger {
  readonly #open = new Map<string, Entry>();
  /** oldest first */
  readonly #spent: Spent[] = [];
  readonly #soldBy: Totals = new Map();
  readonly #boughtBy: Totals = new Map();
  readonly #netOf: Totals = new Map();
  readonly #receivedBy: Totals = new Map();
  readonly #tradedRuns = new Map<string, Set<string>>();

  reserve(swap: Swap, strategyId: string, amount: bigint): void {
    const { id: swapId, runId, wallet, sell } = swap;
    const usd = this.#open.get(swapId)?.usd ?? 0n;
    this.#open.set(swapId, { swapId, runId, strategyId, wallet, token: sell.address, amount, usd });
  }

  value(swapId: string, usd: bigint): void {
    const entry = this.#open.get(swapId);
    if (entry !== undefined) this.#open.set(swapId, { ...entry, usd });
  }

  release(swapId: string): void {
    this.#open.delete(swapId);
  }

  /** What was reserved is sold, and what it brought has arrived. */
  spend(swap: Swap, fill: Fill, atMs: number): void {
    const entry = this.#open.get(swap.id);
    if (entry === undefined) throw new Error(`swap ${swap.id} sold what it had not reserved`);
    this.#open.delete(swap.id);
    this.#spent.push({ ...entry, amount: fill.sold, atMs });
    const { strategyId, wallet, token, runId } = entry;
    add(this.#soldBy, strategyId, token, fill.sold);
    add(this.#boughtBy, strategyId, swap.buy.address, fill.bought);
    add(this.#netOf, wallet, token, -fill.sold);
    add(this.#netOf, swap.recipient, swap.buy.address, fill.bought);
    add(this.#receivedBy, swap.recipient, swap.buy.address, fill.bought);
    const runs = this.#tradedRuns.get(strategyId) ?? new Set();
    this.#tradedRuns.set(strategyId, runs.add(runId));
  }

  reserved(wallet: Address, token: Address, exceptSwapId = ""): bigint {
    let sum = 0n;
    for (const entry of this.#open.values())
      if (entry.wallet === wallet && entry.token === token && entry.swapId !== exceptSwapId) sum += entry.amount;
    return sum;
  }

  /** By a strategy over its life, with what is reserved. */
  soldBy(strategyId: string): ReadonlyMap<Address, bigint> {
    const sold = new Map(this.#soldBy.get(strategyId));
    for (const { strategyId: of, token, amount } of this.#open.values())
      if (of === strategyId) sold.set(token, (sold.get(token) ?? 0n) + amount);
    return sold;
  }

  boughtBy(strategyId: string): ReadonlyMap<Address, bigint> {
    return this.#boughtBy.get(strategyId) ?? new Map();
  }

  netOf(wallet: Address, token: Address): bigint {
    return this.#netOf.get(wallet)?.get(token) ?? 0n;
  }

  hasBought(wallet: Address, token: Address): boolean {
    return (this.#receivedBy.get(wallet)?.get(token) ?? 0n) !== 0n;
  }

  tradedRuns(strategyId: string): number {
    return this.#tradedRuns.get(strategyId)?.size ?? 0;
  }

  /** By a strategy since an instant, and what it reserves, without one swap. */
  soldBySince(strategyId: string, sinceMs: number, exceptSwapId = ""): SoldSince {
    const sold = new Map<Address, bigint>();
    let usd = 0n;
    const count = (entry: Entry): void => {
      if (entry.strategyId !== strategyId || entry.swapId === exceptSwapId) return;
      sold.set(entry.token, (sold.get(entry.token) ?? 0n) + entry.amount);
      usd += entry.usd;
    };
    this.#since(sinceMs - (sinceMs % QUARTER_MS), count);
    for (const entry of this.#open.values()) count(entry);
    return { sold, usd };
  }

  /** Dollars that all strategies sold since an instant, and all that is reserved, without one swap. */
  soldUsdSince(sinceMs: number, exceptSwapId: string): bigint {
    let usd = 0n;
    const count = (entry: Entry): void => {
      if (entry.swapId !== exceptSwapId) usd += entry.usd;
    };
    this.#since(sinceMs, count);
    for (const entry of this.#open.values()) count(entry);
    return usd;
  }

  #since(sinceMs: number, count: (entry: Spent) => void): void {
    for (let index = this.#spent.length - 1; index >= 0; index -= 1) {
      const entry = this.#spent[index];
      if (entry === undefined || entry.atMs < sinceMs) return;
      count(entry);
    }
  }
}

function add(totals: Totals, of: string, token: Address, amount: bigint): void {
  const known = totals.get(of) ?? new Map<Address, bigint>();
  known.set(token, (known.get(token) ?? 0n) + amount);
  totals.set(of, known);
}
