import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Contract, JsonRpcProvider, Wallet } from "ethers";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { claimPort } from "../../src/sandbox/free-port.ts";
import { openDatabase } from "../../src/storage/database.ts";
import { writeWallet } from "../support/wallet-files.ts";
import { makeFolder, run, start } from "./support/swapd.ts";

interface ApprovalWorld {
  readonly rpcUrl: string;
  readonly settlement: string;
  readonly wallet: { readonly privateKey: string };
  readonly tokens: { readonly USDC: { readonly address: string } };
}

/** What a person might do with the key by hand. */
async function approve(world: ApprovalWorld, amount: bigint): Promise<void> {
  const provider = new JsonRpcProvider(world.rpcUrl, 31_337, { staticNetwork: true });
  const abi = ["function approve(address spender, uint256 amount) returns (bool)"];
  const token = new Contract(world.tokens.USDC.address, abi, new Wallet(world.wallet.privateKey, provider));
  const sent = (await token.approve?.(world.settlement, amount)) as { wait(): Promise<unknown> };
  await sent.wait();
  provider.destroy();
}

const folder = makeFolder();
const empty = mkdtempSync(join(tmpdir(), "swapd-empty-"));

afterAll(() => {
  folder.remove();
  rmSync(empty, { recursive: true, force: true });
});

describe("swapd", () => {
  it("explains itself and its commands", async () => {
    const help = await run(empty, ["--help"]);
    expect(help.code).toBe(0);
    for (const command of [
      "start",
      "sandbox",
      "serve",
      "history",
      "show",
      "why",
      "status",
      "audit",
      "check",
      "schema",
    ]) {
      expect(help.out).toContain(command);
    }
    expect((await run(empty, ["--version"])).out).toMatch(/^\d+\.\d+\.\d+/);
  });

  it("ends with 2 for a command that does not exist, and for an option that makes no sense", async () => {
    expect((await run(empty, ["frobnicate"])).code).toBe(2);
    expect(await run(empty, ["start", "--for", "soon"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("no duration"),
    });
  });

  it.each([["history"], ["status"], ["audit"], ["show", "x"], ["why", "x"], ["pause"]])(
    "says what to do where nothing is configured: %s",
    async (...args) => {
      const ended = await run(empty, args);
      expect(ended.code).toBe(2);
      expect(ended.err).toContain("swapd sandbox");
    },
  );
});

describe("swapd check", () => {
  it("shows all problems at once, with file and line, and ends with 1", async () => {
    const file = join(folder.path, "config", "broken.yaml");
    writeFileSync(file, "version: 1\nmodee: live\nnetwork: { name: base, rpc: [] }\npolicy: nowhere.yaml\n");
    const ended = await run(folder.path, ["check", file]);
    expect(ended.code).toBe(1);
    expect(ended.out).toContain("broken.yaml:2:1");
    expect(ended.out).toContain("did you mean");
    expect(ended.out.match(/broken\.yaml:\d+/g)?.length).toBeGreaterThanOrEqual(3);
  });
});

describe("swapd check of files that are in order", () => {
  it("ends with 0 and shows which strategies trade against each other", async () => {
    const config = join(folder.path, "config");
    writeWallet(config);
    const example = readFileSync(join(config, "mainnet.example.yaml"), "utf8");
    const file = join(config, "mine.yaml");
    writeFileSync(file, example.replaceAll(/\/(run\/secrets|data)\//g, ""));
    const ended = await run(folder.path, ["check", file, "--offline", "--json"]);
    expect(ended).toMatchObject({ code: 0, err: "" });
    const { warnings } = JSON.parse(ended.out) as { warnings: { message: string; file: string; line: number }[] };
    expect(warnings.map(({ message }) => message)).toContainEqual(
      expect.stringMatching(
        /WETH\/ETH of wallet main is sold by .*take-profit.* and bought by .*limit-buy.* \(.*buy-the-dips\.yaml:\d+:\d+\)/,
      ),
    );
    expect((await run(folder.path, ["check", file, "--offline"])).out).toContain("warnings:");
  });
});

describe("swapd start", () => {
  it("ends with 78 and all problems when its configuration is broken", async () => {
    const file = join(folder.path, "config", "none.yaml");
    writeFileSync(file, "version: 2\n");
    const ended = await run(folder.path, ["start", "--config", file]);
    expect(ended.code).toBe(78);
    expect(ended.err).toContain("none.yaml:1");
  });
});

describe("swapd wallet", () => {
  it("makes a keystore that only its owner may read, and never overwrites one", async () => {
    const files = { keystore: join(empty, "wallet.json"), password: join(empty, "wallet.pass") };
    writeFileSync(files.password, "correct horse\n");
    const args = ["--keystore", files.keystore, "--password-file", files.password];
    const made = await run(empty, ["wallet", "new", ...args]);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^0x[0-9a-fA-F]{40}\n$/) });
    expect(statSync(files.keystore).mode & 0o777).toBe(0o600);
    expect((await run(empty, ["wallet", "address", ...args])).out).toBe(made.out);
    const before = readFileSync(files.keystore, "utf8");
    expect((await run(empty, ["wallet", "new", ...args])).code).toBe(1);
    expect(readFileSync(files.keystore, "utf8")).toBe(before);
  });

  it("imports a private key without ever printing it", async () => {
    const key = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
    writeFileSync(join(empty, "key"), key);
    writeFileSync(join(empty, "pass"), "correct horse");
    const ended = await run(empty, [
      ...["wallet", "import", "--keystore", join(empty, "imported.json")],
      ...["--password-file", join(empty, "pass"), "--key-file", join(empty, "key")],
    ]);
    expect(ended).toMatchObject({ code: 0, out: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n" });
    expect(`${ended.out}${ended.err}${readFileSync(join(empty, "imported.json"), "utf8")}`).not.toContain(key.slice(2));
  });
});

describe("swapd schema", () => {
  it("prints the JSON Schema of strategies", async () => {
    const ended = await run(empty, ["schema", "strategy"]);
    expect(ended.code).toBe(0);
    expect(JSON.parse(ended.out)).toHaveProperty("$schema");
  });
});

describe("swapd sandbox", () => {
  it("prints one line of JSON with the chain alone, and goes away on SIGTERM", async () => {
    const other = makeFolder();
    onTestFinished(other.remove);
    const sandbox = start(other.path, ["sandbox", "--chain-only", "--json", "--port", "0", "--no-market"]);
    onTestFinished(() => void sandbox.process.kill("SIGTERM"));
    const world = JSON.parse(await sandbox.firstLine) as Record<string, unknown>;
    expect(world).toMatchObject({ chainId: 31337, network: "sandbox", serviceUrl: null, apiUrl: null });
    expect(Object.keys(world.tokens as object).sort()).toEqual(["DAI", "USDC", "USDT", "WBTC", "WETH"]);
    const stoppedMs = performance.now();
    sandbox.process.kill("SIGTERM");
    expect((await sandbox.ended).code).toBe(0);
    expect(performance.now() - stoppedMs).toBeLessThan(8_000);
    await expect(fetch(String(world.rpcUrl))).rejects.toThrow();
  });

  it("serves swaps without the daemon, shows allowances, and says what needs a daemon", async () => {
    const other = makeFolder();
    onTestFinished(other.remove);
    const sandbox = start(other.path, ["sandbox", "--no-daemon", "--json", "--port", "0"]);
    onTestFinished(() => void sandbox.process.kill("SIGTERM"));
    const world = JSON.parse(await sandbox.firstLine) as ApprovalWorld & { serviceUrl: string; apiKey: string };
    const health = await fetch(`${world.serviceUrl}/health`);
    expect(health.status).toBe(200);
    const keyed = await fetch(`${world.serviceUrl}/aggregator/quote`, { headers: { apikey: world.apiKey } });
    expect(keyed.headers.get("x-ratelimit-limit-second")).toBe("200");
    expect((await run(other.path, ["allowances", "revoke", "USDC", "--sandbox"])).out).toContain("nothing to revoke");
    await approve(world, 5_000_000n);
    const listed = await run(other.path, ["allowances", "list", "--json"]);
    expect(listed).toMatchObject({ code: 0, err: "" });
    const { allowances } = JSON.parse(listed.out) as { allowances: { usd: string }[] };
    expect(allowances).toMatchObject([
      {
        wallet: { name: "main" },
        token: { symbol: "USDC" },
        spender: world.settlement.toLowerCase(),
        amount: "5000000",
      },
    ]);
    expect(Number(allowances[0]?.usd)).toBeCloseTo(5, 0);
    expect((await run(other.path, ["allowances", "list"])).out).toMatch(/main +USDC +0x\w+ +5 USDC +\d/);
    for (const args of [
      ["allowances", "revoke", "USDC", "--sandbox"],
      ["tx", "cancel", "x", "--sandbox"],
    ]) {
      const asked = await run(other.path, args);
      expect(asked, args.join(" ")).toMatchObject({ code: 1, err: expect.stringContaining("start it with") });
    }
    expect(await run(other.path, ["allowances", "revoke", "NOPE", "--sandbox"])).toMatchObject({ code: 2 });
    expect(await run(other.path, ["allowances", "revoke", "USDC", "--wallet", "nobody", "--sandbox"])).toMatchObject({
      code: 2,
    });
    // Nothing of that made a database: where one is lost, an empty one would hide it.
    expect(await run(other.path, ["tx", "list", "--json"])).toMatchObject({
      ...{ code: 1, err: expect.stringContaining("there is no database") },
    });
    sandbox.process.kill("SIGTERM");
    expect((await sandbox.ended).code).toBe(0);
  });
});

describe("swapd audit", () => {
  it("does not take another folder's chain at the same port for its own", async () => {
    const [mine, other] = [makeFolder(), makeFolder()];
    onTestFinished(mine.remove);
    onTestFinished(other.remove);
    const port = String(await claimPort(0));
    expect((await run(mine.path, ["sandbox", "--for", "6s", "--port", port])).code).toBe(0);
    const sandbox = start(other.path, ["sandbox", "--chain-only", "--json", "--port", port, "--seed", "2"]);
    onTestFinished(() => void sandbox.process.kill("SIGTERM"));
    await sandbox.firstLine;
    expect(await run(mine.path, ["audit"])).toMatchObject({ code: 0, out: expect.stringContaining("No difference") });
    sandbox.process.kill("SIGTERM");
    await sandbox.ended;
  });

  it("waits for no block of a sandbox that was cut off before its chain was saved for the last time", async () => {
    const mine = makeFolder();
    onTestFinished(mine.remove);
    expect((await run(mine.path, ["sandbox", "--for", "6s", "--port", "0"])).code).toBe(0);
    const db = openDatabase({ file: join(mine.path, ".swapd", "sandbox", "swapd.db") });
    const { changes } = db.prepare("UPDATE known_chain SET block_number = block_number + 1000").run();
    db.close();
    expect(changes).toBeGreaterThan(0);
    expect(await run(mine.path, ["audit"])).toMatchObject({ code: 0, out: expect.stringContaining("up to block") });
  });
});
