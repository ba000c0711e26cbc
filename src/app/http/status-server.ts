import Fastify from "fastify";
import { Gauge, Registry } from "prom-client";
import type { HistoryReader } from "../../adapters/sqlite/daemon/history-rows.ts";
import { runJson } from "../commands/history.ts";

/** What the daemon tells about itself over HTTP. */
export interface StatusSources {
  readonly history: HistoryReader;
  /** milliseconds since the engine's last tick, by the monotonic clock */
  tickAgeMs(): number;
  /** whether the chain answered when it was last asked */
  isChainReachable(): Promise<boolean>;
  /** how this machine's clock and the chain's agree */
  readonly clocks: { skewMs(): number | undefined; problem(): string | undefined };
}

const MAX_TICK_AGE_MS = 10_000;
const MAX_RUNS = 1_000;

/**
 * Serves health, metrics and a small read-only API. Healthy means that the daemon ticks by a clock that it believes,
 * reads its database and reaches its chain, not that a port is open.
 */
export async function startStatusServer(
  listen: { host: string; port: number },
  sources: StatusSources,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = Fastify({ logger: false, bodyLimit: 1_024, requestTimeout: 10_000 });
  server.get("/healthz", async (_request, reply) => {
    const health = await readHealth(sources);
    return await reply.code(health.healthy ? 200 : 503).send(health);
  });
  server.get("/metrics", async (_request, reply) => {
    const registry = collect(sources);
    return await reply.type(registry.contentType).send(await registry.metrics());
  });
  server.get<{ Querystring: { strategy?: string; limit?: string } }>("/api/runs", async (request) => {
    const limit = Math.min(Math.max(Number(request.query.limit ?? "100") || 100, 1), MAX_RUNS);
    const { strategy } = request.query;
    return { runs: sources.history.runs(strategy === undefined ? { limit } : { limit, strategy }).map(runJson) };
  });
  const url = await server.listen({ host: listen.host, port: listen.port });
  return { url, stop: async () => await server.close() };
}

async function readHealth(sources: StatusSources): Promise<Record<string, unknown> & { healthy: boolean }> {
  const tickAgeMs = sources.tickAgeMs();
  const chain = await sources.isChainReachable();
  const swaps = sources.history.swapStates();
  const [problem, skewMs] = [sources.clocks.problem(), sources.clocks.skewMs()];
  const clock = { agrees: problem === undefined, skewMs: skewMs ?? null, problem: problem ?? null };
  return { healthy: tickAgeMs < MAX_TICK_AGE_MS && chain && clock.agrees, tickAgeMs, chain, clock, swaps };
}

function collect(sources: StatusSources): Registry {
  const registry = new Registry();
  const swaps = new Gauge({
    name: "swapd_swaps",
    help: "swaps by state",
    labelNames: ["state"],
    registers: [registry],
  });
  for (const [state, count] of Object.entries(sources.history.swapStates())) swaps.set({ state }, count);
  const runs = new Gauge({
    name: "swapd_runs",
    help: "runs by strategy and state",
    labelNames: ["strategy", "state"],
    registers: [registry],
  });
  for (const strategy of sources.history.strategies()) {
    for (const [state, count] of Object.entries(strategy.runs)) runs.set({ strategy: strategy.id, state }, count);
  }
  const skew = new Gauge({
    name: "swapd_clock_skew_seconds",
    help: "how far this machine's clock is ahead of the chain's",
    registers: [registry],
  });
  skew.set((sources.clocks.skewMs() ?? 0) / 1_000);
  const tick = new Gauge({
    name: "swapd_last_tick_age_seconds",
    help: "time since the scheduler last looked at its slots",
    registers: [registry],
  });
  tick.set(sources.tickAgeMs() / 1_000);
  return registry;
}
