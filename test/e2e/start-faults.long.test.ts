import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { readBody } from "../support/http-server.ts";
import { endWhatIsLeft, makeFolder, type Started, start, until } from "./support/swapd.ts";

const WITHIN_MS = 120_000;
/** So long a daemon lives behind a node that does not serve it; a slot is due every two seconds. */
const FAULTY_MS = 5_000;

const worldSchema = z.object({
  rpcUrl: z.string(),
  serviceUrl: z.string(),
  apiKey: z.string(),
  wallet: z.object({ address: z.string(), privateKey: z.string() }),
});

/** What the node in between does with a call: a status, or it is away, or it takes the call and never answers. */
type Manner = "serves" | "away" | "hangs" | 402 | 429 | 502;

const folder = makeFolder();
const file = join(folder.path, "config", "own.yaml");
const database = join(folder.path, "config", "own.db");
let manner: Manner = "serves";
let environment: Record<string, string>;
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const args = ["sandbox", "--no-daemon", "--no-market", "--port", "0", "--json", "--block-time", "0.5"];
  const sandbox = start(folder.path, args);
  const world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
  const node = await startNode(world.rpcUrl);
  environment = { OWN_RPC: node, OWN_KEY: world.wallet.privateKey, OWN_API_KEY: world.apiKey };
  const shipped = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8").split("\nserve:")[0] ?? "";
  const own = shipped
    .replace("SWAPD_SANDBOX_RPC", "OWN_RPC")
    .replace("SWAPD_SANDBOX_WALLET_KEY", "OWN_KEY")
    .replace("url: embedded", `url: "${world.serviceUrl}", apiKey: { env: OWN_API_KEY }`)
    .replace("strategies: ../strategies/sandbox", "strategies: own")
    .replace("../.swapd/sandbox/swapd.db", "own.db");
  writeFileSync(file, `${own}\nidentity: own-identity\ntiming: { quoteLifetime: 20s, pollInterval: 200ms }\n`);
  mkdirSync(join(folder.path, "config", "own"));
  const strategy = 'kind: dca\nwallet: main\nsell: "300 USDC"\nbuy: WETH\nschedule: { every: 2s }\n';
  writeFileSync(join(folder.path, "config", "own", "own.yaml"), strategy);
  // As `init` leaves it: the wallet may have traded by another database before.
  const wallet = world.wallet.address.toLowerCase();
  mkdirSync(join(folder.path, "config", "own-identity"));
  const marker = join(folder.path, "config", "own-identity", `31337-${wallet}.json`);
  writeFileSync(marker, JSON.stringify({ version: 1, chainId: 31_337, wallet }));
}, WITHIN_MS);

afterAll(async () => {
  await endWhatIsLeft();
  for (const close of closing) await close();
  folder.remove();
});

async function startNode(target: string): Promise<string> {
  const server = createServer((request, response) => {
    if (manner === "away") response.destroy();
    else if (typeof manner === "number") response.writeHead(manner).end("no");
    else if (manner === "serves") void pass(target, request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => leave(server));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function pass(target: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(target, { method: "POST", headers, body: await readBody(request) });
    response.writeHead(answer.status, headers).end(await answer.text());
  } catch {
    response.destroy();
  }
}

/** Writes the address of the status server and starts the daemon. */
function startOn(port: number): Started {
  const text = readFileSync(file, "utf8").replace(/listen: 127\.0\.0\.1:\d+/, `listen: 127.0.0.1:${port}`);
  writeFileSync(file, text);
  return start(folder.path, ["start", "--config", file], environment);
}

async function statusAt(port: number, path: string): Promise<number> {
  return await fetch(`http://127.0.0.1:${port}${path}`).then(
    ({ status }) => status,
    () => 0,
  );
}

function fills(): number {
  const db = new Database(database, { readonly: true });
  const count = db.prepare<[], number>("SELECT count(*) FROM swaps WHERE state IN ('confirmed', 'final')").pluck();
  const number = count.get() ?? 0;
  db.close();
  return number;
}

async function stop(daemon: Started): Promise<void> {
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
}

test.each(["away", 429, 402, 502, "hangs"] as const)(
  "a node that at the start answers so (%s): the daemon is up, not ready, and trades once it serves",
  async (fault) => {
    manner = fault;
    const port = await claimPort(0);
    const daemon = startOn(port);
    const around = { process: daemon, withinMs: WITHIN_MS };
    await until("it is healthy", around, async () => (await statusAt(port, "/healthz")) === 200);
    const before = fills();
    await sleep(FAULTY_MS);
    expect(await statusAt(port, "/healthz"), "being cut off is no illness").toBe(200);
    expect(await statusAt(port, "/readyz")).toBe(503);
    expect(fills()).toBe(before);
    manner = "serves";
    await until("it is ready", around, async () => (await statusAt(port, "/readyz")) === 200);
    await until("it trades", around, () => fills() > before);
    await stop(daemon);
  },
  2 * WITHIN_MS,
);

test(
  "a start that is killed at any instant is followed by one that trades",
  async () => {
    for (const afterMs of [150, 300, 450, 600, 750, 900, 1_200, 1_600]) {
      const killed = startOn(await claimPort(0));
      await sleep(afterMs);
      killed.process.kill("SIGKILL");
      await killed.ended;
    }
    const port = await claimPort(0);
    const before = fills();
    const daemon = startOn(port);
    await until("it trades", { process: daemon, withinMs: WITHIN_MS }, () => fills() > before);
    await stop(daemon);
  },
  2 * WITHIN_MS,
);

test(
  "a database that somebody else writes at the start is waited for, and anyone who asks hears of what",
  async () => {
    const port = await claimPort(0);
    const health = `http://127.0.0.1:${port}/healthz`;
    const before = fills();
    const writer = new Database(database);
    writer.exec("BEGIN IMMEDIATE");
    const daemon = startOn(port);
    const around = { process: daemon, withinMs: WITHIN_MS };
    const problem = async (): Promise<string> => {
      const answer = await fetch(health).catch(() => undefined);
      return answer?.status === 503 ? await answer.text() : "";
    };
    await until("it says what it waits for", around, async () => (await problem()).includes("locked"));
    writer.exec("ROLLBACK");
    writer.close();
    await until("it trades", around, () => fills() > before);
    await stop(daemon);
  },
  2 * WITHIN_MS,
);

/** Somebody else on the port of the status server. */
async function occupy(port: number): Promise<Server> {
  const server = createServer((_request, response) => void response.writeHead(418).end());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return server;
}

const leave = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

test(
  "a port that is in use is tried again until it is free",
  async () => {
    const port = await claimPort(0);
    const other = await occupy(port);
    const daemon = startOn(port);
    await sleep(FAULTY_MS);
    expect(daemon.process.exitCode).toBeNull();
    await leave(other);
    const isUp = async (): Promise<boolean> => (await statusAt(port, "/healthz")) === 200;
    await until("it is up", { process: daemon, withinMs: WITHIN_MS }, isUp);
    await stop(daemon);
  },
  2 * WITHIN_MS,
);

test(
  "a port that stays in use for a minute ends the start with 75, and nothing was traded",
  async () => {
    const port = await claimPort(0);
    const other = await occupy(port);
    const before = fills();
    const beganMs = performance.now();
    const { code, err } = await startOn(port).ended;
    const tookMs = performance.now() - beganMs;
    const words = `http.listen: another process listens on 127.0.0.1:${port}: stop that one, or write another port`;
    expect({ code, err }).toMatchObject({ code: 75, err: expect.stringContaining(words) });
    expect(tookMs).toBeGreaterThan(50_000);
    expect(tookMs).toBeLessThan(WITHIN_MS);
    expect(fills()).toBe(before);
    await leave(other);
  },
  2 * WITHIN_MS,
);
