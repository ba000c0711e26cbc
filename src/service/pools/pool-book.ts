import { z } from "zod";
import { type Address, type Hex, isHex, parseAddress } from "../../domain/money/address.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { Logger } from "../../ports/logger.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { migrate, readMigrations } from "../../storage/migrations.ts";
import { isStorageFault } from "../../storage/storage-fault.ts";
import { isPoolKind } from "./kinds.ts";
import type { Pool } from "./pool.ts";

/** What was found of one pair of tokens; no pools is an answer, too. */
export interface PairSearch {
  readonly token0: Address;
  readonly token1: Address;
  readonly pools: readonly Pool[];
  /** Unix milliseconds */
  readonly searchedAtMs: number;
}

/** Keeps what was found over restarts. */
export interface PoolBook {
  /** The newest searches of earlier lives. */
  searches(): readonly PairSearch[];
  /** Keeps a search, a little later and together with others: losing some costs nothing but asking again. */
  put(search: PairSearch): void;
  close(): void;
}

const MAX_SEARCHES = 20_000;
const KEPT_FOR_MS = 30 * DAY_MS;
const WRITE_AFTER_MS = 500;
/** Searches that are written together; what comes beyond in the meantime is not kept. */
const MAX_PENDING = 500;

interface PoolBookTerms {
  /** names what was asked: answers of other factories, or of another chain, say nothing */
  readonly scope: string;
  readonly nowMs: number;
  readonly maxSearches?: number;
  readonly logger: Logger;
}

const address = z.string().transform((text, context) => {
  const parsed = parseAddress(text);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: "custom", message: "no address" });
  return z.NEVER;
});

const poolSchema = z.object({
  kind: z.number().refine(isPoolKind),
  protocol: z.number().int(),
  address,
  id: z.custom<Hex>(isHex).optional(),
  token0: address,
  token1: address,
  feePips: z.number().int(),
  tickSpacing: z.number().int(),
  constants: z.array(z.number()).optional(),
  factory: address.optional(),
});
const searchSchema = z.object({
  token0: address,
  token1: address,
  pools: z.string().transform((text): Pool[] => z.array(poolSchema).parse(JSON.parse(text))),
  searchedAtMs: z.number(),
});

/** Opens the book in the service's database. */
export function openPoolBook(
  db: SqliteDatabase,
  { scope, nowMs, maxSearches = MAX_SEARCHES, logger }: PoolBookTerms,
): PoolBook {
  const migrations = readMigrations(new URL("./migrations/", import.meta.url));
  migrate(db, { set: "service-pools", migrations, backup: true });
  db.prepare("DELETE FROM pool_searches WHERE searched_at_ms < ?").run(nowMs - KEPT_FOR_MS);
  const newest = db.prepare<[string, number]>(
    `SELECT token0, token1, pools, searched_at_ms AS searchedAtMs FROM pool_searches
     WHERE scope = ? ORDER BY searched_at_ms DESC LIMIT ?`,
  );
  const count = db.prepare<[string], number>("SELECT count(*) FROM pool_searches WHERE scope = ?").pluck();
  const removeOldest = db.prepare<[string, number]>(
    `DELETE FROM pool_searches WHERE rowid IN (
       SELECT rowid FROM pool_searches WHERE scope = ? ORDER BY searched_at_ms LIMIT ?)`,
  );
  const insert = db.prepare<[string, string, string, string, number]>(
    `INSERT OR REPLACE INTO pool_searches (scope, token0, token1, pools, searched_at_ms) VALUES (?, ?, ?, ?, ?)`,
  );
  let pending = new Map<string, PairSearch>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let isRefused = false;

  function write(): void {
    clearTimeout(timer);
    timer = undefined;
    const rows = [...pending.values()];
    pending = new Map();
    try {
      db.transaction(() => {
        for (const { token0, token1, pools, searchedAtMs } of rows) {
          insert.run(scope, token0, token1, JSON.stringify(pools), searchedAtMs);
        }
        const tooMany = (count.get(scope) ?? 0) - maxSearches;
        if (tooMany > 0) removeOldest.run(scope, tooMany);
      }).immediate();
      if (isRefused) logger.info({}, "what is found of pools can be written down again");
      isRefused = false;
    } catch (error) {
      // No swap depends on it, and any quote may cause the write: none may end the service.
      if (!isStorageFault(error)) throw error;
      const message = "what was found of pools cannot be written down, and is asked for again after a restart";
      if (!isRefused) logger.warn({ error: error.message }, message);
      isRefused = true;
    }
  }

  return {
    searches: () => newest.all(scope, maxSearches).map((row) => searchSchema.parse(row)),
    put(search) {
      // A lookup that was under way at the end is made again after the next start.
      if (isClosed) return;
      if (pending.size >= MAX_PENDING) return;
      pending.set(search.token0 + search.token1, search);
      timer ??= setTimeout(write, WRITE_AFTER_MS).unref();
    },
    close() {
      isClosed = true;
      write();
    },
  };
}
