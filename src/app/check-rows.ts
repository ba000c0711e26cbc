import { existsSync } from "node:fs";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { isMigrated } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../config/configuration.ts";
import { problemOfRows } from "../engine/rows-at-start.ts";
import { openDatabase } from "../storage/database.ts";
import type { Finding } from "./finding.ts";

/** Whether the next start can go on with what its database has open. One of an older release is not looked at. */
export async function checkRows(configuration: Configuration): Promise<readonly Finding[]> {
  const { database } = configuration;
  if (!existsSync(database)) return [];
  try {
    return await look(configuration);
  } catch (error) {
    // Who checks may be another than who runs it.
    if (!(error instanceof Error)) throw error;
    const found = `${database} was not looked at: ${error.message}`;
    return [{ what: "database", found, whatToDo: undefined, isWarning: true }];
  }
}

async function look({ database, network, wallets }: Configuration): Promise<readonly Finding[]> {
  const db = openDatabase({ file: database, readonly: true });
  try {
    if (!isMigrated(db)) return [];
    const rows = await openStore(db).read({ kind: "beginning" });
    const addresses = new Set([...wallets.values()].map(({ address }) => address));
    const problem = problemOfRows(rows, { network: network.name, chainId: network.chainId, wallets: addresses });
    if (problem === undefined) return [];
    const { found, whatToDo } = problem;
    return [{ what: "database", found: `no start goes on: ${found}`, whatToDo }];
  } finally {
    db.close();
  }
}
