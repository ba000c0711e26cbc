import { createPrometheusMeter } from "../../src/adapters/metrics/prometheus-meter.ts";
import type { HealthReader } from "../../src/app/http/health.ts";
import { createMetricsReader, type MetricsReader, type MetricsSources } from "../../src/app/http/metrics.ts";
import type { SampledAmount } from "../../src/app/sample-holdings.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { ETH, policySample, USDC, WETH } from "./builders.ts";

/** Figures of a database with one strategy at most, or many of one spec, as its daemon would give them. */
export function metricsSample(
  from: Pick<MetricsSources, "reads"> & {
    readonly health: HealthReader;
    readonly spec?: StrategySpec;
    /** how many strategies have this spec, each with an id of its own; default: one */
    readonly count?: number;
    readonly database?: string;
    readonly nowMs?: () => number;
    readonly samples?: readonly SampledAmount[];
    readonly mode?: string;
    /** what its wallet is, in place of one whose signer is elsewhere */
    readonly wallet?: object;
  },
): MetricsReader {
  const { spec, count = 1, mode = "live", wallet = { key: { kind: "remote" } } } = from;
  const specs =
    spec === undefined ? [] : Array.from({ length: count }, (_, at) => (at === 0 ? spec : { ...spec, id: `s${at}` }));
  const configuration = {
    ...{ mode, network: { name: "sandbox", chainId: 31_337 }, database: from.database ?? "/nowhere" },
    strategies: specs.map((one) => ({ spec: one, hash: "spec", file: `${one.id}.yaml` })),
    tokens: new Map([ETH, USDC, WETH].map((token) => [token.symbol, { token }])),
    wallets: new Map(spec === undefined ? [] : [["main", { name: "main", address: spec.wallet.address, ...wallet }]]),
    policy: policySample({}),
    ...{ service: { url: "embedded" }, serve: {} },
  } as unknown as ReturnType<MetricsSources["settings"]>;
  const { registry: counted } = createPrometheusMeter();
  return createMetricsReader({
    ...from,
    settings: () => configuration,
    counted,
    holdings: { latest: () => from.samples ?? [] },
    nowMs: from.nowMs ?? Date.now,
  });
}
