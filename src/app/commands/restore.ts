import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { type SchemaVersion, schemaVersions } from "../../adapters/sqlite/daemon/schema.ts";
import type { Configuration } from "../../config/configuration.ts";
import { assertWhole, replaceDatabases } from "../../storage/backup.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { openDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { keepStricterModes, type RestoredModes } from "../restored-modes.ts";
import { describeService, keepServiceStops, type RestoredService } from "../restored-service.ts";
import { troubleOfStart } from "../start-trouble.ts";
import { changing, configurationFile, nameTarget, readConfiguration, type Target } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** Of the copy of the embedded service's database, next to the daemon's. */
const SERVICE_SUFFIX = ".service";

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
  refuseUnfit(copy, configuration);
  let modes: RestoredModes | undefined;
  const prepare = async (coming: string): Promise<void> => {
    modes = await keepStricterModes(configuration.database, coming, systemClock.nowMs());
  };
  const pairs: Pair[] = [{ database: configuration.database, copy, prepare }];
  const ofService = serviceCopyOf(copy, configuration);
  let service: RestoredService | undefined;
  if (ofService !== undefined) {
    orRefuse(ofService, () => assertWhole(ofService));
    const { database } = configuration.serve;
    pairs.push({
      ...{ database, copy: ofService },
      prepare: async (coming) => {
        service = await keepServiceStops(database, coming, systemClock.nowMs());
      },
    });
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
  terminal.out("the next start checks it against the chain before anything is signed; see then: swapd db check");
  terminal.out(nameTarget(target));
}

const REPLACED = /\.replaced-[0-9TZ]+$/;

/** The copy of the embedded service's database that belongs to one: beside it, or replaced by the same restore as it was. */
function serviceCopyOf(copy: string, { service, serve: { database } }: Configuration): string | undefined {
  if (service.url !== "embedded") return undefined;
  const replaced = REPLACED.exec(copy)?.[0];
  const itself = existsSync(database) ? realpathSync(database) : database;
  const places = [`${copy}${SERVICE_SUFFIX}`, ...(replaced === undefined ? [] : [`${itself}${replaced}`])];
  return places.find((place) => existsSync(place));
}

/** @throws CommandFailure when the copy is damaged, or of another network, or of the world that the mode is not of */
function refuseUnfit(copy: string, { network, mode }: Configuration): void {
  if (!existsSync(copy)) throw new CommandFailure(EXIT.no, `there is no file ${copy}`);
  orRefuse(copy, () => {
    assertWhole(copy);
    const { isOnPaper, newer, ...row } = identityOf(copy);
    if (newer.length > 0) {
      const found = newer.map(
        ({ set, applied, known }) => `migration ${applied} of ${set}, and this one knows ${known}`,
      );
      throw new Error(`a newer release made it (${found.join("; ")}): restore it with that release`);
    }
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
  /** sets of tables that this program does not know all of */
  readonly newer: readonly SchemaVersion[];
}

/** What a copy is of; without a network where no daemon has begun on it. */
function identityOf(copy: string): CopyIdentity {
  const db = openDatabase({ file: copy, readonly: true });
  try {
    const newer = schemaVersions(db).filter(({ applied, known }) => applied > known);
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

function orRefuse(copy: string, check: () => void): void {
  try {
    check();
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
