import { Gauge, Registry } from "prom-client";

import { OPERATING_MODES } from "../../domain/run/operating-mode.ts";
import type { ReadModel } from "../../ports/read-model.ts";
import type { HealthReader } from "./health.ts";

/** The daemon's figures, as Prometheus reads them. */
export async function collectMetrics({
  reads,
  health,
}: {
  readonly reads: Pick<ReadModel, "counts">;
  readonly health: HealthReader;
}): Promise<Registry> {
  const counts = await reads.counts();
  const registry = new Registry();
  const gauge = (name: string, help: string, labelNames: string[] = []): Gauge =>
    new Gauge({ name, help, labelNames, registers: [registry] });
  const swaps = gauge("swapd_swaps", "swaps by state", ["state"]);
  for (const [state, count] of Object.entries(counts.swaps)) swaps.set({ state }, count);
  const runs = gauge("swapd_runs", "runs by strategy and state", ["strategy", "state"]);
  for (const strategy of counts.strategies) {
    for (const [state, count] of Object.entries(strategy.runs)) runs.set({ strategy: strategy.id, state }, count);
  }
  gauge("swapd_runs_waiting", "runs that wait for a person's approval").set(counts.waitingForApproval);
  const { node, service, clock, database, operating, mode } = await health.readiness();
  gauge("swapd_clock_skew_seconds", "how far this machine's clock is ahead of the chain's").set(
    (clock.skewMs ?? 0) / 1_000,
  );
  gauge("swapd_last_tick_age_seconds", "time since the scheduler last looked at its slots").set(
    (await health.health()).tickAgeMs / 1_000,
  );
  gauge("swapd_live", "1 when the configuration's mode is live").set(mode === "live" ? 1 : 0);
  const operatingMode = gauge("swapd_mode", "1 for the global mode that is in force", ["mode"]);
  for (const one of OPERATING_MODES) operatingMode.set({ mode: one }, one === operating.global ? 1 : 0);
  const ready = gauge("swapd_ready", "whether what trading needs is there", ["part"]);
  for (const [part, found] of Object.entries({ node, service, clock, database }))
    ready.set({ part }, found.ready ? 1 : 0);
  return registry;
}
