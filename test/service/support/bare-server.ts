import type { FastifyInstance } from "fastify";
import { onTestFinished } from "vitest";
import { answer } from "../../../src/service/http/answer.ts";
import { ENDPOINTS } from "../../../src/service/http/endpoints.ts";
import { createServer, type Handler, type Handlers, type ServerOptions } from "../../../src/service/http/server.ts";
import { createTraffic } from "../../../src/service/http/traffic.ts";
import { type ApiKeyRow, digestOf } from "../../../src/service/keys/key-store.ts";
import { createHandClock } from "./hand-clock.ts";
import { createRecordingLogger } from "./recording-logger.ts";

export const NETWORKS = "/token-manager/networks";
export const BODY = [{ id: 1 }];

export interface Started {
  readonly url: string;
  readonly port: number;
  readonly server: FastifyInstance;
  readonly traffic: ReturnType<typeof createTraffic>;
  readonly clock: ReturnType<typeof createHandClock>;
  /** how often the database was asked for a key */
  readonly lookUps: () => number;
}

/** The real server on a real socket; only what stands behind the endpoints is replaced. */
export async function start(
  options: Partial<ServerOptions> & { maxInFlight?: number; keys?: Record<string, Partial<ApiKeyRow>> } = {},
  handler: Handler = async () => answer(BODY),
): Promise<Started> {
  const names = [...Object.keys(ENDPOINTS), "health"];
  const handlers = Object.fromEntries(names.map((name) => [name, handler])) as unknown as Handlers;
  const traffic = createTraffic(options.maxInFlight);
  const rows = new Map(Object.entries(options.keys ?? {}).map(([key, row]) => [digestOf(key), row as ApiKeyRow]));
  const clock = createHandClock(1_900_000_000_000);
  let lookUps = 0;
  const server = createServer(
    { limits: { keyless: 3, keyed: 5 }, apiKeys: ["configured"], ...options },
    {
      handlers,
      traffic,
      clock,
      logger: createRecordingLogger(),
      keys: {
        find(digest) {
          lookUps += 1;
          return rows.get(digest);
        },
      },
    },
  );
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => server.close());
  return { url, port: Number(new URL(url).port), server, traffic, clock, lookUps: () => lookUps };
}
