import { readStartedMode } from "../adapters/sqlite/daemon/read-model.ts";
import { hasTables } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration, Mode } from "../config/configuration.ts";
import { checkClaim } from "../storage/claim.ts";
import { openDatabase } from "../storage/database.ts";

const MODES: readonly Mode[] = ["dry-run", "paper", "live"];

/** The mode of the daemon that runs, whatever its file says since; else the one that the next start will have. */
export function modeAtWork({ mode, database }: Pick<Configuration, "mode" | "database">): Mode {
  if (checkClaim(database).kind !== "held") return mode;
  const db = openDatabase({ file: database, readonly: true });
  try {
    const started = hasTables(db) ? readStartedMode(db) : undefined;
    return MODES.find((one) => one === started) ?? mode;
  } finally {
    db.close();
  }
}
