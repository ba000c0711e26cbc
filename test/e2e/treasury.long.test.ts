import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createJsonRpc, type JsonRpc } from "../../src/chain/json-rpc.ts";
import { wordOf } from "../../src/domain/money/address.ts";
import { DEPLOYER } from "../../src/sandbox/accounts.ts";
import { loadContract } from "../../src/sandbox/artifacts.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { deploySafe, readBatchFile, type TestSafe } from "../support/safe.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
import { run, start, until } from "./support/swapd.ts";

// A Safe 1.4.1 of real bytecode. The daemon has no key at all: two of three owners sign what it proposes.

const DCA = `kind: dca
wallet: treasury
sell: "100 USDC"
buy: WETH
schedule: { every: 3s }
retry_for: 3s
budget: { max_runs: 1 }
`;

let sandbox: Sandbox;
let rpc: JsonRpc;
let safe: TestSafe;
let env: Record<string, string>;
const home = mkdtempSync(join(tmpdir(), "swapd-treasury-"));
const proposals = join(home, "proposals");

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(home, "sandbox"), port: 0, blockTimeSeconds: 0.3, seed: 1, market: false },
  });
  const { world } = sandbox;
  rpc = createJsonRpc({ url: world.rpcUrl, timeoutMs: 10_000, maxBytes: 4_000_000 });
  const ask = (method: string, params: readonly unknown[]) => rpc.call(method, [...params]);
  safe = await deploySafe(ask, "1.4.1");
  const mint = loadContract("PermitToken").abi.encodeFunctionData("mint", [safe.address, 1_000_000_000n]);
  await rpc.call("anvil_impersonateAccount", [DEPLOYER.address]);
  await rpc.call("eth_sendTransaction", [{ from: DEPLOYER.address, to: world.tokens.USDC?.address, data: mint }]);
  writeHome(home, {
    ...{ world, mode: "live", strategies: { diversify: DCA } },
    wallets: `{ treasury: { safe: "${safe.address}", proposals: { folder: proposals } } }`,
    policy: WIDE_POLICY.replace("recipients: [main]", "recipients: [treasury]"),
    timing: "quoteLifetime: 30s, permitLifetime: 60s",
  });
  env = { HOME_RPC: world.rpcUrl, SWAPD_CONFIG: join(home, "swapd.yaml") };
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(home, { recursive: true, force: true });
});

const history = z.object({
  runs: z.array(
    z.object({
      id: z.string(),
      state: z.string(),
      swaps: z.array(
        z.object({
          state: z.string(),
          mode: z.string().nullable(),
          reason: z.string().nullish(),
          sold: z.string().nullable(),
          bought: z.string().nullable(),
        }),
      ),
    }),
  ),
});

async function runsSoFar(environment = env) {
  const { code, out } = await run(home, ["history", "--json"], environment);
  return code === 0 ? history.parse(JSON.parse(out)).runs : [];
}

async function balanceOf(symbol: "USDC" | "WETH"): Promise<bigint> {
  const data = `0x70a08231${wordOf(safe.address).slice(2)}`;
  return BigInt(String(await rpc.call("eth_call", [{ to: sandbox.world.tokens[symbol].address, data }, "latest"])));
}

describe("a treasury that only proposes", () => {
  test("check reads version, owners and threshold of the Safe", async () => {
    const { code, out, err } = await run(home, ["check"], env);
    expect(out, err).toMatch(/Safe treasury\s+version 1\.4\.1, next nonce 0, 2 of 3 owners sign/);
    expect(out).toMatch(/warning\s+proposals\s+owners have 30 s/);
    expect(code, out).toBe(0);
  });

  test("what owners execute of a proposal is the fill of its slot, and audit and replay agree", async () => {
    const daemon = start(home, ["start", "--for", "2m"], env);
    try {
      const files = () =>
        (existsSync(proposals) ? readdirSync(proposals) : []).filter((name) => name.endsWith(".json"));
      await until("a proposal", { process: daemon, withinMs: 60_000 }, async () => {
        return files().length > 0;
      });
      const { calls, nonce } = readBatchFile(join(proposals, files()[0] ?? ""));
      expect([await balanceOf("USDC"), nonce]).toEqual([1_000_000_000n, 0n]);
      const receipt = await safe.execute(safe.batch(calls, nonce));
      expect(receipt.status).toBe("0x1");
      await until("a final swap", { process: daemon, withinMs: 60_000 }, async () => {
        return (await runsSoFar()).some(({ swaps }) => swaps.some(({ state }) => state === "final"));
      });
    } finally {
      daemon.process.kill("SIGTERM");
      await daemon.ended;
    }
    const [{ id, state, swaps } = { id: "", state: "", swaps: [] }] = await runsSoFar();
    expect([state, swaps]).toMatchObject(["filled", [{ state: "final", mode: "self-executed", sold: "100000000" }]]);
    expect(await balanceOf("USDC")).toBe(900_000_000n);
    expect(await balanceOf("WETH")).toBe(BigInt(swaps[0]?.bought ?? 0n));
    expect(await run(home, ["replay", id], env)).toMatchObject({ code: 0 });
    const audit = await run(home, ["audit"], env);
    expect(audit, audit.out).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });
  }, 180_000);

  test.each([
    ["dry-run", "skipped", "dry_run"],
    ["paper", "final", null],
  ])(
    "in mode %s nothing is proposed: its swaps are judged by simulation",
    async (mode, ended, reason) => {
      const aside = { ...env, SWAPD_CONFIG: join(home, `${mode}.yaml`) };
      const text = readFileSync(join(home, "swapd.yaml"), "utf8");
      const changed = text.replace("mode: live", `mode: ${mode}`).replace("swapd.db", `${mode}.db`);
      writeFileSync(aside.SWAPD_CONFIG, changed.replace("folder: proposals", `folder: ${mode}-proposals`));
      const daemon = start(home, ["start", "--for", "2m"], aside);
      const swaps = async () => (await runsSoFar(aside)).flatMap((one) => one.swaps);
      try {
        await until(`a swap that is ${ended}`, { process: daemon, withinMs: 60_000 }, async () => {
          return (await swaps()).some(({ state }) => state === ended);
        });
      } finally {
        daemon.process.kill("SIGTERM");
      }
      const { out } = await daemon.ended;
      expect(out).not.toContain("PROPOSAL_WAITING");
      expect((await swaps())[0]).toMatchObject({ state: ended, reason });
      expect(existsSync(join(home, `${mode}-proposals`))).toBe(false);
    },
    120_000,
  );
});
