import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import { GLOBAL_SCOPE, type ModeRow, OPERATING_MODES, stricterMode } from "../domain/run/operating-mode.ts";
import type { OperatorRequest } from "../ports/daemon-rows.ts";
import type { UnitOfWork } from "../ports/unit-of-work.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";

/**
 * What a database is halted, paused or bound to exits by, one row a scope: its modes, and what people asked for that no
 * daemon took, because it hung or was killed.
 * @returns undefined where the database is not there, or cannot be read
 */
export async function readStops(file: string): Promise<readonly ModeRow[] | undefined> {
  return await readIfThere(file, async (db) => {
    const store = openStore(db);
    return strictest([...(await store.read({ kind: "modes" })), ...(await untaken(store))]);
  });
}

/** @returns undefined where the database is not there, or cannot be read */
export async function readIfThere<T>(
  file: string,
  read: (db: SqliteDatabase) => T | Promise<T>,
): Promise<T | undefined> {
  try {
    const db = openDatabase({ file, readonly: true });
    try {
      return await read(db);
    } finally {
      db.close();
    }
  } catch (error) {
    // Of SQLite or of a file; what has no code is a mistake of ours.
    if (!(error instanceof Error && "code" in error)) throw error;
    return undefined;
  }
}

/** Those rows that stop more than the mode of their scope among others. */
export function stricterThan(rows: readonly ModeRow[], others: readonly ModeRow[]): readonly ModeRow[] {
  return rows.filter(({ scope, mode }) => {
    const other = others.find((row) => row.scope === scope)?.mode ?? "active";
    return stricterMode(other, mode) !== other;
  });
}

/** Of each scope the strictest row, the first of those that are equal; none that is active. */
export function strictest(rows: readonly ModeRow[]): readonly ModeRow[] {
  const stops = new Map<string, ModeRow>();
  for (const row of rows) {
    if (stricterThan([row], [...stops.values()]).length > 0) stops.set(row.scope, row);
  }
  return [...stops.values()];
}

/** A daemon refuses a name that it does not know, and a mode of it could never be lifted. */
async function untaken(store: UnitOfWork): Promise<readonly ModeRow[]> {
  const asked = (await store.read({ kind: "requests" })).flatMap(modeAskedFor);
  const known = await Promise.all(asked.map(({ scope }) => store.read({ kind: "scope", scope })));
  return asked.filter(({ scope }, index) => scope === GLOBAL_SCOPE || known[index]?.isKnown === true);
}

function modeAskedFor({ command, arguments: of, madeBy: setBy, madeAtMs: atMs }: OperatorRequest): readonly ModeRow[] {
  const { scope = GLOBAL_SCOPE, reason = "no reason given" } = of;
  const mode = OPERATING_MODES.find((one) => one === of.mode);
  return command === "mode" && mode !== undefined ? [{ scope, mode, setBy, reason, atMs }] : [];
}
