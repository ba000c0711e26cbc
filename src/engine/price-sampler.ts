import type { Address } from "../domain/money/address.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { initialStrategyMemory, strategyNeeds } from "../domain/strategy/strategy.ts";
import { HOUR_MS } from "../domain/time/durations.ts";
import type { Decided } from "../ports/changes.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { EngineContext } from "./engine-context.ts";
import { nodeFault } from "./perform/node-fault.ts";

/** Bars are kept a little longer than the longest look-back, in case one is made longer. */
const KEPT_BEYOND_MS = 7 * 24 * HOUR_MS;

interface LookbackWindow {
  readonly token: Token;
  readonly seconds: number;
}

/** What a strategy looks back at follows from its settings alone, so it is found out once. */
const known = new WeakMap<StrategySpec, readonly LookbackWindow[]>();

/** The tokens that some loaded strategy looks back at, each with its longest look-back. */
function lookbackWindows(context: EngineContext): readonly LookbackWindow[] {
  const longest = new Map<Address, LookbackWindow>();
  for (const { spec } of context.settings.strategies) {
    const bars = known.get(spec) ?? strategyNeeds(spec, initialStrategyMemory(spec)).bars;
    known.set(spec, bars);
    for (const bar of bars) {
      if (bar.seconds > (longest.get(bar.token.address)?.seconds ?? 0)) longest.set(bar.token.address, bar);
    }
  }
  return [...longest.values()];
}

/**
 * Reads once the reference price of each token that some strategy looks back at, and counts it into the bar of its
 * hour. A price that is missing is left out: an hour without any has no bar, which means unknown. Bars that
 * no strategy can look back at any more are dropped, and those of hours to come, which a clock that ran ahead left.
 */
export async function samplePrices(
  context: EngineContext,
  signal: AbortSignal,
  clocks: Pick<ClockWatch, "problem">,
): Promise<void> {
  const { prices, clock, store } = context.deps;
  const wanted = lookbackWindows(context);
  const seen: { token: Token; usd: UsdPrice }[] = [];
  for (const { token } of wanted) {
    if (signal.aborted) return;
    const price = await prices.price(token);
    if (!("missing" in price)) seen.push({ token, usd: price.usd });
  }
  if (wanted.length === 0 || signal.aborted) return;
  const decide = (): Decided<void> => {
    const atMs = clock.nowMs();
    // By a clock that is wrong, what was seen would be of another time. It may have jumped while the prices were read.
    if (clocks.problem() !== undefined) return { changes: [], atMs, value: undefined };
    const samples = seen.map(({ token, usd }) => ({ kind: "price-sample", token: token.address, usd }) as const);
    const kept = wanted.map(({ token, seconds }) => {
      const sinceMs = atMs - seconds * 1_000 - KEPT_BEYOND_MS;
      return { kind: "price-bars-kept", token: token.address, sinceMs } as const;
    });
    return { changes: [...samples, ...kept], atMs, value: undefined };
  };
  await store.commit([{ question: { kind: "nothing" }, decide }]);
}

/**
 * Samples at once, and then at its pace until the engine stops. Trouble with one check is reported, and the next one
 * follows.
 */
export async function keepSampling(
  context: EngineContext,
  signal: AbortSignal,
  clocks: Pick<ClockWatch, "problem">,
): Promise<void> {
  const { clock, logger } = context.deps;
  while (!signal.aborted) {
    if (clocks.problem() === undefined)
      await samplePrices(context, signal, clocks).catch((error: unknown) => {
        logger.warn({ error: nodeFault(error) }, "reference prices could not be read");
      });
    await clock.sleep(context.settings.pace.samplePricesMs, signal);
  }
}
