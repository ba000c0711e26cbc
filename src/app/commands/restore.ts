import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import type { Configuration } from "../../config/configuration.ts";
import { assertWhole, replaceDatabases } from "../../storage/backup.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { openDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { keepStricterModes, type RestoredModes } from "../restored-modes.ts";
import { describeService, keepServiceStops, type RestoredService } from "../restored-service.ts";
import { isOfService, newerIn, serviceCopyOf } from "../service-copy.ts";
import { troubleOfStart } from "../start-trouble.ts";
import { changing, configurationFile, nameTarget, readConfiguration, type Target } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** `swapd restore`: puts a copy in the database's place; the next start checks it against the chain before it signs. */
export async function restore(
  file: string,
  options: { config?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const configuration = readConfiguration(configurationFile(options), EXIT.no);
  const target: Target = { kind: "configured", configuration, database: configuration.database };
  await changing(target, () => restoreFrom(resolve(file), target, options, terminal));
}

async function restoreFrom(
  copy: string,
  target: Extract<Target, { kind: "configured" }>,
  options: { json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const { configuration } = target;
  const of = await copiesToRestore(copy, configuration);
  let modes: RestoredModes | undefined;
  let service: RestoredService | undefined;
  const pairs: Pair[] = [];
  if (of.daemon !== undefined) {
    const { database } = configuration;
    const prepare = async (coming: string): Promise<void> => {
      modes = await keepStricterModes(database, coming, systemClock.nowMs());
    };
    pairs.push({ database, copy: of.daemon, prepare });
  }
  if (of.service !== undefined) {
    const { database } = configuration.serve;
    const prepare = async (coming: string): Promise<void> => {
      service = await keepServiceStops(database, coming, systemClock.nowMs());
    };
    pairs.push({ database, copy: of.service, prepare });
  }
  const restored = await replaceAll(pairs);
  if (options.json === true) {
    terminal.out(JSON.stringify({ restored, modes, service }));
    return;
  }
  for (const { database, copy: from, replaced } of restored) {
    terminal.out(
      `${database} is ${from} now; ${replaced === null ? "nothing stood there" : `what stood there is ${replaced}`}`,
    );
  }
  if (modes !== undefined) terminal.out(describeModes(modes));
  if (modes !== undefined && modes.endedAccess > 0)
    terminal.out("its logins and tokens of the API are ended: make new ones with `swapd login`");
  for (const line of service === undefined ? [] : describeService(service)) terminal.out(line);
  if (modes !== undefined)
    terminal.out("the next start checks it against the chain before anything is signed; see then: swapd db check");
  terminal.out(nameTarget(target));
}

interface CopiesToRestore {
  readonly daemon: string | undefined;
  readonly service: string | undefined;
}

/** The copy that was named, and the service's that belongs to it. @throws CommandFailure where one of them is unfit */
async function copiesToRestore(copy: string, configuration: Configuration): Promise<CopiesToRestore> {
  if (!existsSync(copy)) throw new CommandFailure(EXIT.no, `there is no file ${copy}`);
  orRefuse(copy, () => assertWhole(copy));
  if (isOfService(copy)) {
    refuseUnfitService(copy);
    return { daemon: undefined, service: copy };
  }
  refuseUnfit(copy, configuration);
  const service = await serviceCopyOf(copy, configuration);
  if (service !== undefined) refuseUnfitService(service);
  return { daemon: copy, service };
}

/** @throws CommandFailure when the copy is damaged, or of a newer release */
function refuseUnfitService(copy: string): void {
  orRefuse(copy, () => {
    assertWhole(copy);
    const db = openDatabase({ file: copy, readonly: true });
    try {
      refuseNewer(newerIn(db));
    } finally {
      db.close();
    }
  });
}

function refuseNewer(newer: string | undefined): void {
  if (newer !== undefined) throw new Error(`a newer release made it (${newer}): restore it with that release`);
}

/** @throws CommandFailure when the copy is of a newer release, of another network, or of the world that the mode is not of */
function refuseUnfit(copy: string, { network, mode }: Configuration): void {
  orRefuse(copy, () => {
    const { isOnPaper, newer, ...row } = identityOf(copy);
    refuseNewer(newer);
    if (row.network !== undefined && (row.chainId !== network.chainId || row.network !== network.name))
      throw new Error(
        `it belongs to ${row.network} (chain ${row.chainId}), the configuration names ${network.name} (chain ${network.chainId})`,
      );
    if (row.network !== undefined && isOnPaper !== (mode === "paper"))
      throw new Error(
        `it ${isOnPaper ? "is" : "is not"} what happened on paper, and the configuration says mode: ${mode}, whose database is another one; set the mode that the copy was made in, and restore then`,
      );
  });
}

interface CopyIdentity {
  readonly network?: string;
  readonly chainId?: number;
  readonly isOnPaper: boolean;
  /** what this program does not know of its tables */
  readonly newer: string | undefined;
}

/** What a copy is of; without a network where no daemon has begun on it. */
function identityOf(copy: string): CopyIdentity {
  const db = openDatabase({ file: copy, readonly: true });
  try {
    const newer = newerIn(db);
    const identity = db.prepare<[], Pick<CopyIdentity, "network" | "chainId">>(
      "SELECT network, chain_id AS chainId FROM identity",
    );
    const paper = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'paper_starts'").get();
    return { ...identity.get(), isOnPaper: paper !== undefined, newer };
  } finally {
    db.close();
  }
}

function describeModes({ inForce, kept }: RestoredModes): string {
  const list = inForce.map(({ scope, mode, reason }) => `${scope} ${mode} (${reason})`).join(", ");
  const now = inForce.length === 0 ? "nothing is halted or paused in it" : `in force: ${list}`;
  if (kept === undefined) return `what was halted or paused since the copy was made is not known; ${now}`;
  if (kept.length === 0) return now;
  return `${now}; kept from what stood there: ${kept.map(({ scope, mode }) => `${scope} ${mode}`).join(", ")}`;
}

function orRefuse<T>(copy: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new CommandFailure(EXIT.no, `${copy} is not restored: ${error.message}`);
  }
}

interface Pair {
  readonly database: string;
  readonly copy: string;
  /** writes into the copy before it stands there */
  readonly prepare?: (coming: string) => Promise<void>;
}

type Replaced = Pair & { readonly replaced: string | null };

/**
 * All databases are claimed, and all copies are next to them on the disk, before the first one is replaced: what cannot
 * be restored as a whole is left as it was.
 */
async function replaceAll(pairs: readonly Pair[]): Promise<readonly Replaced[]> {
  const time = new Date(systemClock.nowMs()).toISOString().replaceAll(/[-:.]/g, "");
  const claims: { readonly pair: Pair; readonly file: string; release(): void }[] = [];
  try {
    for (const pair of pairs) claims.push({ pair, ...claimed(pair.database) });
    const wanted = claims.map(({ pair, file }) => ({ ...pair, file, keepAs: `${file}.replaced-${time}` }));
    const replaced = await replaceDatabases(wanted).catch(nothingRestored);
    return pairs.map(({ database, copy }, index) => ({ database, copy, replaced: replaced[index] ?? null }));
  } finally {
    for (const claim of claims) claim.release();
  }
}

function nothingRestored(error: unknown): never {
  const { exitCode, message } = troubleOfStart(error);
  if (exitCode === EXIT.invariant) throw error;
  throw new CommandFailure(exitCode, `nothing was restored, and every database is as it was: ${message}`);
}

function claimed(database: string): { readonly file: string; release(): void } {
  const claim = claimDatabase(database);
  if (claim.kind === "linked") throw new CommandFailure(EXIT.configuration, claim.message);
  if (claim.kind === "held") {
    const holder = claim.holder ?? "unknown";
    throw new CommandFailure(EXIT.tryAgain, `${database} is in use (${holder}): stop the daemon first`);
  }
  return claim;
}
