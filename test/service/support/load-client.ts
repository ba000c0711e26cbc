import { Agent, type IncomingMessage, request } from "node:http";

/** One answer as a client of the load saw it; instants are wall clock, Unix milliseconds. */
export interface LoadAnswer {
  readonly endpoint: string;
  readonly status: number;
  readonly sentAtMs: number;
  readonly gotAtMs: number;
  readonly durationMs: number;
  readonly headers: IncomingMessage["headers"];
  /** of refusals and failures */
  readonly text: string;
}

export interface LoadClient {
  /** what the service counts it by */
  readonly caller: string;
  readonly limit: number;
  readonly apikey: string | undefined;
  /** an address of this machine, which the service sees */
  readonly localAddress: string;
}

export interface LoadRequest {
  readonly endpoint: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
}

/** How often a client looks what is due. */
export const TICK_MS = 10;
/** A client that waits for so many answers sends no more: it is no endless queue. */
const MAX_OPEN = 128;

/** Sends twice the client's limit for a while, evenly, whatever is answered. */
export async function offerTwice(
  target: { url: string; seconds: number },
  client: LoadClient,
  next: () => LoadRequest,
  seen: (answer: LoadAnswer, body: string) => void,
): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });
  const beganMs = performance.now();
  const endMs = beganMs + target.seconds * 1_000;
  let sent = 0;
  let open = 0;
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const nowMs = performance.now();
      const due = Math.floor((Math.min(nowMs, endMs) - beganMs) * ((2 * client.limit) / 1_000)) - sent;
      for (let count = 0; count < due; count += 1) {
        sent += 1;
        if (open >= MAX_OPEN) continue;
        open += 1;
        void ask(target.url, client, { agent, request: next() }, seen).finally(() => {
          open -= 1;
        });
      }
      if (nowMs < endMs || open > 0) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  agent.destroy();
}

function ask(
  url: string,
  client: LoadClient,
  { agent, request: wanted }: { agent: Agent; request: LoadRequest },
  seen: (answer: LoadAnswer, body: string) => void,
): Promise<void> {
  const headers = {
    ...(client.apikey === undefined ? {} : { apikey: client.apikey }),
    ...(wanted.body === undefined ? {} : { "content-type": "application/json" }),
  };
  const sentAtMs = Date.now();
  const beganMs = performance.now();
  return new Promise((resolve, reject) => {
    const { method, path, endpoint } = wanted;
    const asked = request(url + path, { method, headers, agent, localAddress: client.localAddress }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const gotAtMs = Date.now();
        const durationMs = performance.now() - beganMs;
        const body = Buffer.concat(chunks).toString();
        const status = response.statusCode ?? 0;
        const text = status === 200 ? "" : body;
        seen({ endpoint, status, sentAtMs, gotAtMs, durationMs, headers: response.headers, text }, body);
        resolve();
      });
      response.on("error", reject);
    });
    asked.on("error", (error: NodeJS.ErrnoException) => {
      // The server closed a connection that nobody used just when we did: it saw nothing of the request.
      if (asked.reusedSocket && error.code === "ECONNRESET")
        resolve(ask(url, client, { agent, request: wanted }, seen));
      else reject(error);
    });
    asked.end(wanted.body);
  });
}
