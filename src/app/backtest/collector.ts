import type { BookedFill, BookListener } from "../../adapters/backtest/book-listener.ts";
import type { Market } from "../../adapters/backtest/market.ts";
import type { BacktestRecord, RecordedFill, SlotPrice, ValueSample } from "../../domain/backtest/record.ts";
import type { Address } from "../../domain/money/address.ts";
import { mulDivDown } from "../../domain/money/amount.ts";
import { type Ppm, shareDown } from "../../domain/money/fraction.ts";
import { USD_DECIMALS, valueDown } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Run, Swap } from "../../domain/run/run.ts";
import { isRunEnd } from "../../domain/run/states.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { tradedSides } from "../../domain/strategy/strategy.ts";

/** The word for a slot whose run has no end yet when the backtest ends. */
const STILL_OPEN = "still_open";

/** A slot as a daemon's history would show it. */
export interface PlayedSlot {
  readonly strategyId: string;
  readonly slotMs: number;
  readonly state: string;
  readonly reason: string | undefined;
  readonly swaps: readonly Pick<Swap, "state" | "reason" | "sell" | "buy" | "gross" | "fill">[];
}

/** What is written down while a backtest is played. */
export interface Collector extends BookListener {
  sample(atMs: number): void;
  /** a strategy is about to decide: what its bought token costs then */
  deciding(run: Run): void;
  /** an approval of a swap was paid for, in wei */
  approved(swapId: string, wei: bigint): void;
  /** what was written down; runs that are open now count as such */
  record(range: { readonly fromMs: number; readonly untilMs: number }): BacktestRecord;
  /** modes that were set, in order */
  readonly modes: readonly {
    readonly scope: string;
    readonly mode: string;
    readonly reason: string;
    readonly atMs: number;
  }[];
  /** how often each alert would have been sent: while it is true it is sent once */
  readonly alerts: ReadonlyMap<string, number>;
  /** all of them, where they were asked for */
  readonly played: readonly PlayedSlot[];
}

/** What the collector counts with. */
export interface Counting {
  readonly market: Market;
  readonly specs: readonly StrategySpec[];
  readonly tokens: ReadonlyMap<Address, Token>;
  readonly native: Token;
  readonly poolFee: Ppm;
  /** tokens that count as money: what is bought with them is bought, and what is sold for them is sold */
  readonly money: ReadonlySet<Address>;
  /** what all accounts hold now, and what they began with; lent coins left out */
  holdings(): ReadonlyMap<Address, bigint>;
  readonly begin: ReadonlyMap<Address, bigint>;
  /** whether each slot is kept, as a history */
  readonly keepsSlots: boolean;
}

/** Kinds that buy with a fixed budget over many slots: only of them is it asked how else the money could be spent. */
const ACCUMULATES: readonly StrategySpec["kind"][] = ["dca", "value-averaging", "twap"];

/** Makes the collector. */
export function createCollector(counting: Counting): Collector {
  const { market, specs } = counting;
  const samples: ValueSample[] = [];
  const fills: RecordedFill[] = [];
  const slotPrices = new Map<string, SlotPrice[]>();
  const ends = new Map(specs.map(({ id }) => [id, new Map<string, number>()]));
  const modes: { scope: string; mode: string; reason: string; atMs: number }[] = [];
  const alerts = new Map<string, number>();
  /** codes of what is true, by subject */
  const raised = new Map<string, Set<string>>();
  const played: PlayedSlot[] = [];
  const approvals = new Map<string, bigint>();
  const open = new Map<string, Run>();
  const byId = new Map(specs.map((spec) => [spec.id, spec]));
  const count = (strategyId: string, end: string, slots: number): void => {
    const known = ends.get(strategyId);
    known?.set(end, (known.get(end) ?? 0) + slots);
  };
  const over = ({ strategyId, slotMs, state, reason, swaps }: Run, end: string): void => {
    count(strategyId, end, 1);
    if (counting.keepsSlots) played.push({ strategyId, slotMs, state, reason, swaps });
  };
  return {
    ...{ modes, alerts, played },
    gap: ({ strategy, reason, count: slots }) => count(strategy, reason, slots),
    mode: ({ scope, mode, reason, atMs }) => modes.push({ scope, mode, reason, atMs }),
    alert: ({ subject, code }) => {
      const codes = raised.get(subject) ?? new Set();
      if (!codes.has(code)) alerts.set(code, (alerts.get(code) ?? 0) + 1);
      raised.set(subject, codes.add(code));
    },
    alertsOver: (subject) => raised.delete(subject),
    moved: (run) => {
      if (!isRunEnd(run.state)) open.set(run.id, run);
      else {
        open.delete(run.id);
        over(run, run.state === "filled" || run.state === "partial" ? run.state : (run.reason ?? run.state));
      }
    },
    filled: (filled) => fills.push(fillOf(counting, filled, approvals.get(filled.swap.id) ?? 0n)),
    approved: (swapId, wei) => approvals.set(swapId, (approvals.get(swapId) ?? 0n) + wei),
    sample: (atMs) => {
      const worth = (held: ReadonlyMap<Address, bigint>): bigint | undefined => worthOf(counting, held);
      const [value, held] = [worth(counting.holdings()), worth(counting.begin)];
      if (value !== undefined && held !== undefined) samples.push({ atMs, value, held });
    },
    deciding: ({ strategyId, slotMs: atMs }) => {
      const spec = byId.get(strategyId);
      const price = spec && ACCUMULATES.includes(spec.kind) ? pairPrice(market, spec) : undefined;
      if (price === undefined) return;
      const known = slotPrices.get(strategyId) ?? [];
      if (known.at(-1)?.atMs !== atMs) known.push({ atMs, price });
      slotPrices.set(strategyId, known);
    },
    record: (range) => {
      for (const run of open.values()) over(run, STILL_OPEN);
      open.clear();
      const slots = new Map(
        [...ends].map(([id, byEnd]) => {
          const all = [...byEnd.values()].reduce((sum, one) => sum + one, 0);
          return [id, { byEnd, slots: all, hasBands: hasBands(byId.get(id)) }];
        }),
      );
      return { ...range, samples, fills, slotPrices, slots };
    },
  };
}

function hasBands(spec: StrategySpec | undefined): boolean {
  return spec?.kind === "rebalance" && spec.bands !== "none";
}

/** Undefined while something that is held has no price. */
function worthOf({ market, tokens }: Counting, held: ReadonlyMap<Address, bigint>): bigint | undefined {
  let value = 0n;
  for (const [address, raw] of held) {
    if (raw === 0n) continue;
    const usd = market.usd(address);
    const token = tokens.get(address);
    if (usd === undefined || token === undefined) return undefined;
    value += valueDown({ raw, decimals: token.decimals }, usd);
  }
  return value;
}

/** @param approvalWei what approvals of the swap cost */
function fillOf({ native, poolFee, money }: Counting, filled: BookedFill, approvalWei: bigint): RecordedFill {
  const { run, swap, fill, prices: cleared, atMs } = filled;
  const { sell, buy } = swap;
  if (cleared?.sold === undefined || cleared.bought === undefined)
    throw new Error(`swap ${swap.id} was filled without prices`);
  const soldUsd = valueDown({ raw: fill.sold, decimals: sell.decimals }, cleared.sold.usd);
  const share = { raw: swap.terms?.affiliateFee ?? 0n, decimals: sell.decimals };
  const affiliateUsd = valueDown(share, cleared.sold.usd);
  const wei = fill.gasCost + approvalWei;
  const gas = cleared.native && valueDown({ raw: wei, decimals: native.decimals }, cleared.native.usd);
  return {
    ...{ atMs, strategyId: run.strategyId, sell, buy, sold: fill.sold, bought: fill.bought, soldUsd },
    boughtUsd: valueDown({ raw: fill.bought, decimals: buy.decimals }, cleared.bought.usd),
    ...{ affiliateUsd, feeUsd: shareDown(soldUsd - affiliateUsd, poolFee), gasUsd: gas ?? 0n },
    isExit: money.has(buy.address) && !money.has(sell.address),
  };
}

function pairPrice(market: Market, spec: StrategySpec): bigint | undefined {
  const { sells, buys } = tradedSides(spec);
  const [sold, bought] = [sells[0] && market.usd(sells[0].address), buys[0] && market.usd(buys[0].address)];
  if (sells.length !== 1 || buys.length !== 1 || sold === undefined || bought === undefined) return undefined;
  return mulDivDown(bought, 10n ** BigInt(USD_DECIMALS), sold);
}
