import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadContract, loadUniswap } from "../../src/sandbox/artifacts.ts";
import { SYMBOLS, TOKENS, WALLET_FUNDS } from "../../src/sandbox/plan.ts";
import { createRpc } from "../../src/sandbox/rpc.ts";
import { type Sandbox, STATE_FILE, startSandbox } from "../../src/sandbox/sandbox.ts";
import {
  balanceOf,
  feedDollars,
  isListening,
  poolPrice,
  portOf,
  processesOfPort,
  until,
  view,
} from "./chain-reader.ts";

const directory = mkdtempSync(join(tmpdir(), "swapd-sandbox-"));
const options = { directory, port: 0, blockTimeSeconds: 0.25, seed: 1, market: false };
let sandbox: Sandbox;
let upMs = 0;
const steps: string[] = [];

beforeAll(async () => {
  const started = performance.now();
  sandbox = await startSandbox(options, { onProgress: (step) => steps.push(step) });
  upMs = performance.now() - started;
});

afterAll(async () => {
  await sandbox.stop();
  rmSync(directory, { recursive: true, force: true });
});

describe("a sandbox that stands still", () => {
  it("is up before a newcomer loses patience", () => {
    console.info(`sandbox up in ${Math.round(upMs)} ms`);
    // Five seconds on a machine of its own; here other suites run alongside it.
    expect(upMs).toBeLessThan(15_000);
    expect(steps).toContain("adding liquidity");
    expect(steps.at(-1)).toBe("ready");
  });

  it("gives every pool the price that its feeds say", async () => {
    const { world } = sandbox;
    expect(world.pools.length).toBeGreaterThanOrEqual(10);
    for (const pool of world.pools) {
      const dollars0 = await feedDollars(world.rpcUrl, world.feeds[pool.token0]!);
      const dollars1 = await feedDollars(world.rpcUrl, world.feeds[pool.token1]!);
      expect(await poolPrice(world, pool)).toBeCloseTo(dollars0 / dollars1, 6);
    }
    expect(await feedDollars(world.rpcUrl, world.feeds.ETH!)).toBe(3000);
    expect(await feedDollars(world.rpcUrl, world.tokens.WBTC.feed)).toBe(60_000);
  });

  it("makes its pools through the factories that the settlement trusts", async () => {
    const { rpcUrl, pools, protocols, tokens, executor } = sandbox.world;
    for (const pool of pools) {
      const factory = protocols.find((protocol) => protocol.kind === pool.kind)!.factory;
      const pair = [tokens[pool.token0].address, tokens[pool.token1].address];
      const [found] =
        pool.kind === 1
          ? await view(rpcUrl, loadUniswap("UniswapV2Factory"), { to: factory, method: "getPair", values: pair })
          : await view(rpcUrl, loadUniswap("UniswapV3Factory"), {
              to: factory,
              method: "getPool",
              values: [...pair, pool.feePips],
            });
      expect(String(found).toLowerCase()).toBe(pool.address);
    }
    const [kind, factory] = await view(rpcUrl, loadContract("SwapdExecutor"), {
      to: executor,
      method: "protocols",
      values: [1],
    });
    expect([Number(kind), String(factory).toLowerCase()]).toEqual([2, protocols[1]!.factory]);
  });

  it("puts tens of millions of dollars into its pools, so that a normal trade hardly moves them", async () => {
    const { rpcUrl, pools, tokens } = sandbox.world;
    let dollars = 0;
    for (const pool of pools) {
      for (const symbol of [pool.token0, pool.token1]) {
        const raw = await balanceOf(rpcUrl, tokens[symbol].address, pool.address);
        dollars += (Number(raw) / 10 ** tokens[symbol].decimals) * (await feedDollars(rpcUrl, tokens[symbol].feed));
      }
    }
    expect(dollars).toBeGreaterThan(350_000_000);
    expect(dollars).toBeLessThan(370_000_000);
  });

  it("has liquidity on many ticks, so that swaps cross them", () => {
    for (const pool of sandbox.world.pools.filter((candidate) => candidate.kind === 2)) {
      const ticks = new Set(pool.ranges.flatMap((range) => [range.tickLower, range.tickUpper]));
      expect(ticks.size).toBeGreaterThanOrEqual(6);
    }
  });

  it("funds the wallet and the relayer, and leaves their nonces at zero", async () => {
    const { rpcUrl, wallet, relayer, tokens } = sandbox.world;
    const rpc = createRpc(rpcUrl);
    for (const symbol of SYMBOLS) {
      const unit = 10n ** BigInt(TOKENS[symbol].decimals);
      expect(await balanceOf(rpcUrl, tokens[symbol].address, wallet.address)).toBe(WALLET_FUNDS[symbol] * unit);
    }
    for (const account of [wallet, relayer]) {
      expect(await rpc.call("eth_getBalance", account.address, "latest")).toBe(`0x${(100n * 10n ** 18n).toString(16)}`);
      expect(await rpc.call("eth_getTransactionCount", account.address, "latest")).toBe("0x0");
    }
  });

  it("deploys a settlement that points at the executor", async () => {
    const { rpcUrl, settlement, executor, wallet } = sandbox.world;
    const contract = loadContract("SwapdSettlement");
    const [named] = await view(rpcUrl, contract, { to: settlement, method: "executor" });
    expect(String(named).toLowerCase()).toBe(executor);
    const nonce = { to: settlement, method: "isNonceUsed", values: [wallet.address, 7] };
    expect(await view(rpcUrl, contract, nonce)).toEqual([false]);
  });

  it("has tokens with the traps of real ones", async () => {
    const { rpcUrl, tokens, wallet } = sandbox.world;
    const rpc = createRpc(rpcUrl);
    for (const symbol of SYMBOLS) {
      const [decimals] = await view(rpcUrl, loadContract("PermitToken"), {
        to: tokens[symbol].address,
        method: "decimals",
      });
      expect(Number(decimals)).toBe(tokens[symbol].decimals);
    }
    const approve = loadContract("UsdtLikeToken").abi.encodeFunctionData("approve", [wallet.address, 1]);
    const call = { from: wallet.address, to: tokens.USDT.address, data: approve };
    expect(await rpc.call("eth_call", call, "latest")).toBe("0x");
  });

  it("makes blocks at the pace asked for, below a second too, and finality follows the tip", async () => {
    const rpc = createRpc(sandbox.world.rpcUrl);
    const before = Number(await rpc.call("eth_blockNumber"));
    await until(async () => Number(await rpc.call("eth_blockNumber")) >= before + 4);
    const [latest, finalized] = (await rpc.batch([
      { method: "eth_getBlockByNumber", params: ["latest", false] },
      { method: "eth_getBlockByNumber", params: ["finalized", false] },
    ])) as { number: string; timestamp: string }[];
    expect(Number(latest!.number) - Number(finalized!.number)).toBeLessThanOrEqual(3);
    expect(Math.abs(Number(latest!.timestamp) - Date.now() / 1000)).toBeLessThan(5);
  });

  it("leaves no process and no port behind, and starts again unmined from what it saved", async () => {
    const port = portOf(sandbox.world.rpcUrl);
    const rpc = createRpc(sandbox.world.rpcUrl);
    const block = (await rpc.call("eth_getBlockByNumber", "0x5", false)) as { transactions: string[] };
    await sandbox.stop();
    expect(await isListening(port)).toBe(false);
    expect(processesOfPort(port)).toEqual([]);

    const stateFile = join(directory, STATE_FILE);
    const saved = readFileSync(stateFile);
    const elsewhere = mkdtempSync(join(tmpdir(), "swapd-sandbox-"));
    const again = await startSandbox({ ...options, directory: elsewhere, stateFile, mining: false });
    try {
      const rpcAgain = createRpc(again.world.rpcUrl);
      const tip = await rpcAgain.call("eth_blockNumber");
      expect(Number(tip)).toBeGreaterThanOrEqual(24);
      expect({ ...again.world, rpcUrl: "" }).toEqual({ ...sandbox.world, rpcUrl: "" });
      const receipt = await rpcAgain.call("eth_getTransactionReceipt", block.transactions[0]);
      expect(receipt).toMatchObject({ status: "0x1", blockNumber: "0x5" });
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(await rpcAgain.call("eth_blockNumber")).toBe(tip);
    } finally {
      await again.stop();
      rmSync(elsewhere, { recursive: true, force: true });
    }
    expect(readFileSync(stateFile).equals(saved)).toBe(true);
  });
});
