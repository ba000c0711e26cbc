import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJsonRpc } from "../src/chain/json-rpc.ts";
import { toAddress } from "../src/domain/money/address.ts";
import type { Pool } from "../src/service/pools/pool.ts";
import { createSnapshots } from "../src/service/pools/snapshots.ts";
import { startService } from "../src/service/service.ts";
import { startTestChain, type TestChain } from "../test/service/support/chain.ts";
import { deployMarket, type Market, serviceOptions } from "../test/service/support/market.ts";
import { createRecordingLogger } from "../test/service/support/recording-logger.ts";
import { systemClock } from "../test/service/support/system-clock.ts";

/**
 * What state of pools costs: the first quote of a pair that nobody asked for before and a warm one, over HTTP; and a new
 * block with 20, 200 and 2,000 pools in use, half of them with ticks, of which each block is one read. The node is a local
 * one, so all figures leave out the way to it. Ends with 1 when a gate is missed. Run it alone.
 */
const GATES = { coldMs: 50, warmP95Ms: 20 };
const COLD_STARTS = 7;
const WARM_QUOTES = 300;
const BLOCKS = 15;
const POOL_COUNTS = [20, 200, 2_000];

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN) * 10) / 10;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const beganMs = performance.now();
  await work();
  return performance.now() - beganMs;
}

async function measureQuotes(chain: TestChain, market: Market) {
  const folder = mkdtempSync(join(tmpdir(), "swapd-bench-pools-"));
  const cold: number[] = [];
  const warm: number[] = [];
  for (let life = 0; life < COLD_STARTS; life += 1) {
    const options = serviceOptions(chain, market, { database: join(folder, `${life}.db`) });
    const service = await startService(options, { logger: createRecordingLogger(), clock: systemClock });
    const query = `fromTokenAddress=${market.usdt}&toTokenAddress=${market.dai}&amount=1000000000&slippage=0.01&gasless=false`;
    const quote = async () => {
      const response = await fetch(`${service.url}/aggregator/quote?${query}`);
      if (!response.ok) throw new Error(`no quote: ${response.status} ${await response.text()}`);
      await response.text();
    };
    // The connection and the code of the server are warm, the pair is not.
    await (await fetch(`${service.url}/health`)).text();
    cold.push(await timed(quote));
    for (let count = 0; life === COLD_STARTS - 1 && count < WARM_QUOTES; count += 1) warm.push(await timed(quote));
    await service.stop();
  }
  rmSync(folder, { recursive: true, force: true });
  return { coldMs: quantile(cold, 0.5), warmP50Ms: quantile(warm, 0.5), warmP95Ms: quantile(warm, 0.95) };
}

/** Copies of a pair and of a pool with ticks, code and state alike: to read them costs what reading the originals does. */
async function copyPools(chain: TestChain, market: Market, count: number): Promise<readonly Pool[]> {
  const [pairFactory, poolFactory] = market.protocols.map(({ factory }) => factory);
  const word = (address: string) => address.slice(2).padStart(64, "0");
  const pairData = `0xe6a43905${word(market.weth)}${word(market.usdc)}`;
  const poolData = `0x1698ee82${word(market.weth)}${word(market.usdc)}${(500).toString(16).padStart(64, "0")}`;
  const calls = [
    { to: pairFactory, data: pairData },
    { to: poolFactory, data: poolData },
  ];
  const found = await chain.rpc.batch(calls.map((call) => ({ method: "eth_call", params: [call, "latest"] })));
  const originals = found.map((answer) => `0x${String(answer).slice(-40)}`);
  // Reserves of a pair lie in slot 8; price and liquidity of a pool with ticks in slots 0 and 4.
  const slots = [["0x8"], ["0x0", "0x4"]];
  const requests: { method: string; params: unknown[] }[] = [];
  const pools: Pool[] = [];
  const [token0, token1] = [market.weth, market.usdc].sort() as [typeof market.weth, typeof market.usdc];
  for (const [kind, original] of originals.entries()) {
    const code = await chain.rpc.call("eth_getCode", [original, "latest"]);
    const values = await Promise.all(
      (slots[kind] ?? []).map((slot) => chain.rpc.call("eth_getStorageAt", [original, slot, "latest"])),
    );
    for (let index = 0; index < count / 2; index += 1) {
      const address = toAddress(`0x${(0xc0de0000 + kind * 0x10000 + index).toString(16).padStart(40, "0")}`);
      requests.push({ method: "anvil_setCode", params: [address, code] });
      for (const [place, slot] of (slots[kind] ?? []).entries()) {
        requests.push({ method: "anvil_setStorageAt", params: [address, slot, values[place]] });
      }
      pools.push(
        kind === 0
          ? { kind: 1, protocol: 0, address, token0, token1, feePips: 3000, tickSpacing: 0 }
          : { kind: 2, protocol: 1, address, token0, token1, feePips: 500, tickSpacing: 10 },
      );
    }
  }
  for (let start = 0; start < requests.length; start += 30) await chain.rpc.batch(requests.slice(start, start + 30));
  await chain.rpc.call("anvil_mine", ["0x1"]);
  return pools;
}

async function measureFollowing(chain: TestChain, market: Market, count: number) {
  const pools = await copyPools(chain, market, count);
  let skewMs = 0;
  const clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + skewMs };
  let requests = 0;
  const rpc = createJsonRpc({ url: chain.url, timeoutMs: 30_000, maxBytes: 16_000_000 });
  const counted = {
    ...rpc,
    batch: (...values: Parameters<typeof rpc.batch>) => {
      requests += 1;
      return rpc.batch(...values);
    },
  };
  const snapshots = createSnapshots({ rpc: counted }, clock);
  const first = await snapshots.current();
  const firstMs = await timed(() => Promise.all(pools.map((pool) => first.state(pool))));
  const blocks: number[] = [];
  let cpuMs = 0;
  let spent = 0;
  for (let block = 0; block < BLOCKS; block += 1) {
    await chain.rpc.call("anvil_mine", ["0x1"]);
    skewMs += 1_000;
    const [cpuBefore, requestsBefore] = [process.cpuUsage(), requests];
    blocks.push(await timed(() => snapshots.current()));
    const cpu = process.cpuUsage(cpuBefore);
    cpuMs += (cpu.user + cpu.system) / 1_000;
    spent += requests - requestsBefore;
    const snapshot = await snapshots.current();
    const states = await Promise.all(pools.map((pool) => snapshot.state(pool)));
    if (states.some((state) => state === undefined)) throw new Error("a pool has no state");
  }
  snapshots.stop();
  return {
    pools: count,
    firstReadMs: Math.round(firstMs),
    blockP50Ms: quantile(blocks, 0.5),
    blockWorstMs: quantile(blocks, 1),
    ownCpuMs: Math.round((cpuMs / BLOCKS) * 10) / 10,
    requestsPerBlock: Math.round((spent / BLOCKS) * 10) / 10,
  };
}

const chain = await startTestChain(["--gas-limit", "300000000"]);
const market = await deployMarket(chain);
const quotes = await measureQuotes(chain, market);
const following = [];
for (const count of POOL_COUNTS) following.push(await measureFollowing(chain, market, count));
await chain.stop();
console.table([quotes]);
console.table(following);
console.log(JSON.stringify({ bench: "pools", gates: GATES, quotes, following }));
process.exit(quotes.coldMs < GATES.coldMs && quotes.warmP95Ms < GATES.warmP95Ms ? 0 : 1);
