import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NetworkFlags } from "../../src/app/network-flags.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { type ServeFlags, serveNetworks, serveOptions } from "../../src/app/serve-network.ts";
import { startTestChain, type TestChain } from "../service/support/chain.ts";
import { deployMarket, type Market } from "../service/support/market.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

let chain: TestChain;
let market: Market;

beforeAll(async () => {
  chain = await startTestChain();
  market = await deployMarket(chain);
});

afterAll(() => chain?.stop());

/** What somebody knows of a bare chain: where the factories are. */
function bareFacts(): object {
  return {
    chainId: 31_337,
    wrappedNative: market.wrappedNative,
    protocols: market.protocols,
    feeTiers: [500, 3_000],
  };
}

function flagsOf(facts: object, more: Partial<ServeFlags> & Partial<NetworkFlags> = {}): ServeFlags {
  const directory = temporaryDirectory();
  const preset = join(directory, "network.json");
  writeFileSync(preset, JSON.stringify(facts));
  const database = join(directory, "service.db");
  const { settlement, metrics } = more;
  const network = { network: "bare", rpc: "env:RPC", preset, ...(settlement === undefined ? {} : { settlement }) };
  return { networks: [network], database, listen: "127.0.0.1:0", ...(metrics === undefined ? {} : { metrics }) };
}

async function start(flags: ServeFlags, rpc = chain.url) {
  const logFile = join(temporaryDirectory(), "log");
  const runtime = createRuntime({ level: "error", env: { RPC: rpc }, logFile });
  return await serveNetworks(serveOptions(flags, runtime), runtime);
}

describe("swapd serve --network", () => {
  it("quotes on a bare chain by nothing but its RPC URL and factories, and says what it cannot build", async () => {
    const service = await start(flagsOf(bareFacts(), { metrics: "127.0.0.1:0" }));
    const query = `fromTokenAddress=${market.usdc}&toTokenAddress=${market.weth}&amount=3000000&slippage=0.01&gasless=false`;
    const quote = await fetch(`${service.url}/aggregator/quote?network=bare&${query}`);
    expect(quote.status).toBe(200);
    expect(await quote.json()).toMatchObject({ network: "bare", targetAddress: null });
    const firm = await fetch(`${service.url}/aggregator/quote?network=bare&${query}&fromAddress=${chain.deployer}`);
    expect(await firm.json()).toMatchObject({ error: "SETTLEMENT_MISSING" });
    expect((await fetch(`${service.metricsUrl}/metrics`)).status).toBe(200);
    await service.stop();
  });

  it("builds transactions with a settlement contract, whose executor it asks for, and refuses another contract", async () => {
    const service = await start(flagsOf(bareFacts(), { settlement: market.settlement }));
    const query = `fromTokenAddress=${market.usdc}&toTokenAddress=${market.weth}&amount=3000000&slippage=0.01&gasless=false`;
    const firm = await fetch(`${service.url}/aggregator/quote?network=bare&${query}&fromAddress=${chain.deployer}`);
    expect(await firm.json()).toMatchObject({ targetAddress: market.settlement });
    await service.stop();
    const wrong = await start(flagsOf(bareFacts(), { settlement: market.usdc }));
    await expect(wrong.failed).resolves.toMatchObject({ message: expect.stringContaining("has no executor()") });
    await wrong.stop();
  });

  it("serves what a node cannot know as soon as it can: one of another chain, and one that is gone, refuse with the reason", async () => {
    for (const [flags, rpc, reason] of [
      [flagsOf({ ...bareFacts(), chainId: 1 }), chain.url, "it serves chain 31337 instead of 1"],
      [flagsOf(bareFacts()), "http://127.0.0.1:9/secret-path", "does not answer properly"],
    ] as const) {
      const service = await start(flags, rpc);
      const query = `fromTokenAddress=${market.usdc}&toTokenAddress=${market.weth}&amount=3000000&slippage=0.01&gasless=false`;
      const quote = await fetch(`${service.url}/aggregator/quote?network=bare&${query}`);
      expect(quote.status).toBe(503);
      const { message } = (await quote.json()) as { message: string };
      expect(message).toContain(reason);
      expect(message).not.toContain("secret-path");
      await service.stop();
    }
  });

  it("says what is wrong with flags that make no sense", async () => {
    const { networks: _, ...plain } = flagsOf(bareFacts());
    const startWith = (network: NetworkFlags, more = {}) => start({ ...plain, ...more, networks: [network] });
    const unknown = startWith({ network: "bass", rpc: "env:RPC" });
    await expect(unknown).rejects.toThrow('"bass" is not built in: known are arbitrum, avalanche');
    const socket = startWith({ network: "base", rpc: "ws://node" });
    await expect(socket).rejects.toThrow("--rpc of base is no http or https URL");
    await expect(startWith({ network: "base" })).rejects.toThrow("--network base needs --rpc");
    const nowhere = startWith({ network: "base", rpc: "env:RPC" }, { listen: "nowhere" });
    await expect(nowhere).rejects.toThrow("is no host and port");
    const onZksync = startWith({ network: "zksync", rpc: "env:RPC", settlement: market.settlement });
    await expect(onZksync).rejects.toThrow("zksync is unsupported by the settlement contracts");
    await expect(start(flagsOf({ ...bareFacts(), protocols: [] }))).rejects.toThrow("--preset");
    const foreign = { ...market.protocols[0], kind: 255 };
    await expect(start(flagsOf({ ...bareFacts(), protocols: [foreign] }))).rejects.toThrow(
      "protocols: 0: kind: 255 is the number of no kind of pool: write one of 1 (uniswap-v2), 2",
    );
  });
});
