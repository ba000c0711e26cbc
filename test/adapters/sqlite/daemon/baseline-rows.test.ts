import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createStore } from "../../../../src/adapters/sqlite/daemon/store.ts";
import { openDatabase, type SqliteDatabase } from "../../../../src/storage/database.ts";
import { migrate, readMigrations } from "../../../../src/storage/migrations.ts";
import { POOL as OTHER, USDC, WALLET, WETH } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";
import { temporaryDirectory } from "../../../support/temporary-directory.ts";

const row = {
  ...{ wallet: WALLET, token: USDC.address, symbol: "USDC", decimals: 6 },
  ...{ blockNumber: 7, blockTimeSeconds: 70, balance: 5n },
};

test("what a wallet begins with is replaced as a whole, and that of another wallet stays", () => {
  const { store, db } = openDaemonDatabase();
  for (const wallet of [WALLET, OTHER])
    for (const token of [USDC.address, WETH.address]) store.addBaseline({ ...row, wallet, token });
  store.replaceBaselines(WALLET, [{ ...row, blockNumber: 9, balance: 3n }]);
  expect(
    db.prepare("SELECT wallet, token, block_number, balance FROM baselines ORDER BY wallet, symbol, rowid").raw().all(),
  ).toEqual([
    [WALLET, USDC.address, 9, "3"],
    [OTHER, USDC.address, 7, "5"],
    [OTHER, WETH.address, 7, "5"],
  ]);
});

/** A database of before, with what two wallets held when they were first seen. */
function openOlder(): { readonly db: SqliteDatabase; held(): unknown } {
  const db = openDatabase({ file: join(temporaryDirectory(), "older.db") });
  onTestFinished(() => void db.close());
  const migrations = readMigrations(new URL("../../../../src/adapters/sqlite/daemon/", import.meta.url));
  migrate(db, { set: "daemon", migrations: migrations.slice(0, 44), backup: false });
  const store = createStore(db);
  for (const wallet of [WALLET, OTHER]) store.addBaseline({ ...row, wallet });
  const held = (): unknown => {
    migrate(db, { set: "daemon", migrations: migrations.slice(0, 45), backup: false });
    return db.prepare("SELECT wallet FROM baselines").pluck().all();
  };
  return { db, held };
}

test("what a dry run wrote down of a wallet is counted from no more, and stays of one that traded", () => {
  const older = openOlder();
  older.db.exec(
    `INSERT INTO grants (wallet, token, spender, granted_at_ms) VALUES ('${OTHER}', '${USDC.address}', 's', 1)`,
  );
  expect(older.held()).toEqual([OTHER]);
});

test("what wallets on paper began with stays", () => {
  const older = openOlder();
  older.db.exec("CREATE TABLE paper_starts (account TEXT)");
  expect(older.held()).toEqual([WALLET, OTHER]);
});
