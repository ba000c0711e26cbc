import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { KongLimits } from "./kong-limits.ts";

/** A real HTTP server that answers nothing but its rate limit, and remembers what it answered. */
export interface FixedWindowServer {
  readonly url: string;
  /** Statuses and instants of all answers so far, in order. */
  readonly answers: readonly { readonly status: number; readonly atMs: number }[];
  stop(): Promise<void>;
}

/** Starts the server on a free loopback port. The limit holds with and without a key. */
export async function startFixedWindowServer(limit: number): Promise<FixedWindowServer> {
  const limits = new KongLimits({ keyless: limit, keyed: limit, keys: [] });
  const answers: { status: number; atMs: number }[] = [];
  const server: Server = createServer((request, response) => {
    const atMs = Date.now();
    const verdict = limits.take({ key: undefined, address: request.socket.remoteAddress ?? "" }, atMs);
    const status = verdict.allowed ? 200 : 429;
    answers.push({ status, atMs });
    response.writeHead(status, { ...verdict.headers, "content-type": "application/json" });
    response.end(verdict.allowed ? "{}" : '{"message":"API rate limit exceeded"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    answers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * How much of the allowed rate was used from the first answer on, over whole seconds.
 * @returns share of the limit, and how many answers were refusals
 */
export function utilisation(
  answers: readonly { readonly status: number; readonly atMs: number }[],
  terms: { limit: number; seconds: number },
): { share: number; refused: number; allowed: number } {
  const first = answers[0]?.atMs ?? 0;
  const within = answers.filter((answer) => answer.atMs < first + terms.seconds * 1000);
  const allowed = within.filter((answer) => answer.status === 200).length;
  return {
    share: allowed / (terms.limit * terms.seconds),
    refused: within.filter((answer) => answer.status === 429).length,
    allowed,
  };
}
