import { formatAmount } from "../money/amount.ts";
import { type Ppm, shareDown } from "../money/fraction.ts";
import { amountWorthDown, type UsdPrice, valueDown } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { StrategyCommon } from "./common.ts";
import type { Decision, SkipReason, StrategyView } from "./decision.ts";
import type { AfterRun, RunEnd, StrategyKind } from "./kind.ts";
import { isCount, isRecord } from "./memory.ts";

/** A price in units of `per`'s quote: `raw` smallest units of `quote` for one whole token `of`. */
export interface TriggerPrice {
  readonly quote: Token;
  readonly raw: bigint;
}

/** Sells once when a price crosses a level, and again only after it was re-armed. */
export interface ThresholdSpec extends StrategyCommon {
  readonly kind: "threshold";
  /** the sold token and how much: a fixed amount, or a share of the free balance */
  readonly sell: { readonly token: Token; readonly amount: { readonly raw: bigint } | { readonly share: Ppm } };
  readonly buy: Token;
  /** the token whose price is watched: the one of the pair that is not the trigger's quote token */
  readonly watch: Token;
  readonly when: { readonly crosses: "above" | "below"; readonly price: TriggerPrice };
  readonly ifAlreadyTrue: "wait" | "fire";
  /** undefined: fires once in its life */
  readonly rearm: { readonly price: TriggerPrice; readonly cooldownSeconds: number } | undefined;
}

/**
 * The trigger's state.
 * - `baseline`: no price seen yet; the first one only says on which side it stands.
 * - `waiting`: the condition was true without firing; the price must be seen on the other side first.
 * - `armed`: the price was seen on the other side; the next time the condition is true it fires. `failures` counts the
 *   attempts of this crossing that bought nothing.
 * - `fired`: latched until the run that it started has ended.
 * - `cooling`: it sold; it is armed again once the cooldown is over **and** the price is on the far side.
 * - `done`: it sold, and has no re-arm rule.
 */
export type ThresholdMemory = { readonly version: 1 } & (
  | { readonly state: "baseline" | "waiting" | "done" }
  | { readonly state: "armed"; readonly failures: number }
  | { readonly state: "fired"; readonly failures: number; readonly slotMs: number }
  | { readonly state: "cooling"; readonly untilMs: number }
);

/** A crossing is tried so often at most; then the price must cross again. */
const MAX_ATTEMPTS = 3;

function decide(spec: ThresholdSpec, view: StrategyView, memory: ThresholdMemory): Decision<ThresholdMemory> {
  const skip = (reason: SkipReason, detail: string, next: ThresholdMemory = memory) =>
    ({ memory: next, outcome: { kind: "skip", reason, detail } }) as const;
  if (memory.state === "done") return skip("already_fired", "it sold once and has no rearm rule");
  if (memory.state === "fired") return skip("already_fired", "the run it started has not ended yet");
  const watched = view.prices.get(spec.watch.address)?.usd;
  const quote = view.prices.get(spec.when.price.quote.address)?.usd;
  if (watched === undefined || quote === undefined || watched <= 0n || quote <= 0n) {
    return skip("unpriceable", `no reference price for ${spec.watch.symbol} in ${spec.when.price.quote.symbol}`);
  }
  const above = spec.when.crosses === "above";
  const isTrue = reaches({ watched, quote }, spec.when.price, above);
  const seen = describePrice({ watched, quote }, spec);
  switch (memory.state) {
    case "baseline":
      if (!isTrue) return skip("not_triggered", seen, { version: 1, state: "armed", failures: 0 });
      if (spec.ifAlreadyTrue === "fire") return fire(spec, view, { memory, failures: 0 });
      return skip("not_armed", `${seen}: true from the start, so it waits for a crossing`, {
        version: 1,
        state: "waiting",
      });
    case "waiting":
      if (isTrue) return skip("not_armed", `${seen}: it must be seen on the other side first`);
      return skip("not_triggered", seen, { version: 1, state: "armed", failures: 0 });
    case "armed":
      if (isTrue) return fire(spec, view, { memory, failures: memory.failures });
      return skip("not_triggered", seen, { version: 1, state: "armed", failures: 0 });
    case "cooling": {
      if (view.nowMs < memory.untilMs)
        return skip("cooling_down", `${memory.untilMs - view.nowMs} ms of the cooldown are left`);
      const isFar = spec.rearm !== undefined && reaches({ watched, quote }, spec.rearm.price, !above);
      if (!isFar) return skip("not_armed", `${seen}: it is armed again on the far side of the rearm price only`);
      return skip("not_triggered", `${seen}: armed again`, { version: 1, state: "armed", failures: 0 });
    }
  }
}

/** A crossing with too little balance does not fire: nothing was sold, so the trigger stays as it is. */
function fire(
  spec: ThresholdSpec,
  view: StrategyView,
  from: { memory: ThresholdMemory; failures: number },
): Decision<ThresholdMemory> {
  const { token, amount } = spec.sell;
  const free = view.free.get(token.address) ?? 0n;
  const raw = "raw" in amount ? amount.raw : shareDown(free, amount.share);
  if (raw === 0n || free < raw) {
    const detail = `triggered, but needs ${formatAmount({ token, raw })} and ${formatAmount({ token, raw: free })} are free`;
    return { memory: from.memory, outcome: { kind: "skip", reason: "insufficient_balance", detail } };
  }
  const swaps = [{ sell: token, buy: spec.buy, amount: { kind: "fixed", raw } }] as const;
  const memory = { version: 1, state: "fired", failures: from.failures, slotMs: view.slotMs } as const;
  return { memory, outcome: { kind: "swap", swaps } };
}

/**
 * Whether the price of one whole watched token has reached a level (equal counts), from below or from above.
 * Formula: usdWatched x 10^quoteDecimals >= level x usdQuote, without division.
 */
function reaches(usd: { watched: UsdPrice; quote: UsdPrice }, level: TriggerPrice, fromBelow: boolean): boolean {
  const price = usd.watched * 10n ** BigInt(level.quote.decimals);
  const bound = level.raw * usd.quote;
  return fromBelow ? price >= bound : price <= bound;
}

function describePrice(usd: { watched: UsdPrice; quote: UsdPrice }, spec: ThresholdSpec): string {
  const { quote, raw } = spec.when.price;
  const value = valueDown({ raw: 10n ** BigInt(spec.watch.decimals), decimals: spec.watch.decimals }, usd.watched);
  const price = formatAmount({
    token: quote,
    raw: amountWorthDown(value, { decimals: quote.decimals, usd: usd.quote }),
  });
  return `${spec.watch.symbol} stands at ${price}, the level is ${formatAmount({ token: quote, raw })}`;
}

/**
 * A run that bought something consumes the crossing. One that bought nothing gives it back: the trigger is armed again
 * and fires at a later slot while the condition is still true, three attempts a crossing at most.
 */
function onRunEnded(spec: ThresholdSpec, memory: ThresholdMemory, end: RunEnd): AfterRun<ThresholdMemory> {
  if (memory.state !== "fired") return { memory };
  if (end.filled) {
    if (spec.rearm === undefined) return { memory: { version: 1, state: "done" } };
    const untilMs = end.nowMs + spec.rearm.cooldownSeconds * 1_000;
    return { memory: { version: 1, state: "cooling", untilMs } };
  }
  const failures = memory.failures + 1;
  if (failures < MAX_ATTEMPTS) return { memory: { version: 1, state: "armed", failures } };
  return { memory: { version: 1, state: "waiting" } };
}

function parseMemory(json: unknown): ThresholdMemory | undefined {
  if (!isRecord(json) || json.version !== 1) return undefined;
  const { state, failures, slotMs, untilMs } = json;
  if (state === "baseline" || state === "waiting" || state === "done") return { version: 1, state };
  if (state === "armed" && isCount(failures)) return { version: 1, state, failures };
  if (state === "fired" && isCount(failures) && isCount(slotMs)) return { version: 1, state, failures, slotMs };
  if (state === "cooling" && isCount(untilMs)) return { version: 1, state, untilMs };
  return undefined;
}

/** Sells when a price crosses a level. */
export const threshold: StrategyKind<ThresholdSpec, ThresholdMemory> = {
  initialMemory: () => ({ version: 1, state: "baseline" }),
  parseMemory,
  needs: (spec) => ({ tokens: [spec.sell.token, spec.buy, spec.watch, spec.when.price.quote], bars: [], flows: false }),
  isExit: (spec) => spec.sell.token.address === spec.watch.address,
  decide,
  onRunEnded,
  onEdited: (_before, _after, memory) => memory,
};
