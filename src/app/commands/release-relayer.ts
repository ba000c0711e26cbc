import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { lanesIn } from "../../adapters/sqlite/lanes.ts";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { assertReadable } from "../no-rights.ts";
import { operatorName } from "../operator-name.ts";
import { configurationFile, nameTarget, readConfiguration } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/**
 * `swapd resume --relayer`: a person checked why the service's relayer is halted and lets it go on. It is one row of
 * the service's own database, which a running service heeds from its next turn on.
 */
export function releaseRelayer(options: { config?: string; reason: string }, terminal: Terminal): void {
  const named = readConfiguration(configurationFile(options), EXIT.no);
  const file = named.serve.database;
  assertReadable(file);
  if (!existsSync(file)) {
    throw new CommandFailure(EXIT.no, `there is no service database at ${file}: the service has not run yet`);
  }
  const db = openDatabase({ file });
  try {
    terminal.out(
      `${releaseAll(db, `${operatorName()}: ${options.reason}`)}\n${nameTarget({ kind: "configured", configuration: named, database: file })}`,
    );
  } finally {
    db.close();
  }
}

function releaseAll(db: SqliteDatabase, by: string): string {
  // Without a relayer the service never made the table.
  if (db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'lane_halts'").get() === undefined) return NOTHING;
  const { rows } = lanesIn(db);
  const released = rows.transaction(() =>
    rows.halts().map(({ account, chainId, reason }) => {
      rows.releaseHalt(account, chainId, { by, atMs: systemClock.nowMs() });
      return `released the relayer ${account}, which was halted because ${reason}`;
    }),
  );
  return released.length === 0 ? NOTHING : released.join("\n");
}

const NOTHING = "no account of a relayer is halted: nothing to release";
