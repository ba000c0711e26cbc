import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createServer, Agent as HttpAgent, request } from "node:http";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { boundedFetch } from "../src/net/bounded-fetch.ts";
import { watchProcessorTime } from "../test/support/processor-time.ts";

/**
 * Processor time of the caller for a small JSON-RPC call to a server in a process of its own, one after the other and with
 * 50 in flight: the clients as they come, and what swapd calls with, which bounds size and time. They take turns, forwards
 * and backwards, and the median of all rounds counts. Ends with 1 when swapd's calls cost more than those over node:http.
 */
const GATE = 1;
const ROUNDS = 9;
const CALLS = Number(process.argv[2] ?? "2000");
const WARM_UP_CALLS = 2_000;
const IN_FLIGHT = 50;
const OWN = "swapd, over undici";
const SERVER = "server";

type Call = (id: number) => Promise<string>;

function serve(): void {
  const server = createServer((asked, response) => {
    let body = "";
    asked.setEncoding("utf8");
    asked.on("data", (piece: string) => {
      body += piece;
    });
    asked.on("end", () => {
      const { id } = JSON.parse(body) as { id: number };
      const answer = JSON.stringify({ jsonrpc: "2.0", id, result: "0x1234567" });
      response.writeHead(200, { "content-type": "application/json", "content-length": answer.length }).end(answer);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
  process.on("disconnect", () => process.exit(0));
}

function clientsOf(port: number): Readonly<Record<string, Call>> {
  const origin = `http://127.0.0.1:${port}`;
  const path = "/v2/key";
  const url = origin + path;
  const json = { "content-type": "application/json" };
  const headers = { accept: "*/*", "cache-control": "no-cache", "user-agent": "bench", ...json };
  const bodyOf = (id: number): string => {
    const call = { to: `0x${"ab".repeat(20)}`, data: `0x${"cd".repeat(68)}` };
    return JSON.stringify({ jsonrpc: "2.0", id, method: "eth_call", params: [call, "latest"] });
  };
  const agent = new HttpAgent({ keepAlive: true });
  const dispatcher = new Agent();
  return {
    "built-in fetch": async (id) => (await fetch(url, { method: "POST", headers, body: bodyOf(id) })).text(),
    "node:http": (id) =>
      new Promise((resolve, reject) => {
        const body = bodyOf(id);
        const length = { "content-length": Buffer.byteLength(body) };
        const sent = request(url, { method: "POST", agent, headers: { ...headers, ...length } }, (response) => {
          const pieces: Buffer[] = [];
          response.on("data", (piece: Buffer) => pieces.push(piece));
          response.on("end", () => resolve(Buffer.concat(pieces).toString("utf8")));
        });
        sent.on("error", reject);
        sent.end(body);
      }),
    undici: async (id) => {
      const { body } = await dispatcher.request({ origin, path, method: "POST", headers, body: bodyOf(id) });
      return body.text();
    },
    [OWN]: async (id) => {
      const bounds = { timeoutMs: 30_000, maxBytes: 1_000_000 };
      return (await boundedFetch({ url, method: "POST", headers: json, body: bodyOf(id), ...bounds })).text;
    },
  };
}

/** @returns microseconds of processor time a call */
async function measure(call: Call, calls: number, inFlight: number): Promise<number> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < calls) {
      const id = next;
      next += 1;
      const answer = JSON.parse(await call(id)) as { id: number };
      if (answer.id !== id) throw new Error(`the answer to ${answer.id} instead of ${id}`);
    }
  };
  const usedMs = watchProcessorTime();
  await Promise.all(Array.from({ length: inFlight }, work));
  return (usedMs() * 1_000) / calls;
}

function median(values: readonly number[]): number {
  return Math.round([...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN);
}

async function main(): Promise<boolean> {
  const server: ChildProcess = fork(fileURLToPath(import.meta.url), [SERVER]);
  const [{ port }] = (await once(server, "message")) as [{ port: number }];
  const clients = Object.entries(clientsOf(port)).map(([name, call]) => ({
    name,
    call,
    alone: [] as number[],
    together: [] as number[],
  }));
  for (const { call } of clients) await measure(call, WARM_UP_CALLS, IN_FLIGHT);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { call, alone, together } of round % 2 === 0 ? clients : clients.toReversed()) {
      alone.push(await measure(call, CALLS, 1));
      together.push(await measure(call, CALLS, IN_FLIGHT));
    }
  }
  server.disconnect();
  const rows = clients.map(({ name, alone, together }) => ({
    client: name,
    aloneUs: median(alone),
    inFlightUs: median(together),
  }));
  console.table(rows);
  const plain = rows.find(({ client }) => client === "node:http");
  const own = rows.find(({ client }) => client === OWN);
  if (plain === undefined || own === undefined) throw new Error("a client is missing");
  const worst = Math.max(own.aloneUs / plain.aloneUs, own.inFlightUs / plain.inFlightUs);
  const ratio = Math.round(worst * 100) / 100;
  console.log(JSON.stringify({ bench: "http-calls", gate: GATE, rows, ratio }));
  return ratio < GATE;
}

if (process.argv[2] === SERVER) serve();
else process.exit((await main()) ? 0 : 1);
