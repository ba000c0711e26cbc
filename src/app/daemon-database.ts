import { createMarkerFiles } from "../adapters/identity/marker-files.ts";
import { migrateDaemon } from "../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../config/configuration.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import { type Claim, claimDatabase } from "../storage/claim.ts";
import { openDatabase, type SqliteDatabase } from "../storage/database.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";

/**
 * Claims the daemon's database for this process.
 * @throws CommandFailure 75 when another one has it, 78 when the file has a second name
 */
export function claimDaemonDatabase(database: string): Claim {
  const claim = claimDatabase(database);
  if (claim.kind === "claimed") return claim;
  if (claim.kind === "linked") throw new CommandFailure(EXIT.configuration, claim.message);
  const holder = claim.holder ?? "unknown";
  throw new CommandFailure(EXIT.tryAgain, `another daemon (${holder}) holds ${database}; one daemon per database`);
}

/** @throws CommandFailure when another daemon could have the database by now: then nothing is signed any more */
export function assertClaimed(claim: Claim): void {
  if (claim.problem() !== undefined) throw claimLost(claim);
}

/** Why a daemon without a valid claim stops. A new start may succeed: it claims the database again. */
class ClaimLost extends CommandFailure {
  readonly keepsDatabase: boolean;

  constructor(claim: Claim) {
    const why = claim.problem() ?? "the claim on the database was lost for a moment";
    super(EXIT.tryAgain, `${why}; nothing is signed any more`);
    this.keepsDatabase = claim.keepsDatabase();
  }
}

export function claimLost(claim: Claim): CommandFailure {
  return new ClaimLost(claim);
}

/** Whether what stands in the place of the database may be another one now: nothing is written there. */
export function hasLostDatabase(error: unknown): boolean {
  return error instanceof ClaimLost && !error.keepsDatabase;
}

/** Where the markers of a configuration's wallets stand. */
export function openMarker({ identity, network, mode }: Configuration): IdentityMarker {
  // What is on paper says nothing of what another database of the same account should know.
  if (mode === "paper") return { read: () => undefined, write: () => undefined };
  return createMarkerFiles(identity, network.chainId);
}

/** Opens the daemon's database and brings its own tables to this program's schema. */
export function openDaemonDatabase(file: string): SqliteDatabase {
  const db = openDatabase({ file });
  migrateDaemon(db);
  return db;
}
