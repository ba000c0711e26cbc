import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, it } from "vitest";
import { z } from "zod";
import { parseUnits } from "../../src/domain/money/amount.ts";
import { makeFolder, run, start, until } from "./support/swapd.ts";

/** The books of a whole seeded sandbox against its chain, and against programs of others that read them. */
const SEED = "7";
/** Swaps that the books are held against; SWAPD_BOOKS_FILLS asks for more. */
const FILLS = Number(process.env.SWAPD_BOOKS_FILLS ?? 60);
const WITHIN_MS = 5_400_000;
const NATIVE = `0x${"0".repeat(40)}`;
const BALANCE_OF = "0x70a08231000000000000000000000000";

const worldSchema = z.object({
  rpcUrl: z.string(),
  wallet: z.object({ address: z.string() }),
  tokens: z.record(z.string(), z.object({ address: z.string(), decimals: z.number() })),
});
type World = z.output<typeof worldSchema>;

interface Row {
  readonly type: string;
  readonly transaction: string | null;
  readonly sold_amount: string | null;
  readonly sold_contract: string | null;
  readonly bought_amount: string | null;
  readonly bought_contract: string | null;
  readonly gas_amount: string | null;
}

const folder = makeFolder();
afterAll(() => folder.remove());

let world: World;
let rows: readonly Row[] = [];
const onChain = new Map<string, bigint>();
let transactions: readonly string[] = [];
const exports: Record<string, string> = {};

async function ask<T>(method: string, params: readonly unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(world.rpcUrl, { method: "POST", body, headers: { "content-type": "application/json" } });
  return ((await answer.json()) as { result: T }).result;
}

async function balance(token: string): Promise<bigint> {
  const { address } = world.wallet;
  if (token === NATIVE) return BigInt(await ask<string>("eth_getBalance", [address, "latest"]));
  const call = { to: token, data: `${BALANCE_OF}${address.slice(2)}` };
  return BigInt(await ask<string>("eth_call", [call, "latest"]));
}

/** Every transaction in which a token moved from or to the wallet since its books begin. */
async function transfersOf(token: string, fromBlock: number): Promise<readonly string[]> {
  const topic = `0x${world.wallet.address.slice(2).toLowerCase().padStart(64, "0")}`;
  const transfer = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const found: string[] = [];
  for (const topics of [
    [transfer, topic],
    [transfer, null, topic],
  ]) {
    const filter = { address: token, topics, fromBlock: `0x${fromBlock.toString(16)}`, toBlock: "latest" };
    const logs = await ask<readonly { readonly transactionHash: string }[]>("eth_getLogs", [filter]);
    found.push(...logs.map(({ transactionHash }) => transactionHash));
  }
  return found;
}

function countOf(isCounted: (state: string) => boolean): number {
  const db = new Database(join(folder.path, ".swapd/sandbox/swapd.db"), { readonly: true });
  const states = db.prepare<[], string>("SELECT state FROM swaps").pluck().all();
  db.close();
  return states.filter(isCounted).length;
}

beforeAll(async () => {
  const sandbox = start(folder.path, ["sandbox", "--for", "90m", "--port", "0", "--json", "--seed", SEED]);
  world = worldSchema.parse(JSON.parse(await sandbox.firstLine));
  const patience = { process: sandbox, withinMs: WITHIN_MS };
  await until(`${FILLS} final swaps`, patience, () => countOf((state) => state === "final") >= FILLS);
  expect((await run(folder.path, ["pause", "--reason", "books", "--sandbox"])).code).toBe(0);
  const isOpen = (state: string): boolean =>
    !["final", "skipped", "denied", "reverted", "expired", "cancelled"].includes(state);
  await until("everything final", patience, () => countOf(isOpen) === 0);
  // Allowances that are left over are revoked once nothing is open: their gas is final a moment later.
  await until("nothing under way", patience, async () => {
    const { transactions: listed } = JSON.parse((await run(folder.path, ["tx", "list", "--json"])).out) as {
      transactions: { state: string }[];
    };
    return listed.every(({ state }) => state === "final" || state === "dropped");
  });
  for (const token of [NATIVE, ...Object.values(world.tokens).map(({ address }) => address.toLowerCase())])
    onChain.set(token, await balance(token));
  for (const format of ["jsonl", "csv", "koinly", "cointracking", "hledger", "beancount"])
    exports[format] = (await run(folder.path, ["export", "--format", format])).out;
  rows = (exports.jsonl ?? "")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
  const first = Math.min(...rows.map((row) => Number((row as { block?: string }).block ?? 0)));
  const found = await Promise.all(
    [...onChain.keys()].filter((token) => token !== NATIVE).map((token) => transfersOf(token, first + 1)),
  );
  transactions = found.flat();
  sandbox.process.kill("SIGTERM");
  await sandbox.ended;
}, WITHIN_MS + 600_000);

it("what was held before and every row after it add up to what the chain has, to the wei", () => {
  const decimals = new Map([
    [NATIVE, 18],
    ...Object.values(world.tokens).map((token) => [token.address.toLowerCase(), token.decimals] as const),
  ]);
  const sums = new Map([...decimals.keys()].map((token) => [token, 0n]));
  const add = (token: string | null, amount: string | null, sign: bigint): void => {
    if (token === null || amount === null) return;
    sums.set(token, (sums.get(token) ?? 0n) + sign * BigInt(parseUnits(amount, decimals.get(token) ?? 0)));
  };
  for (const row of rows) {
    add(row.bought_contract, row.bought_amount, 1n);
    add(row.sold_contract, row.sold_amount, -1n);
    add(NATIVE, row.gas_amount, -1n);
  }
  expect(rows.filter(({ type }) => type === "swap").length).toBeGreaterThanOrEqual(FILLS);
  expect(sums).toEqual(onChain);
});

it("no transfer of the wallet is without its row, and no row of a swap without its transfer", () => {
  const swaps = rows.filter(({ type }) => type === "swap");
  const booked = new Set(swaps.map(({ transaction }) => transaction));
  expect([...new Set(transactions)].filter((hash) => !booked.has(hash))).toEqual([]);
  const moved = new Set(transactions);
  expect([...booked].filter((hash) => !moved.has(hash ?? ""))).toEqual([]);
});

it("hledger, ledger and beancount balance the books, and hledger has what the chain has", () => {
  const fileOf = (format: string): string => {
    const file = join(folder.path, `books.${format}`);
    writeFileSync(file, exports[format] ?? "");
    return file;
  };
  const tell = (program: string, args: readonly string[]): string => {
    const { error, status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
    if (error !== undefined)
      throw new Error(`${program} is missing (apt-get install hledger ledger beancount): ${error.message}`);
    expect([program, status, stderr]).toEqual([program, 0, ""]);
    return stdout;
  };
  const journal = fileOf("hledger");
  tell("hledger", ["-f", journal, "check", "--strict"]);
  tell("ledger", ["-f", journal, "balance"]);
  tell("bean-check", [fileOf("beancount")]);
  const lines = tell("hledger", [
    "-f",
    journal,
    "bal",
    "assets:swapd:main",
    "-O",
    "csv",
    "--layout",
    "bare",
    "--no-total",
  ])
    .trim()
    .split("\n")
    .slice(1);
  const held = new Map(lines.map((line) => line.replaceAll('"', "").split(",").slice(1) as [string, string]));
  const wanted = Object.entries(world.tokens).map(
    ([name, { address, decimals }]) => [name, decimals, onChain.get(address.toLowerCase())] as const,
  );
  for (const [name, decimals, raw] of [...wanted, ["ETH", 18, onChain.get(NATIVE)] as const])
    expect([name, parseUnits(held.get(name) ?? "", decimals)]).toEqual([name, raw]);
});
