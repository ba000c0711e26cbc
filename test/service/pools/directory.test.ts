import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ReadWords } from "../../../src/chain/at-block/batch-reader.ts";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import { type Address, toAddress } from "../../../src/domain/money/address.ts";
import { createPoolDirectory, scopeOf } from "../../../src/service/pools/directory.ts";
import type { Pool, Protocol } from "../../../src/service/pools/pool.ts";
import { openPoolBook, type PoolBook } from "../../../src/service/pools/pool-book.ts";
import { openDatabase, type SqliteDatabase } from "../../../src/storage/database.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { systemClock } from "../support/system-clock.ts";

const address = (index: number) => toAddress(`0x${index.toString(16).padStart(40, "0")}`);
const [A, B, C, PAIR, FACTORY] = [1, 2, 3, 0x77, 0xfac].map(address) as [Address, Address, Address, Address, Address];
const PROTOCOLS: Protocol[] = [{ kind: 1, factory: FACTORY, feePips: 3000 }];
const MINUTE = 60_000;

let folder: string;
let db: SqliteDatabase;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { ...systemClock, nowMs: () => nowMs, monotonicMs: () => nowMs };
let asked = 0;
let book: PoolBook | undefined;
let pairAt: Address | undefined;
let isDead = false;

/** A factory with at most one pair, of A and B. */
const read: ReadWords = async (_to, data) => {
  asked += 1;
  if (isDead) throw new RpcError({ kind: "transport", host: "node", message: "node: gone" });
  const isOfPair = data.endsWith(A.slice(2).padStart(64, "0") + B.slice(2).padStart(64, "0"));
  return [isOfPair && pairAt !== undefined ? BigInt(pairAt) : 0n];
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "swapd-directory-"));
  db = openDatabase({ file: join(folder, "service.db") });
  asked = 0;
  pairAt = PAIR;
  isDead = false;
});

afterEach(() => {
  book?.close();
  book = undefined;
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

function newLife(protocols = PROTOCOLS) {
  book?.close();
  const options = { protocols, feeTiers: [500] };
  book = openPoolBook(db, { scope: scopeOf(1, options), nowMs, logger: silentLogger() });
  const directory = createPoolDirectory(options, clock, book);
  return async (tokenA: Address, tokenB: Address): Promise<Address[]> => {
    const pools: readonly Pool[] = await directory.poolsOf(tokenA, tokenB, read);
    return pools.map((pool) => pool.address);
  };
}

test("a pair that was found is not looked for again for ten minutes, and one without pools for one", async () => {
  const poolsOf = newLife();
  expect(await poolsOf(B, A)).toEqual([PAIR]);
  expect(await poolsOf(A, B)).toEqual([PAIR]);
  expect(await poolsOf(A, C)).toEqual([]);
  expect(await poolsOf(C, A)).toEqual([]);
  expect(asked).toBe(2);
  nowMs += MINUTE;
  expect(await poolsOf(A, B)).toEqual([PAIR]);
  expect(await poolsOf(A, C)).toEqual([]);
  expect(asked).toBe(3);
});

test("what was found serves while it is looked for again, and when the node is gone meanwhile", async () => {
  const poolsOf = newLife();
  await poolsOf(A, B);
  nowMs += 10 * MINUTE;
  isDead = true;
  for (let attempt = 2; attempt < 5; attempt += 1) {
    expect(await poolsOf(A, B)).toEqual([PAIR]);
    await new Promise(setImmediate);
    expect(asked).toBe(attempt);
  }
  await expect(poolsOf(A, C)).rejects.toThrow("gone");
  isDead = false;
  pairAt = address(0x78);
  expect(await poolsOf(A, B)).toEqual([PAIR]);
  await new Promise(setImmediate);
  expect(await poolsOf(A, B)).toEqual([address(0x78)]);
});

test("pools outlive a restart, and are looked for again when first used: the chain may be another one", async () => {
  const before = newLife();
  await before(A, B);
  await before(A, C);
  nowMs += 1_000;
  const after = newLife();
  expect(asked).toBe(2);
  pairAt = undefined;
  expect(await after(A, B)).toEqual([PAIR]);
  expect(await after(A, C)).toEqual([]);
  await new Promise(setImmediate);
  expect(asked).toBe(3);
  expect(await after(A, B)).toEqual([]);
});

test("what was found at other factories, or is a month old, is forgotten", async () => {
  await newLife()(A, B);
  isDead = true;
  const others = newLife([{ kind: 1, factory: address(0xfad), feePips: 3000 }]);
  await expect(others(A, B)).rejects.toThrow("gone");
  expect(await newLife()(A, B)).toEqual([PAIR]);
  nowMs += 31 * 24 * 60 * MINUTE;
  await expect(newLife()(A, B)).rejects.toThrow("gone");
});
