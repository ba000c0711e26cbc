import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { runCli } from "../../src/app/cli.ts";
import { networkPresetOf } from "../../src/app/network-preset.ts";
import { createJsonRpc } from "../../src/chain/json-rpc.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { charge } from "../service/support/op-stack.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";
import { writeHome } from "./support/home.ts";
import { start, until } from "./support/swapd.ts";

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
  // A key that could be opened is not: its password is nowhere.
  const key = { version: 3, address: `${"00".repeat(19)}aa`, crypto: {} };
  writeFileSync(join(home, "wallet.json"), JSON.stringify(key), { mode: 0o600 });
  writeHome(home, {
    ...{ world, mode: "paper", strategies: STRATEGIES },
    wallets:
      "{ main: { paper: { USDC: 500 } }, hot: { keystore: { file: wallet.json }, password: { env: NOBODY_SETS_THIS } } }",
  });
  env = { HOME_RPC: world.rpcUrl, SWAPD_CONFIG: join(home, "swapd.yaml") };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
}, 120_000);

afterAll(async () => {
  vi.unstubAllEnvs();
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

/** Types a command in this process: another one for each would take seconds, and the daemon needs them. */
async function typed(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => out.push(text),
    err: (text: string) => err.push(text),
    isInteractive: false,
  };
  const code = await runCli(["node", "swapd", ...args], terminal);
  return { code, out: `${out.join("\n")}\n`, err: err.join("\n") };
}

async function readHistory() {
  const { code, out } = await typed("history", "--json");
  // At first there is no database, or nothing on paper in it.
  return code === 0 ? history.safeParse(JSON.parse(out)).data : undefined;
}

describe("mode paper", () => {
  test("check, plan and why look ahead with what the wallet has on paper, and write nothing", async () => {
    const checked = await typed("check");
    expect(checked.out).toContain("mode paper: fills are simulated");
    expect(checked.out).toMatch(/warning +wallet hot .*NOBODY_SETS_THIS.*on paper nothing opens it, live it is needed/);
    expect(checked.out).toMatch(/ok +main on paper +begins with 500 USDC; gas is lent in ETH/);
    expect(checked.code, checked.out).toBe(0);
    const planned = await typed("plan", "--slots", "1");
    expect(planned.out).toContain("mode paper");
    expect(planned.out).toMatch(/usdc-for-weth .*100 USDC/);
    expect(planned.code, planned.out).toBe(0);
    const next = await typed("why", "usdc-for-weth", "--next");
    expect(next.out).toContain("mode paper");
    expect(next.out).toMatch(/usdc-for-weth at .*, if it were now: .*would/);
    expect(next.code, next.out).toBe(0);
    expect(existsSync(join(home, "swapd.db.paper.db"))).toBe(false);
  }, 120_000);

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
    for (const { id } of runs) expect(await typed("replay", id), id).toMatchObject({ code: 0 });
  }, 240_000);

  test("says what it would have bought, its price, fee, gas and impact, and what holding had been worth", async () => {
    const { out } = await typed("history");
    expect(out).toMatch(/SLOT.*BOUGHT +PRICE +FEE +GAS +IMPACT/);
    expect(out).toMatch(/filled +final +100 USDC +0\.0333\d* WETH +\d+\.\d+ USDC for 1 WETH +none +\d.* USD/);
    expect(out).toMatch(/at today's reference prices it holds .* than holding/);
    const audit = await typed("audit");
    expect(audit).toMatchObject({ code: 1, err: expect.stringContaining("nothing to audit") });
    const { out: status } = await typed("status");
    expect(status).toContain("mode paper");
    expect(status).not.toContain("transactions are sent");
  }, 120_000);

  test("counts what a rollup charges for data against max_fee, ahead and in the daemon", async () => {
    const { world } = sandbox;
    const rollup = mkdtempSync(join(home, "rollup-"));
    writeHome(rollup, {
      ...{ world, mode: "paper", wallets: "{ main: { paper: { USDC: 500 } } }" },
      preset: { ...JSON.parse(networkPresetOf(world)), dataFee: "op-stack" },
      strategies: { own: dca("100 USDC", "WETH").replace("prefer", "never") },
    });
    const rpc = createJsonRpc({ url: world.rpcUrl, timeoutMs: 10_000, maxBytes: 1_000_000 });
    await charge({ rpc }, { perByte: 10n ** 15n, operatorScalar: 0n, operatorConstant: 0n });
    vi.stubEnv("SWAPD_CONFIG", join(rollup, "swapd.yaml"));
    expect((await typed("why", "own", "--next")).out).toContain("FEE_CAP_EXCEEDED");
    const daemon = start(rollup, ["start", "--for", "2m"], { ...env, SWAPD_CONFIG: join(rollup, "swapd.yaml") });
    try {
      await until("a slot that is denied", { process: daemon, withinMs: 60_000 }, async () => {
        const { code, out } = await typed("history", "--json");
        return code === 0 && out.includes("FEE_CAP_EXCEEDED");
      });
    } finally {
      daemon.process.kill("SIGTERM");
      await daemon.ended;
      vi.stubEnv("SWAPD_CONFIG", join(home, "swapd.yaml"));
    }
  }, 120_000);
});
