import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { id } from "ethers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { endWhatIsLeft, makeFolder, run, start, until } from "./support/swapd.ts";

const SWAPPED = id("Swapped(address,uint256,address,address,address,address,uint256,uint256,uint256,address,uint256)");
const BUDGET_FILLS = 4;
/** Several slots long: anyone who may still sell does so in it. */
const QUIET_MS = 8_000;
const WITHIN_MS = 180_000;

const worldSchema = z.object({
  rpcUrl: z.string(),
  serviceUrl: z.string(),
  apiKey: z.string(),
  settlement: z.string(),
  wallet: z.object({ address: z.string(), privateKey: z.string() }),
});

const folder = makeFolder();
let world: z.output<typeof worldSchema>;
let environment: Record<string, string>;

beforeAll(async () => {
  const args = ["sandbox", "--no-daemon", "--no-market", "--port", "0", "--json", "--block-time", "0.5"];
  const sandbox = start(folder.path, args);
  world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
  environment = { OWN_RPC: world.rpcUrl, OWN_KEY: world.wallet.privateKey, OWN_API_KEY: world.apiKey };
}, WITHIN_MS);

afterAll(async () => {
  await endWhatIsLeft();
  folder.remove();
});

/** A daemon of its own on the sandbox's chain and service, whose only strategy may sell four times. */
function configure(name: string, gasless: "only" | "never", sell: string): string {
  const shipped = readFileSync(join(folder.path, "config", "sandbox.yaml"), "utf8").split("\nserve:")[0] ?? "";
  const own = shipped
    .replace("SWAPD_SANDBOX_RPC", "OWN_RPC")
    .replace("SWAPD_SANDBOX_WALLET_KEY", "OWN_KEY")
    .replace("url: embedded", `url: "${world.serviceUrl}", apiKey: { env: OWN_API_KEY }`)
    .replace("strategies: ../strategies/sandbox", `strategies: ${name}`)
    .replace("../.swapd/sandbox/swapd.db", `${name}.db`)
    .replace("127.0.0.1:9464", "127.0.0.1:0");
  const timing = "timing: { quoteLifetime: 20s, permitLifetime: 20s, pollInterval: 200ms }";
  const file = join(folder.path, "config", `${name}.yaml`);
  writeFileSync(file, `${own}\nidentity: identity-${name}\n${timing}\n`);
  // As `init` leaves it: the wallet may have traded by another database before.
  const wallet = world.wallet.address.toLowerCase();
  const marker = ensured(join(folder.path, "config", `identity-${name}`), `31337-${wallet}.json`);
  writeFileSync(marker, JSON.stringify({ version: 1, chainId: 31_337, wallet }));
  const strategy = [
    ...["kind: dca", "wallet: main", `sell: "300 ${sell}"`, "buy: WETH", "schedule: { every: 2s }"],
    ...[`execution: { gasless: ${gasless} }`, `budget: { total: "${300 * BUDGET_FILLS} ${sell}" }`],
  ];
  const strategies = join(folder.path, "config", name);
  rmSync(strategies, { recursive: true, force: true });
  writeFileSync(ensured(strategies, `${name}.yaml`), `${strategy.join("\n")}\n`);
  return file;
}

function ensured(path: string, file: string): string {
  mkdirSync(path, { recursive: true });
  return join(path, file);
}

const logsSchema = z.object({ result: z.array(z.object({ data: z.string() })) });

/** Fills of the wallet in the settlement contract that sold this token. */
async function fills(token: string): Promise<number> {
  const owner = `0x${world.wallet.address.slice(2).toLowerCase().padStart(64, "0")}`;
  const filter = { address: world.settlement, topics: [SWAPPED, owner], fromBlock: "0x0", toBlock: "latest" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] });
  const answer = await fetch(world.rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
  const { result } = logsSchema.parse(await answer.json());
  return result.filter(({ data }) => data.slice(2 + 64, 2 + 128).endsWith(token.slice(2).toLowerCase())).length;
}

const tokens = { DAI: "", USDC: "" };

beforeAll(() => {
  const facts = readFileSync(join(folder.path, ".swapd", "sandbox", "network.json"), "utf8");
  const preset = z.object({ tokens: z.record(z.string(), z.object({ address: z.string() })) }).parse(JSON.parse(facts));
  for (const name of ["DAI", "USDC"] as const) tokens[name] = preset.tokens[name]?.address ?? "";
});

/** Runs a daemon until its strategy has sold what it may, or for a while. */
async function trade(
  file: string,
  end: { sell: "DAI" | "USDC"; fills: number; meanwhile?(): Promise<void> },
): Promise<void> {
  const daemon = start(folder.path, ["start", "--config", file], environment);
  const isThere = async (): Promise<boolean> => (await fills(tokens[end.sell])) >= end.fills;
  await until("the daemon at work", { process: daemon, withinMs: WITHIN_MS }, () => daemon.output().includes("is up"));
  await end.meanwhile?.();
  await until("its fills", { process: daemon, withinMs: WITHIN_MS }, isThere);
  daemon.process.kill("SIGTERM");
  await daemon.ended;
}

/** Runs a daemon until its database is halted, and then for a while: anyone who may still sell has the time to. */
async function liveHalted(file: string, sell: "DAI" | "USDC", meanwhile?: () => Promise<void>): Promise<void> {
  const daemon = start(folder.path, ["start", "--config", file], environment);
  const isHalted = async (): Promise<boolean> => {
    const found = (await kinds(file)).kinds;
    // While the chain is read back it says only that: what it finds comes then.
    return (found.length > 0 && !found.includes("unchecked")) || (await fills(tokens[sell])) > BUDGET_FILLS;
  };
  await until("what halts it", { process: daemon, withinMs: WITHIN_MS }, isHalted);
  await meanwhile?.();
  await sleep(QUIET_MS);
  daemon.process.kill("SIGTERM");
  expect((await daemon.ended).code).toBe(0);
  expect(await fills(tokens[sell])).toBe(BUDGET_FILLS);
}

/** Runs a daemon until its strategy says by itself that its budget is used up. */
async function completes(file: string, sell: "DAI" | "USDC"): Promise<void> {
  const daemon = start(folder.path, ["start", "--config", file], environment);
  const isOver = async (): Promise<boolean> =>
    (await run(folder.path, ["status", "--config", file], environment)).out.includes("completed");
  await until("the end of the strategy", { process: daemon, withinMs: WITHIN_MS }, isOver);
  daemon.process.kill("SIGTERM");
  await daemon.ended;
  expect(await fills(tokens[sell])).toBe(BUDGET_FILLS);
}

/** Accepts, as soon as nothing that the other database signed can be filled any more. */
async function accept(file: string): Promise<void> {
  const deadlineMs = performance.now() + WITHIN_MS;
  for (;;) {
    const { code, out } = await run(folder.path, ["db", "accept", "--json", "--config", file], environment);
    if (code === 0) return;
    expect(out).toMatch(/may be filled until|did not answer/);
    if (performance.now() > deadlineMs) throw new Error(`it was not accepted: ${out}`);
    await sleep(1_000);
  }
}

/** What a person accepted is no difference for an audit either. */
async function auditsClean(file: string): Promise<void> {
  const { code, out } = await run(folder.path, ["audit", "--json", "--config", file], environment);
  const { differences, notes } = z
    .object({ differences: z.array(z.unknown()), notes: z.array(z.string()) })
    .parse(JSON.parse(out));
  expect(differences).toEqual([]);
  expect([code, notes.some((note) => note.startsWith("Accepted by "))]).toEqual([0, true]);
}

async function kinds(file: string): Promise<{ code: number | null; kinds: readonly string[] }> {
  const { code, out } = await run(folder.path, ["db", "check", "--json", "--config", file], environment);
  const { differences } = z.object({ differences: z.array(z.object({ kind: z.string() })) }).parse(JSON.parse(out));
  return { code, kinds: differences.map(({ kind }) => kind) };
}

function remove(name: string): void {
  for (const suffix of ["", "-wal", "-shm"])
    rmSync(join(folder.path, "config", `${name}.db${suffix}`), { force: true });
}

const CASES = [
  { name: "gasless", gasless: "only", sell: "USDC", seen: "fill" },
  { name: "own", gasless: "never", sell: "DAI", seen: "nonce" },
] as const;

describe.each(CASES)("a budget of four fills holds on a real chain ($name)", ({ name, gasless, sell, seen }) => {
  it("after an old copy was restored, and after the database was lost", { timeout: 4 * WITHIN_MS }, async () => {
    const file = configure(name, gasless, sell);
    const copy = join(folder.path, `${name}-copy.db`);
    const swapd = (...args: string[]) => run(folder.path, [...args, "--config", file], environment);
    await trade(file, { sell, fills: BUDGET_FILLS - 2 });
    expect(await swapd("backup", "--to", copy)).toMatchObject({ code: 0 });
    // What was under way when it was stopped may have come: the last one has not begun.
    expect(await fills(tokens[sell])).toBeLessThan(BUDGET_FILLS);
    await trade(file, {
      ...{ sell, fills: BUDGET_FILLS },
      meanwhile: async () => {
        expect(await swapd("backup", "--to", `${copy}.2`)).toMatchObject({ code: 0 });
        expect(await swapd("restore", copy)).toMatchObject({
          code: 75,
          err: expect.stringContaining("stop the daemon"),
        });
      },
    });
    expect((await kinds(file)).kinds).toEqual([]);
    expect(await swapd("restore", copy)).toMatchObject({ code: 0 });
    await liveHalted(file, sell);
    const restored = await kinds(file);
    expect(restored).toMatchObject({ code: 1, kinds: expect.arrayContaining(["older", seen]) });
    expect((await swapd("status")).out).toContain("DATABASE_BEHIND");
    await accept(file);
    await completes(file, sell);
    await auditsClean(file);
    remove(name);
    await liveHalted(file, sell, async () => {
      expect((await kinds(file)).kinds).toEqual(expect.arrayContaining(["lost", seen]));
      await accept(file);
    });
    expect((await kinds(file)).kinds).toEqual([]);
    await auditsClean(file);
    remove(name);
    rmSync(join(folder.path, "config", `identity-${name}`), { recursive: true });
    await liveHalted(file, sell);
    expect((await kinds(file)).kinds).toEqual(["new"]);
  });
});
