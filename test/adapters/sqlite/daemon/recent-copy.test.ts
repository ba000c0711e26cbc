import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { copyRecent } from "../../../../src/adapters/sqlite/daemon/recent-copy.ts";
import { isMigrated, migrateDaemon } from "../../../../src/adapters/sqlite/daemon/schema.ts";
import type { DaemonStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { createLaneRows } from "../../../../src/adapters/sqlite/lane-rows.ts";
import { migrateLane } from "../../../../src/adapters/sqlite/lanes.ts";
import { openDatabase } from "../../../../src/storage/database.ts";
import { NOW_MS, runSample, swapSample, USDC, WALLET, WETH } from "../../../support/builders.ts";
import { addStrategy, addSwap, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { ACCOUNT, intentRow } from "../../../support/lane-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";
import { keptTotals } from "../../../support/recount.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const DAY_MS = 86_400_000;

/** Everything that a decision asks of the store. */
function answers(store: DaemonStore): unknown {
  return {
    reserved: store.reserved(WALLET, USDC.address),
    sold: store.soldBy("weekly"),
    bought: store.boughtBy("weekly"),
    net: [store.netOfSwaps(WALLET, USDC.address), store.netOfSwaps(WALLET, WETH.address)],
    day: store.soldUsdSince(NOW_MS - DAY_MS, ""),
    month: store.soldUsdSince(NOW_MS - 30 * DAY_MS, ""),
    busy: store.isTokenBusy(WALLET, USDC.address, ""),
    failures: store.failuresBetween("weekly", { sinceMs: NOW_MS - DAY_MS, untilMs: NOW_MS }, []),
    open: [...store.strategiesWithOpenRun()],
    work: store.openWork(),
    hasBought: store.hasBought(WALLET, WETH.address),
    strategy: store.strategy("weekly"),
  };
}

test("a copy of what is recent answers every question of a decision as the whole database does", () => {
  const { db, store, lanes } = openDaemonDatabase();
  addStrategy(store);
  for (const [index, state] of (["final", "confirmed", "signed", "denied", "quoted"] as const).entries()) {
    const id = `s${index}`;
    addSwap(store, swapIn(state, { id }), index < 2 ? { state: "filled" } : {});
    store.writeRecord(runSample({ swaps: [swapSample({ id })] }), { kind: "value", swapId: id, usd: 5n }, NOW_MS);
  }
  lanes.insertIntent(intentRow({ id: "old", nonce: 7, state: "planned" }));
  const target = openDatabase({ file: join(temporaryDirectory(), "copy.db") });
  onTestFinished(() => void target.close());
  copyRecent(db, target, NOW_MS);
  expect(isMigrated(target)).toBe(true);
  migrateDaemon(target);
  migrateLane(target);
  expect(answers(createStore(target))).toEqual(answers(store));
  expect(keptTotals(target)).toEqual(keptTotals(db));
  expect(createLaneRows(target).openIntents(ACCOUNT, 31_337)).toHaveLength(1);
  const count = (table: string): unknown => target.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([count("transitions"), count("checks")]).toEqual([0, 0]);
  expect(count("swaps")).toBeLessThan(5);
});

test("a database of an older release does not count as migrated", () => {
  const { db } = openDaemonDatabase();
  expect(isMigrated(db)).toBe(true);
  db.exec("DELETE FROM schema_migrations WHERE set_name = 'daemon' AND number = 10");
  expect(isMigrated(db)).toBe(false);
});
