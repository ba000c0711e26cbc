import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { networkPresetOf } from "../../src/app/network-preset.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { run, start, until } from "./support/swapd.ts";

// Mode paper on a real chain with its real service: without a key, without coins, and nothing is ever sent.

const dca = (sell: string, buy: string, extra = "") => `kind: dca
wallet: main
sell: "${sell}"
buy: ${buy}
schedule: { every: 3s }
retry_for: 3s
execution: { gasless: prefer }
${extra}`;

const STRATEGIES = {
  "usdc-for-weth": dca("100 USDC", "WETH", "budget: { max_runs: 2 }\n"),
  "usdc-for-eth": dca("150 USDC", "ETH", "budget: { max_runs: 1 }\n"),
};

let sandbox: Sandbox;
let env: Record<string, string>;
const home = mkdtempSync(join(tmpdir(), "swapd-paper-"));

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: 0.5, seed: 1, market: false },
  });
  const { world } = sandbox;
  mkdirSync(join(home, "strategies"));
  writeFileSync(join(home, "network.json"), networkPresetOf(world));
  writeFileSync(join(home, "policy.yaml"), WIDE_POLICY);
  // A key that could be opened is not: its password is nowhere.
  const key = { version: 3, address: `${"00".repeat(19)}aa`, crypto: {} };
  writeFileSync(join(home, "wallet.json"), JSON.stringify(key), { mode: 0o600 });
  for (const [name, text] of Object.entries(STRATEGIES)) writeFileSync(join(home, "strategies", `${name}.yaml`), text);
  const tokens = Object.entries(world.tokens).map(
    ([symbol, { address, decimals }]) => `  ${symbol}: { address: "${address}", decimals: ${decimals}, feed: preset }`,
  );
  writeFileSync(
    join(home, "swapd.yaml"),
    `version: 1
mode: paper
network: { name: homechain, rpc: [{ env: HOME_RPC }], preset: network.json, confirmations: 1 }
wallets:
  main: { paper: { USDC: 500 } }
  hot: { keystore: { file: wallet.json }, password: { env: NOBODY_SETS_THIS } }
tokens:
${tokens.join("\n")}
policy: policy.yaml
strategies: strategies
database: swapd.db
serve: { listen: 127.0.0.1:0 }
http: { listen: 127.0.0.1:0 }
timing: { quoteLifetime: 20s, permitLifetime: 60s }
`,
  );
  env = { HOME_RPC: world.rpcUrl, SWAPD_CONFIG: join(home, "swapd.yaml") };
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

const swap = z.object({
  state: z.string(),
  bought: z.string().nullable(),
  prices: z.object({ expected: z.object({ bought: z.string(), gasCost: z.string() }) }).nullable(),
  transactions: z.array(z.object({ cost: z.string() })),
});

const history = z.object({
  runs: z.array(z.object({ id: z.string(), swaps: z.array(swap) })),
  paper: z.object({
    holdings: z.array(z.object({ wallet: z.string(), token: z.string(), began: z.string(), now: z.string() })),
    heldUsd: z.string(),
    beganUsd: z.string(),
  }),
});

async function readHistory() {
  const { code, out } = await run(home, ["history", "--json"], env);
  // There is no database yet.
  return code === 0 ? history.parse(JSON.parse(out)) : undefined;
}

describe("mode paper", () => {
  test("fills slots without a key, without coins and without sending anything", async () => {
    const proxy = await startRpcProxy(sandbox.world.rpcUrl);
    const daemon = start(home, ["start", "--for", "4m"], { ...env, HOME_RPC: proxy.url });
    try {
      await until("three final fills on paper", { process: daemon, withinMs: 180_000 }, async () => {
        const swaps = (await readHistory())?.runs.flatMap((one) => one.swaps) ?? [];
        return swaps.filter(({ state }) => state === "final").length >= 3;
      });
    } finally {
      daemon.process.kill("SIGTERM");
    }
    const { out } = await daemon.ended;
    expect(out.split("\n")[0]).toContain("mode paper: fills are simulated at a later block");
    expect(new Set(proxy.seen.map(({ method }) => method))).not.toContain("eth_sendRawTransaction");
    const { runs, paper } = history.parse(await readHistory());
    const filled = runs.flatMap((one) => one.swaps).filter(({ state }) => state === "final");
    for (const { bought, prices, transactions } of filled) {
      expect(BigInt(bought ?? 0n)).toBeGreaterThan(0n);
      expect(BigInt(prices?.expected.bought ?? 0n)).toBeGreaterThanOrEqual(BigInt(bought ?? 0n));
      expect(transactions.every(({ cost }) => BigInt(cost) > 0n)).toBe(true);
    }
    const held = new Map(paper.holdings.map(({ token, now }) => [token, Number(now)]));
    expect(held.get("USDC")).toBe(150);
    expect(held.get("WETH")).toBeGreaterThan(0);
    // Fees and gas were paid, and nothing was lost besides.
    expect(Number(paper.heldUsd)).toBeLessThan(Number(paper.beganUsd));
    expect(Number(paper.heldUsd)).toBeGreaterThan(Number(paper.beganUsd) * 0.98);
    for (const { id } of runs) expect(await run(home, ["replay", id], env), id).toMatchObject({ code: 0 });
  }, 240_000);

  test("says what it would have bought, its price, fee, gas and impact, and what holding had been worth", async () => {
    const { out } = await run(home, ["history"], env);
    expect(out).toMatch(/SLOT.*BOUGHT +PRICE +FEE +GAS +IMPACT/);
    expect(out).toMatch(/filled +final +100 USDC +0\.0333\d* WETH +\d+\.\d+ USDC for 1 WETH +none +\d.* USD/);
    expect(out).toMatch(/at today's reference prices it holds .* than holding/);
    const audit = await run(home, ["audit"], env);
    expect(audit).toMatchObject({ code: 1, err: expect.stringContaining("nothing to audit") });
    const { out: status } = await run(home, ["status"], env);
    expect(status).toContain("mode paper");
    expect(status).not.toContain("transactions are sent");
  }, 120_000);
});
