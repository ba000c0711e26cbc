import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { networkPresetOf } from "../../src/app/network-preset.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
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
  for (const [name, text] of Object.entries(STRATEGIES)) writeFileSync(join(home, "strategies", `${name}.yaml`), text);
  const tokens = Object.entries(world.tokens).map(
    ([symbol, { address, decimals }]) => `  ${symbol}: { address: "${address}", decimals: ${decimals}, feed: preset }`,
  );
  writeFileSync(
    join(home, "swapd.yaml"),
    `version: 1
mode: paper
network: { name: homechain, rpc: [{ env: HOME_RPC }], preset: network.json, confirmations: 1 }
wallets: { main: { paper: { USDC: 500 } } }
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
  if (process.env.KEEP === undefined) rmSync(home, { recursive: true, force: true });
  else console.log(home);
});

const history = z.object({
  runs: z.array(
    z.object({
      strategy: z.string(),
      swaps: z.array(
        z.object({
          state: z.string(),
          reason: z.string().nullable(),
          bought: z.string().nullable(),
          blockNumber: z.number().nullable(),
        }),
      ),
    }),
  ),
});

async function swaps() {
  const { code, out } = await run(home, ["history", "--json"], env);
  // There is no database yet.
  if (code !== 0) return [];
  return history.parse(JSON.parse(out)).runs.flatMap((one) => one.swaps);
}

describe("mode paper", () => {
  test("fills slots without a key, without coins and without sending anything", async () => {
    const daemon = start(home, ["start", "--for", "2m"], env);
    try {
      await until("three final fills on paper", { process: daemon, withinMs: 90_000 }, async () => {
        return (await swaps()).filter(({ state }) => state === "final").length >= 3;
      });
    } finally {
      daemon.process.kill("SIGTERM");
      const ended = await daemon.ended;
      if (process.env.KEEP) console.log(ended.out, ended.err);
    }
    expect((await swaps()).length).toBeGreaterThan(0);
    console.log((await run(home, ["history"], env)).out, (await run(home, ["status"], env)).out);
  }, 180_000);
});
