import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createJsonRpc, type JsonRpc } from "../../src/chain/json-rpc.ts";
import type { SafeVersion } from "../../src/domain/guard/safe-contracts.ts";
import { wordOf } from "../../src/domain/money/address.ts";
import { DEPLOYER } from "../../src/sandbox/accounts.ts";
import { loadContract } from "../../src/sandbox/artifacts.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import { CARRIED_VERSIONS, deploySafe, readBatchFile, type TestSafe } from "../support/safe.ts";
import { WIDE_POLICY } from "../support/wide-policy.ts";
import { writeHome } from "./support/home.ts";
import { run, start, until } from "./support/swapd.ts";

// Safes of real bytecode. The daemon has no key at all: two of three owners sign what it proposes.

const DCA = `kind: dca
wallet: treasury
sell: "100 USDC"
buy: WETH
schedule: { every: 3s }
retry_for: 3s
budget: { max_runs: 1 }
`;

/** A Safe with its daemon's files. */
interface Home {
  readonly safe: TestSafe;
  readonly path: string;
  readonly proposals: string;
  readonly env: Record<string, string>;
}

let sandbox: Sandbox;
let rpc: JsonRpc;
const directory = mkdtempSync(join(tmpdir(), "swapd-treasury-"));

beforeAll(async () => {
  sandbox = await startSandbox({
    ...{ directory: join(directory, "sandbox"), port: 0, blockTimeSeconds: 0.3, seed: 1, market: false },
  });
  const { world } = sandbox;
  rpc = createJsonRpc({ url: world.rpcUrl, timeoutMs: 10_000, maxBytes: 4_000_000 });
  await rpc.call("anvil_impersonateAccount", [DEPLOYER.address]);
}, 120_000);

afterAll(async () => {
  await sandbox?.stop();
  rmSync(directory, { recursive: true, force: true });
});

let homes = 0n;

async function openHome(version: SafeVersion): Promise<Home> {
  const { world } = sandbox;
  homes += 1n;
  const path = join(directory, `home-${homes}`);
  const safe = await deploySafe((method, params) => rpc.call(method, [...params]), version, homes);
  const mint = loadContract("PermitToken").abi.encodeFunctionData("mint", [safe.address, 1_000_000_000n]);
  await rpc.call("eth_sendTransaction", [{ from: DEPLOYER.address, to: world.tokens.USDC?.address, data: mint }]);
  writeHome(path, {
    ...{ world, mode: "live", strategies: { diversify: DCA } },
    wallets: `{ treasury: { safe: "${safe.address}", proposals: { folder: proposals } } }`,
    policy: WIDE_POLICY.replace("recipients: [main]", "recipients: [treasury]"),
    timing: "quoteLifetime: 30s, permitLifetime: 60s",
  });
  const env = { HOME_RPC: world.rpcUrl, SWAPD_CONFIG: join(path, "swapd.yaml") };
  return { safe, path, proposals: join(path, "proposals"), env };
}

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

async function runsSoFar({ path, env }: Home) {
  const { code, out } = await run(path, ["history", "--json"], env);
  return code === 0 ? history.parse(JSON.parse(out)).runs : [];
}

async function balanceOf({ safe }: Home, symbol: "USDC" | "WETH"): Promise<bigint> {
  const data = `0x70a08231${wordOf(safe.address).slice(2)}`;
  return BigInt(String(await rpc.call("eth_call", [{ to: sandbox.world.tokens[symbol].address, data }, "latest"])));
}

const filesIn = ({ proposals }: Home): readonly string[] =>
  (existsSync(proposals) ? readdirSync(proposals) : []).filter((name) => name.endsWith(".json"));

describe.each(CARRIED_VERSIONS)("a treasury that only proposes, a Safe %s", (version) => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome(version);
  }, 60_000);

  test("check reads version, owners and threshold of the Safe", async () => {
    const { code, out, err } = await run(home.path, ["check"], home.env);
    expect(out, err).toContain(`version ${version}, next nonce 0, 2 of 3 owners sign`);
    expect(out).toMatch(/warning\s+proposals\s+owners have 30 s/);
    expect(code, out).toBe(0);
  });

  test("what owners execute of a proposal is the fill of its slot, and audit and replay agree", async () => {
    const { safe, env, path } = home;
    const daemon = start(path, ["start", "--for", "2m"], env);
    try {
      await until("a proposal", { process: daemon, withinMs: 60_000 }, () => filesIn(home).length > 0);
      const { calls, nonce } = readBatchFile(join(home.proposals, filesIn(home)[0] ?? ""));
      expect([await balanceOf(home, "USDC"), nonce]).toEqual([1_000_000_000n, 0n]);
      const receipt = await safe.execute(safe.batch(calls, nonce));
      expect(receipt.status).toBe("0x1");
      await until("a final swap", { process: daemon, withinMs: 60_000 }, async () => {
        return (await runsSoFar(home)).some(({ swaps }) => swaps.some(({ state }) => state === "final"));
      });
    } finally {
      daemon.process.kill("SIGTERM");
      await daemon.ended;
    }
    const [{ id, state, swaps } = { id: "", state: "", swaps: [] }] = await runsSoFar(home);
    expect([state, swaps]).toMatchObject(["filled", [{ state: "final", mode: "self-executed", sold: "100000000" }]]);
    expect(await balanceOf(home, "USDC")).toBe(900_000_000n);
    expect(await balanceOf(home, "WETH")).toBe(BigInt(swaps[0]?.bought ?? 0n));
    expect(await run(path, ["replay", id], env)).toMatchObject({ code: 0 });
    const audit = await run(path, ["audit"], env);
    expect(audit, audit.out).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });
  }, 180_000);
});

describe("a treasury that is not live", () => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome("1.4.1");
  }, 60_000);

  test.each([
    ["dry-run", "skipped", "dry_run"],
    ["paper", "final", null],
  ])(
    "in mode %s nothing is proposed: its swaps are judged by simulation",
    async (mode, ended, reason) => {
      const { path } = home;
      const aside = { ...home, env: { ...home.env, SWAPD_CONFIG: join(path, `${mode}.yaml`) } };
      const text = readFileSync(join(path, "swapd.yaml"), "utf8");
      const changed = text.replace("mode: live", `mode: ${mode}`).replace("swapd.db", `${mode}.db`);
      writeFileSync(aside.env.SWAPD_CONFIG, changed.replace("folder: proposals", `folder: ${mode}-proposals`));
      const daemon = start(path, ["start", "--for", "2m"], aside.env);
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
      expect(existsSync(join(path, `${mode}-proposals`))).toBe(false);
    },
    120_000,
  );
});
