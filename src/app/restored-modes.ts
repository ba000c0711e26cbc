import { endAllAccess } from "../adapters/sqlite/daemon/access-store.ts";
import { openStore } from "../adapters/sqlite/daemon/open-store.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import { openDatabase } from "../storage/database.ts";
import { readStops, stricterThan, strictest } from "./stops.ts";

/** The modes of a copy that is restored, and which of them are those of the database that it replaces. */
export interface RestoredModes {
  readonly inForce: readonly ModeRow[];
  /** undefined where the other database is not there, or cannot be read: what was halted since the copy is not known */
  readonly kept: readonly ModeRow[] | undefined;
  /** how many logins and tokens of the API the copy had, which are ended */
  readonly endedAccess: number;
}

/**
 * Writes into a copy what is halted, paused or bound to exits in the database that it is to replace, and not as strictly
 * in itself: a restore takes no stop back, also none that no daemon took. Nor does it bring back who may use the API.
 */
export async function keepStricterModes(replaced: string, copy: string, atMs: number): Promise<RestoredModes> {
  const stops = await readStops(replaced);
  // A start on an older copy refuses what was asked of its daemon, a halt too.
  const ofCopy = (await readStops(copy)) ?? [];
  const db = openDatabase({ file: copy });
  try {
    const store = openStore(db);
    const question = { kind: "modes" } as const;
    const decide = (own: readonly ModeRow[]) => {
      const kept = stops && stricterThan(stops, strictest([...own, ...ofCopy]));
      const changes = stricterThan(strictest([...ofCopy, ...(stops ?? [])]), own).map(
        (row) => ({ kind: "mode-corrected", row }) as const,
      );
      return { changes, atMs, value: kept };
    };
    const [written] = await store.commit([{ question, decide }]);
    const inForce = await store.read(question);
    const endedAccess = endAllAccess(db, atMs);
    return { inForce: inForce.filter(({ mode }) => mode !== "active"), kept: written?.value, endedAccess };
  } finally {
    db.close();
  }
}
