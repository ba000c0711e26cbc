import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { type Ended, makeFolder, run, type Started, start, until } from "./support/swapd.ts";

const NATIVE = `0x${"0".repeat(40)}`;
const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const historySchema = z.object({
  runs: z.array(
    z.object({
      id: z.string(),
      strategy: z.string(),
      state: z.string(),
      swaps: z.array(
        z.object({
          id: z.string(),
          state: z.string(),
          mode: z.string().nullable(),
          sold: z.string().nullable(),
          bought: z.string().nullable(),
          hash: z.string().nullable(),
          sell: z.object({ address: z.string() }),
          buy: z.object({ address: z.string() }),
          recipient: z.string(),
        }),
      ),
    }),
  ),
});

const folder = makeFolder();
let first: Ended;
let readyMs = 0;
let rpcUrl = "";
let wallet = "";
let seen: z.output<typeof historySchema>;
let commands: Record<string, Ended>;

/** Enough swaps to compare with the chain. */
const WANTED_SWAPS = 6;
const WANTED_OF_EACH_MODE = 3;
/** One of each kind of strategy. */
const WANTED_STRATEGIES = [
  "eth-from-usdc",
  "bitcoin-mix",
  "take-profit",
  "slow-dai-exit",
  "path-of-ether",
  "spare-ether",
  "gas-tank",
];
/** Longer than it takes on any machine that works at all; it ends as soon as everything wanted has been seen. */
const SWAPS_WITHIN_MS = 300_000;
const ALL_WITHIN_MS = 600_000;

interface Filled {
  readonly swaps: number;
  readonly selfExecuted: number;
  readonly gasless: number;
  /** of those that are wanted, the ones that have not filled */
  readonly missing: readonly string[];
}

const runsSchema = z.array(
  z.object({
    strategy: z.string(),
    state: z.string(),
    swaps: z.array(z.object({ state: z.string(), mode: z.string().nullable() })),
  }),
);

function filledOf(runs: z.output<typeof runsSchema>): Filled {
  const filled = runs.filter(({ state }) => state === "filled");
  const swaps = filled.flatMap((entry) => entry.swaps);
  const strategies = new Set(filled.map(({ strategy }) => strategy));
  return {
    swaps: swaps.filter(({ state }) => state === "confirmed" || state === "final").length,
    selfExecuted: swaps.filter(({ mode }) => mode === "self-executed").length,
    gasless: swaps.filter(({ mode }) => mode === "gasless").length,
    missing: WANTED_STRATEGIES.filter((name) => !strategies.has(name)),
  };
}

async function hasFilledEverything(apiUrl: string, token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}` };
  const page: unknown = await (await fetch(`${apiUrl}/api/v1/runs?limit=500`, { headers })).json();
  const filled = filledOf(z.object({ items: runsSchema }).parse(page).items);
  const fewest = Math.min(filled.selfExecuted, filled.gasless);
  return filled.swaps >= WANTED_SWAPS && fewest >= WANTED_OF_EACH_MODE && filled.missing.length === 0;
}

/** Ends a sandbox as a person does. */
function stop(sandbox: Started): Promise<Ended> {
  sandbox.process.kill("SIGTERM");
  return sandbox.ended;
}

/** What every command answers while the sandbox runs. */
async function tryCommands(path: string): Promise<Record<string, Ended>> {
  const list: Record<string, string[]> = {
    status: ["status"],
    statusService: ["status", "--service", "--json"],
    why: ["why", "eth-from-usdc"],
    pause: ["pause", "eth-from-dai", "--reason", "a test", "--sandbox"],
    resume: ["resume", "eth-from-dai", "--sandbox"],
    skip: ["skip", "eth-from-dai", "--sandbox"],
    run: ["run", "eth-from-dai", "--sandbox"],
    unknown: ["run", "no-such-strategy", "--sandbox"],
    approvals: ["allowances", "list", "--json"],
    revoke: ["allowances", "revoke", "USDC", "--sandbox"],
    transactions: ["tx", "list", "--json"],
    cancel: ["tx", "cancel", "no-such-transaction", "--sandbox"],
    secondSandbox: ["sandbox", "--port", "0"],
    audit: ["audit", "--json"],
  };
  const answers: Record<string, Ended> = {};
  for (const [name, args] of Object.entries(list)) answers[name] = await run(path, args);
  return answers;
}

beforeAll(async () => {
  const startedMs = performance.now();
  const sandbox: Started = start(folder.path, ["sandbox", "--for", "20m", "--port", "0", "--json"]);
  const world = z
    .object({ rpcUrl: z.string(), apiUrl: z.string(), wallet: z.object({ address: z.string() }) })
    .parse(JSON.parse(await sandbox.firstLine));
  readyMs = performance.now() - startedMs;
  ({ rpcUrl } = world);
  wallet = world.wallet.address;
  const patience = { process: sandbox, withinMs: SWAPS_WITHIN_MS };
  const { out: token } = await run(folder.path, ["login", "add", "watch", "--scope", "read", "--sandbox"]);
  const isDone = () => hasFilledEverything(world.apiUrl, token.trim());
  await until("a fill of each kind of strategy and mode", patience, isDone);
  commands = await tryCommands(folder.path);
  const history = await run(folder.path, ["history", "--json"]);
  seen = historySchema.parse(JSON.parse(history.out));
  await compareWithChain();
  first = await stop(sandbox);
}, ALL_WITHIN_MS);

afterAll(() => folder.remove());

interface Compared {
  readonly swap: string;
  readonly sold: bigint;
  readonly bought: bigint;
  readonly soldOnChain: bigint;
  readonly boughtOnChain: bigint;
}
const compared: Compared[] = [];

/** Counts each swap's transfers from its receipt, by nothing but the node. */
async function compareWithChain(): Promise<void> {
  for (const swap of seen.runs.flatMap((entry) => entry.swaps)) {
    if (swap.state !== "confirmed" && swap.state !== "final") continue;
    // The native coin leaves no transfer logs; the audit counts it by balances.
    if (swap.sell.address === NATIVE || swap.buy.address === NATIVE) continue;
    const logs = await receiptLogs(swap.hash ?? "");
    compared.push({
      swap: swap.id,
      sold: BigInt(swap.sold ?? -1),
      bought: BigInt(swap.bought ?? -1),
      soldOnChain: -net(logs, swap.sell.address, wallet),
      boughtOnChain: net(logs, swap.buy.address, swap.recipient),
    });
  }
}

interface Log {
  address: string;
  topics: string[];
  data: string;
}

async function receiptLogs(hash: string): Promise<Log[]> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getTransactionReceipt", params: [hash] });
  const answer = await fetch(rpcUrl, { method: "POST", body, headers: { "content-type": "application/json" } });
  const { result } = (await answer.json()) as { result: { status: string; logs: Log[] } };
  expect(result.status).toBe("0x1");
  return result.logs;
}

function net(logs: readonly Log[], token: string, holder: string): bigint {
  let sum = 0n;
  for (const log of logs) {
    if (log.address.toLowerCase() !== token.toLowerCase() || log.topics[0] !== TRANSFER) continue;
    if (`0x${log.topics[1]?.slice(26)}` === holder.toLowerCase()) sum -= BigInt(log.data);
    if (`0x${log.topics[2]?.slice(26)}` === holder.toLowerCase()) sum += BigInt(log.data);
  }
  return sum;
}

describe("the main job", () => {
  it("is up within seconds and ends cleanly when it is asked to", () => {
    expect(readyMs).toBeLessThan(60_000);
    expect(first).toMatchObject({ code: 0, err: "" });
  });

  it("fills at least three swaps self-executed and three gasless, with one of each strategy kind", async () => {
    const after = filledOf(historySchema.parse(JSON.parse((await run(folder.path, ["history", "--json"])).out)).runs);
    expect(after.selfExecuted).toBeGreaterThanOrEqual(WANTED_OF_EACH_MODE);
    expect(after.gasless).toBeGreaterThanOrEqual(WANTED_OF_EACH_MODE);
    expect(after.missing).toEqual([]);
  });

  it("lists amounts that equal the transfers on the chain", () => {
    expect(compared.length).toBeGreaterThanOrEqual(WANTED_SWAPS);
    for (const one of compared) {
      expect(one).toMatchObject({ soldOnChain: one.sold, boughtOnChain: one.bought });
      expect(one.sold).toBeGreaterThan(0n);
      expect(one.bought).toBeGreaterThan(0n);
    }
  });

  it("finds no difference by the audit, while it runs and when it is stopped", async () => {
    expect(commands.audit).toMatchObject({ code: 0 });
    const after = await run(folder.path, ["audit"]);
    expect(after.out).toMatch(/^mode live: /);
    expect(after.out).toContain("No difference");
    expect(after.code).toBe(0);
  });

  it("shows one run with its transitions and checks", async () => {
    const done = seen.runs.find((entry) => entry.state === "filled");
    const shown = await run(folder.path, ["show", done?.id ?? "", "--json"]);
    const document = JSON.parse(shown.out) as { transitions: { to: string }[]; details: { checks: unknown[] }[] };
    expect(document.transitions.map((move) => move.to)).toEqual(
      expect.arrayContaining(["due", "deciding", "executing", "quoted", "cleared", "signed", "submitted", "mined"]),
    );
    expect(document.details[0]?.checks.length).toBeGreaterThan(10);
  });

  it("takes the steps of a run again, from what is stored", async () => {
    const done = seen.runs.find((entry) => entry.state === "filled");
    const replayed = await run(folder.path, ["replay", done?.id ?? ""]);
    expect(replayed).toMatchObject({ code: 0, out: expect.stringContaining("are the same") });
    expect(replayed.out).toMatch(/started +run_\w+ due -> deciding/);
  });

  it("works the same a second time, in the same folder", { timeout: ALL_WITHIN_MS }, async () => {
    const again = start(folder.path, ["sandbox", "--for", "20m", "--port", "0"]);
    const patience = { process: again, withinMs: SWAPS_WITHIN_MS };
    await until("a gasless fill", patience, () => again.output().includes("gasless"));
    expect(await stop(again)).toMatchObject({ code: 0 });
    expect((await run(folder.path, ["audit"])).code).toBe(0);
  });

  it("ends cleanly after its time", async () => {
    expect(await run(folder.path, ["sandbox", "--for", "1s", "--port", "0"])).toMatchObject({ code: 0, err: "" });
  });
});

describe("commands while the sandbox runs", () => {
  it("answer what is asked", () => {
    expect(commands.status?.out).toContain("take-profit");
    expect(commands.statusService?.out).toContain('"success"');
    expect(commands.why?.out).toContain("eth-from-usdc");
    expect(commands.pause?.out).toContain("eth-from-dai is paused");
    expect(commands.resume?.out).toContain("eth-from-dai is active");
    expect(commands.skip?.out).toContain("will not run");
  });

  it("run a strategy now, or say why not", () => {
    expect(commands.run?.out.concat(commands.run.err)).toMatch(/started run_|still has an open run/);
    expect(commands.unknown).toMatchObject({ code: 1, err: expect.stringContaining('no strategy "no-such-strategy"') });
  });

  it("show allowances and transactions, and take back or cancel only what there is", () => {
    expect(JSON.parse(commands.approvals?.out ?? "")).toHaveProperty("allowances");
    const revoked = `${commands.revoke?.out}${commands.revoke?.err}`;
    expect(revoked).toMatch(/nothing to revoke|is being revoked by revoke_|a swap or a revocation of USDC .* is open/);
    const { transactions } = JSON.parse(commands.transactions?.out ?? "") as { transactions: { purpose: string }[] };
    expect(transactions.map(({ purpose }) => purpose)).toContain("swap");
    expect(commands.cancel).toMatchObject({ code: 1, err: expect.stringContaining('no transaction "no-such-trans') });
  });

  it("refuse a second sandbox in the same folder", () => {
    expect(commands.secondSandbox).toMatchObject({ code: 75, err: expect.stringContaining("already runs") });
  });
});
