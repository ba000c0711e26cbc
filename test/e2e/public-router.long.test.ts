import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AbiCoder, Wallet } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { networkPresetOf } from "../../src/app/network-preset.ts";
import { createJsonRpc, type JsonRpc } from "../../src/chain/json-rpc.ts";
import { type Address, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { loadSwapRouter } from "../service/support/public-router.ts";
import { writeHome } from "./support/home.ts";
import { run, start, until } from "./support/swapd.ts";

// A chain with Uniswap's own contracts and none of ours: no settlement is named, and none is asked for.

const dca = (sell: string, buy: string) => `kind: dca
wallet: main
sell: "${sell}"
buy: ${buy}
schedule: { every: 3s }
retry_for: 3s
execution: { gasless: prefer }
budget: { max_runs: 1 }
`;

const STRATEGIES = {
  "usdc-for-weth": dca("100 USDC", "WETH"),
  "eth-for-usdc": dca("0.05 ETH", "USDC"),
  "usdc-for-eth": dca("150 USDC", "ETH"),
};

const WATCHED_SERVE = "serve: { listen: 127.0.0.1:0, database: watched-service.db }";
const PASSWORD = "of this test alone";

let sandbox: Sandbox;
let rpc: JsonRpc;
let router: Address;
let env: Record<string, string>;
const home = mkdtempSync(join(tmpdir(), "swapd-router-"));

/** Somebody's transaction, as anvil lets anybody send it. */
async function deployRouter(factories: { v2: string; v3: string; weth: string }): Promise<Address> {
  const from = "0x00000000000000000000000000000000000b1d0e";
  await rpc.call("anvil_setBalance", [from, "0x56bc75e2d63100000"]);
  await rpc.call("anvil_impersonateAccount", [from]);
  const values = [factories.v2, factories.v3, NATIVE_TOKEN, factories.weth];
  const encoded = AbiCoder.defaultAbiCoder().encode(["address", "address", "address", "address"], values);
  const data = `${loadSwapRouter().bytecode}${encoded.slice(2)}`;
  const hash = await rpc.call("eth_sendTransaction", [{ from, data, gas: "0x989680" }]);
  for (let tries = 0; tries < 100; tries += 1) {
    const receipt = z
      .object({ contractAddress: z.string() })
      .nullable()
      .parse(await rpc.call("eth_getTransactionReceipt", [hash]));
    if (receipt !== null) return toAddress(receipt.contractAddress);
    await sleep(100);
  }
  throw new Error("the router was not mined");
}

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: 0.3, seed: 1, market: false },
  });
  const { world } = sandbox;
  rpc = createJsonRpc({ url: world.rpcUrl, timeoutMs: 10_000, maxBytes: 4_000_000 });
  const [v2 = "", v3 = ""] = [1, 2].map((kind) => world.protocols.find((one) => one.kind === kind)?.factory);
  router = await deployRouter({ v2, v3, weth: world.wrappedNative });
  const { settlement, executor, ...preset } = JSON.parse(networkPresetOf(world));
  const keystore = new Wallet(world.wallet.privateKey).encryptSync(PASSWORD);
  writeFileSync(join(home, "wallet.json"), keystore, { mode: 0o600 });
  writeHome(home, {
    ...{ world, mode: "live", strategies: STRATEGIES, preset: { ...preset, router } },
    wallets: "{ main: { keystore: { file: wallet.json }, password: { env: HOME_PASSWORD } } }",
  });
  env = { HOME_RPC: world.rpcUrl, HOME_PASSWORD: PASSWORD, SWAPD_CONFIG: join(home, "swapd.yaml") };
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

const history = z.object({
  runs: z.array(
    z.object({
      swaps: z.array(z.object({ state: z.string(), mode: z.string().nullable(), bought: z.string().nullable() })),
    }),
  ),
});

const dryHistory = z.object({
  runs: z.array(z.object({ strategy: z.string(), state: z.string(), reason: z.string().nullable() })),
});

const runs = z.object({ runs: z.array(z.object({ id: z.string() })).min(3) });

async function runIds(): Promise<readonly string[]> {
  const { out } = await run(home, ["history", "--json"], env);
  return runs.parse(JSON.parse(out)).runs.map(({ id }) => id);
}

async function swapsSoFar() {
  const { code, out } = await run(home, ["history", "--json"], env);
  // There is no database yet.
  if (code !== 0) return [];
  return history.parse(JSON.parse(out)).runs.flatMap(({ swaps }) => swaps);
}

/** Balances that anybody could take. */
async function leftInRouter(): Promise<readonly bigint[]> {
  const data = `0x70a08231${router.slice(2).padStart(64, "0")}`;
  const held = Object.values(sandbox.world.tokens).map(({ address }) =>
    rpc.call("eth_call", [{ to: address, data }, "latest"]),
  );
  return (await Promise.all([...held, rpc.call("eth_getBalance", [router, "latest"])])).map((text) =>
    BigInt(String(text)),
  );
}

describe("a chain with Uniswap's contracts and none of ours", () => {
  test("check finds the router in order, without a settlement", async () => {
    const { code, out, err } = await run(home, ["check"], env);
    expect(out, err).toContain(`public router`);
    expect(code, out).toBe(0);
  });

  test("check finds a strategy whose every slot the policy would deny", async () => {
    mkdirSync(join(home, "large"));
    writeFileSync(join(home, "large", "too-much.yaml"), dca("1500 USDC", "WETH"));
    const file = join(home, "large.yaml");
    const main = readFileSync(join(home, "swapd.yaml"), "utf8").replace("strategies: strategies", "strategies: large");
    writeFileSync(file, main);
    const { code, out } = await run(home, ["check"], { ...env, SWAPD_CONFIG: file });
    expect(code, out).toBe(1);
    expect(out).toMatch(/PROBLEM\s+strategy too-much .*1500 USDC at once, 1500.* USD, .*max_trade is 1000/);
  });

  test("plan foresees swaps through the router", async () => {
    const { code, out, err } = await run(home, ["plan", "--slots", "1", "--json"], env);
    expect(code, `${out}${err}`).toBe(0);
  });

  test("a dry run needs neither a key nor a contract of ours", async () => {
    const file = join(home, "watched.yaml");
    const wallet = `wallets: { main: { address: "${sandbox.world.wallet.address}" } }`;
    const live = readFileSync(join(home, "swapd.yaml"), "utf8");
    const dry = live.replace(/^wallets: .*$/m, wallet).replace("mode: live", "mode: dry-run");
    writeFileSync(
      file,
      dry.replace("database: swapd.db", "database: watched.db").replace(/^serve: .*$/m, WATCHED_SERVE),
    );
    const around = { HOME_RPC: sandbox.world.rpcUrl, SWAPD_CONFIG: file };
    const checked = await run(home, ["check"], around);
    expect(checked, checked.out).toMatchObject({ code: 0 });
    const daemon = start(home, ["start", "--for", "1m"], around);
    const judged = async () => {
      const { code, out } = await run(home, ["history", "--json"], around);
      if (code !== 0) return false;
      const { runs } = dryHistory.parse(JSON.parse(out));
      const ended = runs.filter(({ state }) => state === "skipped");
      expect(ended.filter(({ reason }) => reason !== "dry_run")).toEqual([]);
      return new Set(ended.map(({ strategy }) => strategy)).size === 3;
    };
    try {
      await until("each strategy's slot is judged", { process: daemon, withinMs: 50_000 }, judged);
    } finally {
      daemon.process.kill("SIGTERM");
    }
    const { out, err } = await daemon.ended;
    expect(out + err).toContain("a wallet is only watched: nothing is signed for it");
  }, 120_000);

  test("the daemon trades by its own transactions, and the audit finds no difference", async () => {
    const daemon = start(home, ["start", "--for", "2m"], env);
    try {
      await until("three final swaps", { process: daemon, withinMs: 90_000 }, async () => {
        return (await swapsSoFar()).filter(({ state }) => state === "final").length >= 3;
      });
    } finally {
      daemon.process.kill("SIGTERM");
      await daemon.ended;
    }
    const swaps = (await swapsSoFar()).filter(({ state }) => state === "final");
    expect(new Set(swaps.map(({ mode }) => mode))).toEqual(new Set(["self-executed"]));
    for (const { bought } of swaps) expect(BigInt(bought ?? 0n)).toBeGreaterThan(0n);
    const audit = await run(home, ["audit"], env);
    expect(audit, audit.out).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });
    for (const id of await runIds()) {
      expect(await run(home, ["replay", id], env), id).toMatchObject({ code: 0 });
    }
    expect(new Set(await leftInRouter())).toEqual(new Set([0n]));
    const db = openDatabase({ file: join(home, "swapd.db"), readonly: true });
    const targets = db
      .prepare<[], string>("SELECT DISTINCT to_address FROM lane_intents WHERE purpose = 'swap'")
      .pluck()
      .all();
    db.close();
    expect(targets).toEqual([router]);
  }, 180_000);
});
