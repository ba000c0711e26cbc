import Fastify, { type FastifyInstance } from "fastify";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import { soon } from "../soon.ts";
import { addRelayerGauges } from "./relayer-metrics.ts";
import type { ServedNetwork } from "./served-network.ts";

/** What the service counts. */
export interface Metrics {
  /** Counts every answer of a server: call it before its routes are added. */
  watch(server: FastifyInstance): void;
  /** The text that Prometheus reads. */
  text(): Promise<string>;
  readonly contentType: string;
}

/** Seconds; the gates for quotes are 20 ms and 50 ms. */
const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1, 5, 15];

export function createMetrics(sources: { networks: readonly ServedNetwork[]; inFlight: () => number }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const answers = new Counter({
    name: "swapd_service_answers_total",
    help: "answers by endpoint and HTTP status",
    labelNames: ["endpoint", "status"],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: "swapd_service_answer_seconds",
    help: "time from a request's headers to the end of its answer",
    labelNames: ["endpoint"],
    buckets: BUCKETS,
    registers: [registry],
  });
  new Gauge({
    name: "swapd_service_requests_in_flight",
    help: "requests that are being answered",
    registers: [registry],
    collect() {
      this.set(sources.inFlight());
    },
  });
  const readNetworks = addNetworkGauges(registry, sources.networks);
  const readRelayers = addRelayerGauges(registry, sources.networks);
  return {
    watch(server) {
      server.addHook("onResponse", async (request, reply) => {
        // Undocumented paths share a name: callers choose them.
        const endpoint = request.routeOptions.url ?? "unknown";
        answers.inc({ endpoint, status: String(reply.statusCode) });
        seconds.observe({ endpoint }, reply.elapsedTime / 1_000);
      });
    },
    async text() {
      await Promise.all([readNetworks(), readRelayers()]);
      return await registry.metrics();
    },
    contentType: registry.contentType,
  };
}

/** @returns what brings the gauges of all networks up to date */
function addNetworkGauges(registry: Registry, networks: readonly ServedNetwork[]): () => Promise<void> {
  const labelNames = ["network"];
  const registers = [registry];
  const block = new Gauge({ name: "swapd_service_block", help: "newest block of the node", labelNames, registers });
  const up = new Gauge({ name: "swapd_service_node_up", help: "1: the node answers", labelNames, registers });
  const readOne = async ({ options, rpc, snapshots }: ServedNetwork): Promise<void> => {
    const network = options.name;
    const head = await soon(rpc.host, snapshots.current()).then(
      (snapshot) => snapshot.head,
      // A node that does not answer is what the gauge is there to report.
      () => undefined,
    );
    up.set({ network }, head === undefined ? 0 : 1);
    if (head !== undefined) block.set({ network }, head.number);
  };
  return async () => {
    await Promise.all(networks.map(readOne));
  };
}

/** Serves the metrics on an address of their own: they are for the operator, the interface is for everybody. */
export async function startMetricsServer(
  listen: { host: string; port: number },
  metrics: Metrics,
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = Fastify({ logger: false, bodyLimit: 1_024, requestTimeout: 10_000 });
  server.get("/metrics", async (_request, reply) => {
    return await reply.type(metrics.contentType).send(await metrics.text());
  });
  const url = await server.listen({ host: listen.host, port: listen.port });
  return { url, stop: async () => await server.close() };
}
