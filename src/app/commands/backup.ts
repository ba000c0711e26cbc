import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { readHead } from "../../adapters/sqlite/daemon/history-chain.ts";
import { hasTable, prepareStatements } from "../../adapters/sqlite/statements.ts";
import { backUp } from "../../storage/backup.ts";
import { openDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { configurationOf, findTarget, withDatabase } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** Of the service's database, when it is embedded: beside the daemon's copy. */
const SERVICE_SUFFIX = ".service";

/** `swapd backup`: copies the database, and the embedded service's with it; the daemon may run. */
export async function backup(
  options: { config?: string; to?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  const { configuration } = configurationOf(target);
  const time = new Date(systemClock.nowMs()).toISOString().replaceAll(/[-:]/g, "").replace(/\..*/, "Z");
  const to = resolve(options.to ?? `${target.database}.backup-${time}`);
  withDatabase(target, () => undefined);
  const pairs = [{ database: target.database, backup: to }];
  const service = configuration.serve.database;
  if (configuration.service.url === "embedded" && existsSync(service)) {
    pairs.push({ database: service, backup: `${to}${SERVICE_SUFFIX}` });
  }
  const copies = pairs.map((pair) => {
    const bytes = copy(pair);
    return { ...pair, bytes, history: pair.backup === to ? headOf(to) : undefined };
  });
  if (options.json === true) {
    terminal.out(JSON.stringify({ copies }));
    return;
  }
  for (const { database, backup: file, bytes, history } of copies) {
    const head = history === undefined ? "" : `; history of ${history.links} links up to ${history.head}`;
    terminal.out(`${database} -> ${file} (${bytes} bytes, whole${head})`);
  }
}

/** The last link of the history that is in a copy; none where an older release made the database. */
function headOf(file: string): ReturnType<typeof readHead> {
  const db = openDatabase({ file, readonly: true });
  try {
    const sql = prepareStatements(db);
    return hasTable(sql, "history_head") ? readHead(sql) : undefined;
  } finally {
    db.close();
  }
}

function copy({ database, backup: to }: { database: string; backup: string }): number {
  const db = openDatabase({ file: database, readonly: true });
  try {
    return backUp(db, to);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.no, `no backup was made: ${error.message}`);
  } finally {
    db.close();
  }
}
