import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { TRADER } from "../../src/sandbox/accounts.ts";
import { PricePath } from "../../src/sandbox/market/prices.ts";
import { createRandom } from "../../src/sandbox/market/random.ts";
import { START_PRICES, SYMBOLS } from "../../src/sandbox/plan.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { type Sandbox, STATE_FILE, startSandbox } from "../../src/sandbox/sandbox.ts";
import { feedDollars, poolPrice, until } from "./chain-reader.ts";

const directory = mkdtempSync(join(tmpdir(), "swapd-market-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

let count = 0;
function start(seed: number, more: object = {}, onMarketError?: (error: Error) => void): Promise<Sandbox> {
  count += 1;
  const options = { port: 0, blockTimeSeconds: 0.25, seed, market: true, mining: false };
  const hooks = onMarketError === undefined ? {} : { onMarketError };
  return startSandbox({ directory: join(directory, String(count)), ...options, ...more }, hooks);
}

/** What the market sent, block by block: everything that makes a transaction what it is, but not its signature. */
async function transactionsByBlock(sandbox: Sandbox, blocks: number): Promise<string[][]> {
  const rpc = createRpc(sandbox.world.rpcUrl);
  const seen: string[][] = [];
  for (let index = 0; index < blocks; index += 1) {
    await sandbox.market.step();
    const block = (await rpc.call("eth_getBlockByNumber", "latest", true)) as {
      number: string;
      transactions: { from: string; to: string; input: string; nonce: string }[];
    };
    seen.push(
      block.transactions.map(({ from, to, input, nonce }) => [block.number, from, to, input, nonce].join(" ")).sort(),
    );
  }
  return seen;
}

describe("a price path", () => {
  it("is repeated by its seed, also when it is asked backwards", () => {
    const path = new PricePath(5);
    const forwards = Array.from({ length: 50 }, (_, step) => path.at(step));
    const other = new PricePath(5);
    const backwards = Array.from({ length: 50 }, (_, index) => other.at(49 - index)).reverse();
    expect(backwards).toEqual(forwards);
    expect(new PricePath(6).at(10)).not.toEqual(forwards[10]);
  });

  it("stays within believable prices for days", () => {
    const path = new PricePath(3);
    for (let step = 0; step <= 200_000; step += 1) {
      const prices = path.at(step);
      for (const symbol of SYMBOLS) {
        const ratio = Number(prices[symbol]) / 1e8 / START_PRICES[symbol];
        if (ratio < 0.9 || ratio > 1.1) throw new Error(`${symbol} at step ${step}: ${ratio} of its start`);
      }
    }
  });

  it("crosses one per cent up and down soon enough for a demonstration, whatever the seed", () => {
    for (let seed = 0; seed < 50; seed += 1) {
      const path = new PricePath(seed);
      const ratios = Array.from({ length: 46 }, (_, step) => Number(path.at(step).WETH) / 1e8 / START_PRICES.WETH);
      expect(Math.max(...ratios), `seed ${seed}`).toBeGreaterThan(1.01);
      expect(Math.min(...ratios), `seed ${seed}`).toBeLessThan(0.99);
    }
  });

  it("draws evenly and does not mix up neighbouring seeds", () => {
    const random = createRandom(1, 2);
    const draws = Array.from({ length: 20_000 }, () => random.uniform());
    const mean = draws.reduce((sum, draw) => sum + draw, 0) / draws.length;
    expect(mean).toBeCloseTo(0.5, 1);
    const firsts = new Set(Array.from({ length: 1_000 }, (_, seed) => createRandom(seed, 1).uniform()));
    expect(firsts.size).toBe(1_000);
  });
});

describe("the market", () => {
  it("repeats trades and feeds by block number with the same seed, and not with another", async () => {
    const [first, second, third] = await Promise.all([start(11), start(11), start(12)]);
    const runs = [];
    for (const sandbox of [first, second, third]) runs.push(await transactionsByBlock(sandbox, 12));
    expect(runs[0]!.flat().length).toBeGreaterThan(60);
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[2]).not.toEqual(runs[0]);
    await Promise.all([first, second, third].map((sandbox) => sandbox.stop()));
  });

  it("takes every pool to the feeds' price, and none of its trades reverts", async () => {
    const sandbox = await start(21);
    const rpc = createRpc(sandbox.world.rpcUrl);
    for (let step = 0; step < 40; step += 1) {
      await sandbox.market.step();
      const receipts = (await rpc.call("eth_getBlockReceipts", "latest")) as { status: string }[];
      expect(receipts.every((receipt) => receipt.status === "0x1")).toBe(true);
    }
    const { world } = sandbox;
    expect(await feedDollars(world.rpcUrl, world.tokens.WETH.feed)).not.toBe(3000);
    for (const pool of world.pools) {
      const dollars0 = await feedDollars(world.rpcUrl, world.tokens[pool.token0].feed);
      const dollars1 = await feedDollars(world.rpcUrl, world.tokens[pool.token1].feed);
      expect(Math.abs((await poolPrice(world, pool)) / (dollars0 / dollars1) - 1)).toBeLessThan(0.005);
    }
    await sandbox.stop();
  });

  it("rests when it is told to and goes on afterwards, while blocks never stop", async () => {
    const sandbox = await start(31, { mining: true });
    const rpc = createRpc(sandbox.world.rpcUrl);
    const blockNumber = async (): Promise<number> => Number(await rpc.call("eth_blockNumber"));
    const traded = async (): Promise<number> =>
      Number(await rpc.call("eth_getTransactionCount", TRADER.address, "latest"));
    await until(async () => (await traded()) > 8);
    sandbox.market.pause();
    const rest = (await blockNumber()) + 1;
    await until(async () => (await blockNumber()) > rest);
    const before = await traded();
    await until(async () => (await blockNumber()) > rest + 3);
    expect(await traded()).toBe(before);
    sandbox.market.resume();
    await until(async () => (await traded()) > before);
    await sandbox.stop();
  });

  it("reports a block that did not work out and mines on", async () => {
    const errors: Error[] = [];
    const sandbox = await start(41, { mining: true }, (error) => errors.push(error));
    const rpc = createRpc(sandbox.world.rpcUrl);
    await rpc.call("anvil_setBalance", TRADER.address, "0x0");
    await until(() => errors.length > 0);
    const number = Number(await rpc.call("eth_blockNumber"));
    await until(async () => Number(await rpc.call("eth_blockNumber")) > number + 2);
    await rpc.call("anvil_setBalance", TRADER.address, "0xffffffffffffffffffff");
    const traded = Number(await rpc.call("eth_getTransactionCount", TRADER.address, "latest"));
    await until(async () => Number(await rpc.call("eth_getTransactionCount", TRADER.address, "latest")) > traded);
    await sandbox.stop();
  });

  it("goes on where it stopped, with the seed it had", async () => {
    const whole = await start(51);
    const expected = await transactionsByBlock(whole, 8);
    await whole.stop();
    const first = await start(51);
    const half = await transactionsByBlock(first, 4);
    const stateFile = join(directory, String(count), STATE_FILE);
    await first.stop();
    const second = await start(99, { stateFile });
    expect(second.world.market.seed).toBe(51);
    expect([...half, ...(await transactionsByBlock(second, 4))]).toEqual(expected);
    await second.stop();
  });
});
