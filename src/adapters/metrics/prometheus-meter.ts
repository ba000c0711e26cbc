import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { formatUnits } from "../../domain/money/amount.ts";
import { USD_DECIMALS } from "../../domain/money/price.ts";
import type { Meter, MeteredFill } from "../../ports/meter.ts";

/** A slot whose run began later than this after its instant counts as late. */
const LATE_MS = 10_000;

const SECONDS = { start: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600], call: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] };
const DOLLARS = [1, 10, 50, 100, 500, 1_000, 5_000, 10_000, 50_000, 100_000];
const BASIS_POINTS = [0, 1, 2, 5, 10, 20, 30, 50, 100, 300];
const PPM_OF_A_BASIS_POINT = 100;

/** Gauges with the ending of a counter: the same are there by type, under a right name. */
const MISNAMED = ["nodejs_active_handles_total", "nodejs_active_requests_total", "nodejs_active_resources_total"];

/** The figures that are counted since the process began, for Prometheus: it knows that counters begin anew with a process. */
export interface PrometheusMeter {
  readonly meter: Meter;
  readonly registry: Registry;
}

/** Of more strategies than this the lines of each take megabytes a scrape, and the process twice its memory. */
const MOST_NAMED = 2_000;

/** How strategies are named in labels: each by its name, and of thousands all by one. */
export function strategyLabel(count: number): (strategy: string) => string {
  return count > MOST_NAMED ? () => "all" : (strategy) => strategy;
}

/**
 * Opens them, with those of the process itself.
 * @param strategies whose counters begin at zero: of one that appears with its first count Prometheus sees no increase
 */
export function createPrometheusMeter(strategies: readonly string[] = []): PrometheusMeter {
  const label = strategyLabel(strategies.length);
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const { slot, runEnded } = slotFigures(registry, new Set(strategies.map(label)));
  const { filled } = fillFigures(registry);
  const meter: Meter = {
    slot: (one) => slot({ ...one, strategy: label(one.strategy) }),
    runEnded: (end) => runEnded({ ...end, strategy: label(end.strategy) }),
    filled: (fill) => filled({ ...fill, strategy: label(fill.strategy) }),
    ...callFigures(registry),
  };
  return { registry, meter };
}

const ENDS = ["filled", "partial", "skipped", "failed"] as const;

function slotFigures(registry: Registry, strategies: Iterable<string>): Pick<Meter, "slot" | "runEnded"> {
  const counter = counterIn(registry);
  const begun = counter("swapd_slots_begun_total", "slots whose run began, on time or late", ["strategy", "timing"]);
  const passed = counter("swapd_slots_passed_total", "slots that were passed over, by reason", ["strategy", "reason"]);
  const ended = counter("swapd_runs_ended_total", "runs that ended, by state", ["strategy", "state"]);
  const reasons = counter("swapd_run_end_reasons_total", "runs that ended without a fill, by reason", [
    "strategy",
    "reason",
  ]);
  const delay = new Histogram({
    name: "swapd_slot_delay_seconds",
    help: "from the instant of a slot to the beginning of its run",
    buckets: SECONDS.start,
    registers: [registry],
  });
  for (const strategy of strategies) {
    for (const timing of ["on_time", "late"]) begun.inc({ strategy, timing }, 0);
    for (const state of ENDS) ended.inc({ strategy, state }, 0);
    passed.inc({ strategy, reason: "missed" }, 0);
  }
  return {
    slot: (slot) => {
      const { strategy } = slot;
      if (slot.kind === "passed") return passed.inc({ strategy, reason: slot.reason }, slot.count);
      delay.observe(slot.delayMs / 1_000);
      begun.inc({ strategy, timing: slot.delayMs > LATE_MS ? "late" : "on_time" });
    },
    runEnded: ({ strategy, state, reason }) => {
      ended.inc({ strategy, state });
      if (reason !== undefined) reasons.inc({ strategy, reason });
    },
  };
}

function fillFigures(registry: Registry): Pick<Meter, "filled"> {
  const labelNames = ["strategy", "sell", "buy", "mode"];
  const counter = counterIn(registry);
  const histogram = (name: string, help: string, buckets: readonly number[], names: readonly string[]) =>
    new Histogram({ name, help, buckets: [...buckets], labelNames: [...names], registers: [registry] });
  const fills = counter("swapd_fills_total", "swaps that were filled", labelNames);
  const value = histogram("swapd_fill_value_dollars", "dollars sold by a fill", DOLLARS, ["strategy"]);
  const fees = counter("swapd_service_fees_dollars_total", "dollars that services and affiliates kept", ["strategy"]);
  const gas = counter("swapd_gas_dollars_total", "dollars of gas that wallets paid for fills", ["strategy"]);
  const against = ["strategy", "against"];
  // What may be negative has no place in a sum that must only grow.
  const shortfall = histogram(
    "swapd_fill_shortfall_basis_points",
    "received below what was quoted, or below the reference price; 0 where it was not below",
    BASIS_POINTS,
    against,
  );
  const surplus = counter(
    "swapd_fill_surplus_basis_points_total",
    "received above what was quoted, or above the reference price, added up",
    against,
  );
  const observe = (strategy: string, against: string, ppm: bigint | undefined): void => {
    if (ppm === undefined) return;
    const above = Number(ppm) / PPM_OF_A_BASIS_POINT;
    shortfall.observe({ strategy, against }, Math.max(0, -above));
    surplus.inc({ strategy, against }, Math.max(0, above));
  };
  return {
    filled: ({ strategy, sell, buy, mode, soldUsd, feeUsd, gasUsd, ...above }: MeteredFill) => {
      fills.inc({ strategy, sell, buy, mode });
      if (soldUsd !== undefined) value.observe({ strategy }, dollars(soldUsd));
      if (feeUsd !== undefined) fees.inc({ strategy }, dollars(feeUsd));
      if (gasUsd !== undefined) gas.inc({ strategy }, dollars(gasUsd));
      observe(strategy, "quote", above.againstQuotePpm);
      observe(strategy, "reference", above.againstReferencePpm);
    },
  };
}

function callFigures(registry: Registry): Pick<Meter, "requested" | "waited"> {
  const requests = counterIn(registry)(
    "swapd_requests_total",
    "HTTP requests, by where they went and what came of them",
    ["to", "host", "result"],
  );
  const seconds = (name: string, help: string, labelNames: string[]) =>
    new Histogram({ name, help, buckets: SECONDS.call, labelNames, registers: [registry] });
  const took = seconds("swapd_request_duration_seconds", "time to the whole answer of an HTTP request", ["to", "host"]);
  const waits = seconds("swapd_limiter_wait_seconds", "wait for a turn under the rate limit of a service", ["host"]);
  return {
    requested: ({ to, host, result, ms }) => {
      requests.inc({ to, host, result });
      took.observe({ to, host }, ms / 1_000);
    },
    waited: ({ host, ms }) => waits.observe({ host }, ms / 1_000),
  };
}

function counterIn(registry: Registry) {
  return (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
}

function dollars(usd: bigint): number {
  return Number(formatUnits(usd, USD_DECIMALS));
}
