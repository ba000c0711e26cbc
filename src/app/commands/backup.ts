import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createReadModel } from "../../adapters/sqlite/daemon/read-model.ts";
import type { HistoryHead } from "../../ports/read-model.ts";
import { backUp, removeLeftovers, type WantedCopy } from "../../storage/backup.ts";
import { openDatabase } from "../../storage/database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { sayMode } from "../mode-line.ts";
import { troubleOf } from "../start-trouble.ts";
import { configurationOf, findTarget, type Target, withReads } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** Of the service's database, when it is embedded: next to the daemon's copy. */
const SERVICE_SUFFIX = ".service";

/** `swapd backup`: copies the database, and the embedded service's with it; the daemon may run. */
export async function backup(
  options: { config?: string; to?: string; json?: boolean },
  terminal: Terminal,
): Promise<void> {
  const target = findTarget(options);
  sayMode(target, options, terminal);
  const time = new Date(systemClock.nowMs()).toISOString().replaceAll(/[-:]/g, "").replace(/\..*/, "Z");
  const to = resolve(options.to ?? `${target.database}.backup-${time}`);
  await withReads(target, async () => undefined);
  const pairs = [{ database: target.database, backup: to }];
  const service = serviceDatabaseOf(target);
  if (service !== undefined) pairs.push({ database: service, backup: `${to}${SERVICE_SUFFIX}` });
  // Before: what a backup that was ended left may be what there is no room for.
  const removed = removeLeftovers(to, systemClock.nowMs());
  const bytes = copyAll(pairs, [to, `${to}${SERVICE_SUFFIX}`]);
  const made = pairs.map((pair, index) => ({ ...pair, bytes: bytes[index] ?? 0 }));
  const head = await headOf(to);
  const copies = made.map((one) => ({ ...one, history: one.backup === to ? head : undefined }));
  if (options.json === true) terminal.out(JSON.stringify({ copies, removed }));
  else tell({ copies, removed }, terminal);
  if (target.kind === "broken") throw new CommandFailure(EXIT.no, `${target.problems}\n\n${HALF}`);
}

/** The rows of the daemon matter most, and are copied whatever is wrong with its files; the answer is no all the same. */
const HALF =
  "the daemon's database is copied; where the service's is nobody knows while the files are broken: that one is not";

/** Of the embedded service, where it has one; undefined too where broken files do not say where. */
function serviceDatabaseOf(target: Target): string | undefined {
  if (target.kind === "broken") return undefined;
  const { service, serve } = configurationOf(target).configuration;
  return service.url === "embedded" && existsSync(serve.database) ? serve.database : undefined;
}

interface Made {
  readonly copies: readonly {
    readonly database: string;
    readonly backup: string;
    readonly bytes: number;
    readonly history: HistoryHead | undefined;
  }[];
  readonly removed: readonly string[];
}

function tell({ copies, removed }: Made, terminal: Terminal): void {
  for (const file of removed) terminal.out(`removed ${file}: a backup that was ended left it unfinished`);
  for (const { database, backup: file, bytes: size, history } of copies) {
    const ends = history === undefined ? "" : `; history of ${history.links} links up to ${history.head}`;
    terminal.out(`${database} -> ${file} (${size} bytes, whole${ends})`);
  }
}

/** The last link of the history that is in a copy; none where an older release made the database. */
async function headOf(file: string): Promise<HistoryHead | undefined> {
  const db = openDatabase({ file, readonly: true });
  try {
    return (await createReadModel(db).historyChain({ isChecked: false })).head;
  } finally {
    db.close();
  }
}

/**
 * Makes all copies or none.
 * @param restored what a restore of them would read: also where no copy is to be made, nothing older may stand there
 * @returns their sizes in bytes
 */
function copyAll(
  pairs: readonly { readonly database: string; readonly backup: string }[],
  restored: readonly string[],
): readonly number[] {
  const wanted: WantedCopy[] = [];
  try {
    const taken = restored.find((file) => existsSync(file));
    if (taken !== undefined) throw new Error(`${taken} exists already: name another file`);
    const missing = restored.map((file) => dirname(resolve(file))).find((folder) => !existsSync(folder));
    if (missing !== undefined)
      throw new Error(`the folder ${missing} does not exist: make it, or mount what belongs there`);
    for (const { database, backup: to } of pairs)
      wanted.push({ db: openDatabase({ file: database, readonly: true }), to });
    return backUp(wanted);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code = troubleOf(error).kind === "passing" ? EXIT.tryAgain : EXIT.no;
    throw new CommandFailure(code, `no backup was made as ${restored[0]}: ${error.message}`);
  } finally {
    for (const { db } of wanted) db.close();
  }
}
