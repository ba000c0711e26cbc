import { createPrometheusMeter } from "../../src/adapters/metrics/prometheus-meter.ts";
import type { HealthReader } from "../../src/app/http/health.ts";
import { createMetricsReader, type MetricsReader, type MetricsSources } from "../../src/app/http/metrics.ts";
import type { SampledAmount } from "../../src/app/sample-holdings.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { ETH, policySample, USDC, WETH } from "./builders.ts";

/** Figures of a database with one strategy at most, as its daemon would give them. */
export function metricsSample(
  from: Pick<MetricsSources, "reads"> & {
    readonly health: HealthReader;
    readonly spec?: StrategySpec;
    readonly database?: string;
    readonly nowMs?: () => number;
    readonly samples?: readonly SampledAmount[];
  },
): MetricsReader {
  const { spec } = from;
  const settings = {
    ...{ mode: "live", network: { name: "sandbox", chainId: 31_337 }, database: from.database ?? "/nowhere" },
    strategies: spec === undefined ? [] : [{ spec, hash: "spec", file: "weekly.yaml" }],
    tokens: new Map([ETH, USDC, WETH].map((token) => [token.symbol, { token }])),
    wallets: new Map(spec === undefined ? [] : [["main", { name: "main", address: spec.wallet.address }]]),
    policy: policySample({}),
  } as unknown as MetricsSources["settings"];
  const { registry: counted } = createPrometheusMeter();
  return createMetricsReader({
    ...from,
    settings,
    counted,
    holdings: { latest: () => from.samples ?? [] },
    nowMs: from.nowMs ?? Date.now,
  });
}
