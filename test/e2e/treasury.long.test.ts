import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { computeAddress, getAddress } from "ethers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { createJsonRpc, type JsonRpc } from "../../src/chain/json-rpc.ts";
import { decodeMultiSend, type SafeCall } from "../../src/domain/guard/multi-send.ts";
import type { SafeVersion } from "../../src/domain/guard/safe-contracts.ts";
import { type Hex, wordOf } from "../../src/domain/money/address.ts";
import { DEPLOYER } from "../../src/sandbox/accounts.ts";
import { loadContract } from "../../src/sandbox/artifacts.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/sandbox.ts";
import {
  startTransactionServiceDouble,
  type TransactionServiceDouble,
} from "../support/proposal-double/transaction-service-double.ts";
import { deploySafe, OWNER_KEY, ownersOfTestSafes, readBatchFile, type TestSafe } from "../support/safe.ts";
import { writeWallet } from "../support/wallet-files.ts";
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

/** By which way the owners of a Safe are asked. */
type Way = "files" | "a service" | "files and a service";

/** A Safe with its daemon's files. */
interface Home {
  readonly safe: TestSafe;
  readonly path: string;
  readonly proposals: string;
  readonly double: TransactionServiceDouble;
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
  await Promise.all(doubles.map(({ stop }) => stop()));
  await sandbox?.stop();
  rmSync(directory, { recursive: true, force: true });
});

let homes = 0n;

const FOLDER = "folder: proposals";

async function openHome(version: SafeVersion, way: Way): Promise<Home> {
  const { world } = sandbox;
  homes += 1n;
  const path = join(directory, `home-${homes}`);
  const safe = await deploySafe((method, params) => rpc.call(method, [...params]), version, homes);
  const mint = loadContract("PermitToken").abi.encodeFunctionData("mint", [safe.address, 1_000_000_000n]);
  await rpc.call("eth_sendTransaction", [{ from: DEPLOYER.address, to: world.tokens.USDC?.address, data: mint }]);
  const double = await startDouble(safe);
  const delegate = "{ keystore: { file: wallet.json }, password: { file: wallet.pass } }";
  const service = `service: { url: "${double.url}", apiKey: { env: SAFE_KEY }, delegate: ${delegate} }`;
  const places = { files: FOLDER, "a service": service, "files and a service": `${FOLDER}, ${service}` }[way];
  writeHome(path, {
    ...{ world, mode: "live", strategies: { diversify: DCA } },
    wallets: `{ treasury: { safe: "${safe.address}", proposals: { ${places} } } }`,
    policy: WIDE_POLICY.replace("recipients: [main]", "recipients: [treasury]"),
    timing: "quoteLifetime: 30s, permitLifetime: 60s",
  });
  writeWallet(path, DELEGATE_KEY);
  const env = { HOME_RPC: world.rpcUrl, SWAPD_CONFIG: join(path, "swapd.yaml"), SAFE_KEY: "jwt-of-tests" };
  return { safe, path, proposals: join(path, "proposals"), double, env };
}

const DELEGATE_KEY = `0x${"de".repeat(32)}`;
const DELEGATE = getAddress(computeAddress(DELEGATE_KEY));
const doubles: TransactionServiceDouble[] = [];

async function startDouble(safe: TestSafe): Promise<TransactionServiceDouble> {
  const owners = ownersOfTestSafes().map((owner) => getAddress(owner));
  const facts = { chainId: sandbox.world.chainId, address: getAddress(safe.address), owners };
  const double = await startTransactionServiceDouble({ ...facts, nonce: () => safe.nonce() });
  doubles.push(double);
  double.keys = ["jwt-of-tests"];
  double.delegates.set(DELEGATE, owners[0] ?? "");
  return double;
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

/** What the owners find, wherever they look. */
function askedIn({ proposals, double }: Home): readonly { calls: readonly SafeCall[]; nonce: bigint }[] {
  const names = (existsSync(proposals) ? readdirSync(proposals) : []).filter((name) => name.endsWith(".json"));
  const posted = double.proposals.map(({ data, nonce }) => ({ calls: decodeMultiSend((data ?? "0x") as Hex), nonce }));
  return [
    ...names.map((name) => readBatchFile(join(proposals, name))),
    ...posted.map(({ calls, nonce }) => ({ calls: calls as readonly SafeCall[], nonce })),
  ];
}

describe.each([
  ["1.3.0", "a service"],
  ["1.4.1", "files"],
  ["1.5.0", "files and a service"],
] as const)("a treasury that only proposes, a Safe %s, by %s", (version, way) => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome(version, way);
  }, 60_000);

  test("check reads version, owners and threshold of the Safe", async () => {
    const { code, out, err } = await run(home.path, ["check"], home.env);
    expect(out, err).toContain(`version ${version}, next nonce 0, 2 of 3 owners sign`);
    expect(out).toMatch(/warning\s+proposals\s+owners have 30s/);
    expect(code, out).toBe(0);
  });

  test("what owners execute of a proposal is the fill of its slot, and audit and replay agree", async () => {
    const { safe, env, path, double } = home;
    // The first one that the service takes is answered by nobody.
    double.fault = ({ method, count }) => (method === "POST" && count < 4 ? "lose" : undefined);
    const daemon = start(path, ["start", "--for", "2m"], env);
    const places = way === "files and a service" ? 2 : 1;
    try {
      await until("a proposal", { process: daemon, withinMs: 60_000 }, () => askedIn(home).length >= places);
      const asked = askedIn(home);
      const { calls, nonce } = asked[0] ?? { calls: [], nonce: -1n };
      expect(asked).toEqual(asked.map(() => ({ calls, nonce })));
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
    expect(double.proposals.length).toBe(way === "files" ? 0 : 1);
    const [{ id, state, swaps } = { id: "", state: "", swaps: [] }] = await runsSoFar(home);
    expect([state, swaps]).toMatchObject(["filled", [{ state: "final", mode: "self-executed", sold: "100000000" }]]);
    expect(await balanceOf(home, "USDC")).toBe(900_000_000n);
    expect(await balanceOf(home, "WETH")).toBe(BigInt(swaps[0]?.bought ?? 0n));
    expect(await run(path, ["replay", id], env)).toMatchObject({ code: 0 });
    const audit = await run(path, ["audit"], env);
    expect(audit, audit.out).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });
  }, 180_000);
});

test("check says whether the service answers and who listed the delegate", async () => {
  const { path, env, double } = await openHome("1.4.1", "a service");
  const check = async () => await run(path, ["check"], env);
  const [owner = ""] = ownersOfTestSafes();
  const listed = `it answers, and ${DELEGATE} may propose (listed by ${getAddress(owner)})`;
  expect(await check()).toMatchObject({ code: 0, out: expect.stringContaining(listed) });
  double.delegates.set(DELEGATE, DELEGATE);
  const unlisted = expect.stringContaining(`${DELEGATE} may not propose to the Safe`);
  expect(await check()).toMatchObject({ code: 1, out: unlisted });
  double.keys = [];
  expect(await check()).toMatchObject({ code: 1, out: expect.stringContaining("answered 401") });
  writeWallet(path, OWNER_KEY);
  expect(await check()).toMatchObject({ code: 1, out: expect.stringContaining("is an owner of the Safe") });
}, 120_000);

describe("a treasury that is not live", () => {
  let home: Home;
  beforeAll(async () => {
    home = await openHome("1.4.1", "files");
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
