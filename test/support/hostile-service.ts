import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A service that answers exactly what it is told to, good or bad. */
export interface HostileService {
  readonly url: string;
  /** Bodies by path, as JSON values or as text; a path without one answers 404. */
  answer(bodies: Readonly<Record<string, unknown>>): void;
  /** How often each path was asked, sends included. */
  readonly asked: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Starts it on a free loopback port. */
export async function startHostileService(): Promise<HostileService> {
  let bodies: Readonly<Record<string, unknown>> = {};
  const asked = new Map<string, number>();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://service");
    asked.set(pathname, (asked.get(pathname) ?? 0) + 1);
    const body = bodies[pathname];
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body ?? { message: "Not found" }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answer: (next) => {
      bodies = next;
    },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
