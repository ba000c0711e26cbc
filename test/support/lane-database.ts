import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createLaneRows } from "../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import { type Address, toAddress } from "../../src/domain/money/address.ts";
import { type LaneRequest, plannedIntent } from "../../src/lane/planned-intent.ts";
import type { LaneRowStore } from "../../src/ports/lane-row-store.ts";
import type { AttemptRow, IntentRow, LaneAccount } from "../../src/ports/lane-store.ts";
import { openDatabase, type SqliteDatabase } from "../../src/storage/database.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export const ACCOUNT: Address = toAddress("0x00000000000000000000000000000000000000a1");

/** A lane database in a file of its own, closed and removed with the test. */
export function openLaneDatabase(file = join(temporaryDirectory(), "lane.db")): {
  file: string;
  db: SqliteDatabase;
  store: LaneRowStore;
} {
  const db = openDatabase({ file });
  onTestFinished(() => void db.close());
  migrateLane(db);
  return { file, db, store: createLaneRows(db) };
}

/** Asks a lane for a transaction. */
export function submit(rows: LaneRowStore, account: LaneAccount, request: LaneRequest, nowMs = 1): void {
  const change = { kind: "intent", intent: plannedIntent(account, request, nowMs) } as const;
  rows.transaction(() => createLanes(rows).write([change], nowMs));
}

export function intentRow(change: Partial<IntentRow> = {}): IntentRow {
  return {
    id: "tx_1",
    account: ACCOUNT,
    chainId: 31337,
    purpose: "swap",
    to: toAddress("0x00000000000000000000000000000000000000b2"),
    data: "0x",
    value: 2n ** 200n,
    gasLimit: 100_000n,
    maxFeePerGasCap: 100n,
    signBySeconds: 2_000,
    deadlineSeconds: undefined,
    state: "planned",
    nonce: undefined,
    outcome: undefined,
    minedBlockNumber: undefined,
    minedBlockHash: undefined,
    minedAttemptHash: undefined,
    createdAtMs: 1,
    ...change,
  };
}

export function attemptRow(change: Partial<AttemptRow> = {}): AttemptRow {
  return {
    hash: `0x${"11".repeat(32)}`,
    intentId: "tx_1",
    kind: "original",
    raw: "0x02",
    nonce: 0,
    maxFeePerGas: 50n,
    maxPriorityFeePerGas: 2n,
    visibility: "public",
    state: "signed",
    signedAtMs: 5,
    firstBroadcastBlock: undefined,
    lastBroadcastAtMs: undefined,
    lastBroadcastBlock: undefined,
    ...change,
  };
}
