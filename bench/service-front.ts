import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { startTestChain } from "../test/service/support/chain.ts";
import { deployMarket, serviceOptions } from "../test/service/support/market.ts";

/**
 * Quotes of a client with a key over connections that it keeps, alone and alongside four connections that send pipelined requests for the OpenAPI document
 * as fast as they can, from the same address, and connect again when they are cut. Ends with 1 when the client's p95 gets
 * twice as long.
 */
const GATE = 2;
const SECONDS = Number(process.argv[2] ?? "10");
const QUOTES_PER_SECOND = 50;
const CONNECTIONS = 4;
const PIPELINED = 200;
/** An answer that comes no more fails the client, and must not hold up this bench. */
const MOST_MS = 10_000;
const LIMITS = { keyless: 50, keyed: 200 };

function attack(port: number): void {
  const requests = "GET /openapi.json HTTP/1.1\r\nhost: a\r\n\r\n".repeat(PIPELINED);
  function one(): void {
    const socket = connect(port, "127.0.0.1");
    const send = (): void => {
      if (!socket.destroyed && socket.write(requests)) setImmediate(send);
    };
    socket.on("connect", send);
    socket.on("drain", send);
    socket.on("error", () => undefined);
    socket.on("close", () => setImmediate(one));
    socket.resume();
  }
  for (let count = 0; count < CONNECTIONS; count += 1) one();
}

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });

async function quotes(url: string, path: string): Promise<{ p50Ms: number; p95Ms: number; failed: number }> {
  const times: number[] = [];
  let failed = 0;
  const ask = (): Promise<void> =>
    new Promise((resolve) => {
      const began = performance.now();
      const asked = request(url + path, { agent, timeout: MOST_MS, headers: { apikey: "key" } }, (response) => {
        response.resume();
        response.on("end", () => {
          if (response.statusCode === 200) times.push(performance.now() - began);
          else failed += 1;
          resolve();
        });
      });
      asked.on("timeout", () => asked.destroy(new Error("no answer")));
      asked.on("error", () => {
        failed += 1;
        resolve();
      });
      asked.end();
    });
  const all: Promise<void>[] = [];
  for (let count = 0; count < SECONDS * QUOTES_PER_SECOND; count += 1) {
    all.push(ask());
    await sleep(1_000 / QUOTES_PER_SECOND);
  }
  await Promise.all(all);
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? Number.NaN) * 100) / 100;
  return { p50Ms: at(0.5), p95Ms: at(0.95), failed };
}

async function main(): Promise<boolean> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-front-"));
  const chain = await startTestChain();
  const market = await deployMarket(chain);
  const database = join(directory, "service.db");
  const options = serviceOptions(chain, market, { database, limits: LIMITS, apiKeys: ["key"] });
  const service = fork(fileURLToPath(new URL("../test/service/support/load-service-main.ts", import.meta.url)), [
    JSON.stringify(options),
  ]);
  const [{ url }] = (await once(service, "message")) as [{ url: string }];
  const query = `fromTokenAddress=${market.usdc}&toTokenAddress=${market.weth}&sellAmount=1000000&slippage=0.01`;
  const path = `/aggregator/quote?${query}&fromAddress=${chain.deployer}&gasless=false`;
  // Every connection of the client stands before it is measured.
  await Promise.all(Array.from({ length: CONNECTIONS }, () => quotes(url, path)));
  const alone = await quotes(url, path);
  const attacker = new Worker(new URL(import.meta.url), { workerData: { port: Number(new URL(url).port) } });
  await sleep(500);
  const attacked = await quotes(url, path);
  await attacker.terminate();
  agent.destroy();
  const ended = once(service, "exit");
  service.disconnect();
  await ended;
  await chain.stop();
  rmSync(directory, { recursive: true });
  console.table({ alone, attacked });
  const ratio = Math.round((attacked.p95Ms / alone.p95Ms) * 100) / 100;
  console.log(JSON.stringify({ bench: "service-front", gate: GATE, alone, attacked, ratio }));
  return ratio < GATE && attacked.failed === 0;
}

if (isMainThread) process.exit((await main()) ? 0 : 1);
else attack((workerData as { port: number }).port);
