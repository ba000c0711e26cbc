import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { z } from "zod";
import type { OperatorAct } from "./kill-plan.ts";
import { startDaemon, type Track } from "./kill-world.ts";
import { after, runSwapd } from "./processes.ts";

/** The longest until a database that differs is halted, and accepted. */
const WITHIN_MS = 900_000;
/** Anyone who signs although it is halted does so in this time. */
const WATCHED_MS = 3_000;
const POLL_EVERY_MS = 250;

/** What a daemon's databases were, the present one last, and what was done to them. */
export interface Past {
  /** files of the databases that were replaced or lost */
  readonly left: string[];
  readonly done: Record<OperatorAct, number>;
  accepted: number;
}

export function noPast(): Past {
  return { left: [], done: { "back up": 0, restore: 0, lose: 0 }, accepted: 0 };
}

const markerSchema = z.object({
  state: z.object({ id: z.string(), signatures: z.number(), signings: z.number() }).optional(),
});

/**
 * Copies, restores or loses the database of a dead daemon. After the last two it plays the operator: what the rows do not
 * know must halt the daemon, nothing may be signed, and one command, with or without a daemon, lets it go on.
 * @returns what is wrong
 */
export async function operate(track: Track, past: Past, act: OperatorAct): Promise<readonly string[]> {
  if (!existsSync(track.database)) return [];
  const copy = join(track.around.directory, `${track.name}.copy.db`);
  if (act === "restore" && !existsSync(copy)) return [];
  past.done[act] += 1;
  const count = past.left.length;
  if (act === "back up") {
    if (existsSync(copy)) renameSync(copy, `${copy}.${past.done[act]}`);
    return await run(track, ["backup", "--to", copy]);
  }
  const marker = readMarker(track);
  if (act === "restore") {
    const { code, output } = await swapd(track, ["restore", copy, "--json"]);
    if (code !== 0) return [`${track.name} could not be restored: ${output}`];
    const { restored } = JSON.parse(output) as { restored: { replaced: string | null }[] };
    past.left.push(restored[0]?.replaced ?? "");
  } else {
    past.left.push(moveAway(track, count));
  }
  const expected = whatMustDiffer(track, marker, act);
  return expected === undefined ? [] : await acceptAll(track, past, { expected, act });
}

function moveAway({ around, name, database }: Track, count: number): string {
  const folder = join(around.directory, `${name}.lost-${count}`);
  mkdirSync(folder);
  for (const suffix of ["", "-wal", "-shm"]) {
    if (existsSync(`${database}${suffix}`)) renameSync(`${database}${suffix}`, join(folder, `swapd.db${suffix}`));
  }
  return join(folder, "swapd.db");
}

function readMarker({ configuration, wallet }: Track): z.output<typeof markerSchema>["state"] {
  const file = join(dirname(configuration), "identity", `31337-${wallet}.json`);
  return existsSync(file) ? markerSchema.parse(JSON.parse(readFileSync(file, "utf8"))).state : undefined;
}

/** The kind of the difference that the marker must report; undefined where nothing was signed that the rows do not know. */
function whatMustDiffer(
  track: Track,
  marker: ReturnType<typeof readMarker>,
  act: "restore" | "lose",
): "lost" | "older" | undefined {
  if (marker === undefined) return undefined;
  if (act === "lose") return "lost";
  const { id, signatures, signings } = signedOf(track);
  if (id !== marker.id) return "lost";
  return signatures < marker.signatures || signings < marker.signings ? "older" : undefined;
}

function signedOf(track: Track): { id: string | null; signatures: number; signings: number } {
  const none = { id: null, signatures: 0, signings: 0 };
  if (!existsSync(track.database)) return none;
  const [row] = read<typeof none>(
    track,
    `SELECT database_id AS id, signatures + signed AS signatures, (SELECT coalesce(max(seq), 0) FROM lane_signings) AS signings FROM identity`,
  );
  return row ?? none;
}

/** Grows with each order and transaction that is signed. Steps of the identity count what was only begun as well. */
function newestSignature(track: Track): number {
  if (!existsSync(track.database)) return 0;
  const [row] = read<{ newest: number }>(
    track,
    `SELECT (SELECT coalesce(max(id), 0) FROM transitions WHERE to_state = 'signed') +
       (SELECT coalesce(max(seq), 0) FROM lane_signings) AS newest`,
  );
  return row?.newest ?? 0;
}

/** Starts the daemon, demands that it is halted, accepts, and goes on doing so until nothing differs any more. */
async function acceptAll(
  track: Track,
  past: Past,
  { expected, act }: { expected: "lost" | "older"; act: OperatorAct },
): Promise<readonly string[]> {
  const wrong: string[] = [];
  const before = newestSignature(track);
  const endMs = performance.now() + WITHIN_MS;
  let daemon = startDaemon(track);
  const say = (what: string): string => `${track.name} after ${act}: ${what}`;
  try {
    await until(endMs, () => isChecked(track) && open(track).includes(expected));
    if (!open(track).includes(expected)) return [say(`${expected} is not reported, but ${open(track).join(", ")}`)];
    const check = await swapd(track, ["db", "check", "--json"]);
    if (check.code !== 1 || !check.output.includes(`"${expected}"`)) wrong.push(say(`db check says ${check.output}`));
    await after(WATCHED_MS);
    if (newestSignature(track) > before) wrong.push(say("it signed while halted"));
    // Every other time nobody runs when it is accepted.
    if (past.left.length % 2 === 0) {
      daemon.kill("SIGKILL");
      await daemon.ended;
      if (!(await isAccepted(track, endMs))) return [...wrong, say("it could not be accepted without a daemon")];
      daemon = startDaemon(track);
    }
    await until(endMs, async () => {
      if (isChecked(track) && open(track).length === 0) return true;
      if (open(track).length > 0 && (await isAccepted(track, performance.now()))) past.accepted += 1;
      return false;
    });
    const left = open(track);
    if (left.length > 0 || !isChecked(track)) wrong.push(say(`still halted: ${left.join(", ")} after ${WITHIN_MS} ms`));
  } finally {
    daemon.kill("SIGKILL");
    await daemon.ended;
  }
  return wrong;
}

/** Asks again while what the other database signed may still be filled, or while the daemon is too busy to answer. */
async function isAccepted(track: Track, endMs: number): Promise<boolean> {
  do {
    const { code } = await swapd(track, ["db", "accept", "--json"]);
    if (code === 0) return true;
    await after(1_000);
  } while (performance.now() < endMs);
  return false;
}

async function until(endMs: number, hasHappened: () => boolean | Promise<boolean>): Promise<void> {
  while (performance.now() < endMs && !(await hasHappened())) await after(POLL_EVERY_MS);
}

/** Whether the chain was checked against the rows in this life: before that nobody knows what differs. */
function isChecked(track: Track): boolean {
  const rows = read<{ kind: string }>(track, "SELECT kind FROM differences WHERE kind = 'unchecked'");
  return hasTables(track) && rows.length === 0;
}

function open(track: Track): readonly string[] {
  const sql = "SELECT kind FROM differences WHERE settled_at_ms IS NULL AND kind <> 'unchecked'";
  return read<{ kind: string }>(track, sql).map(({ kind }) => kind);
}

function hasTables(track: Track): boolean {
  return read(track, "SELECT 1 FROM identity WHERE database_id IS NOT NULL").length > 0;
}

/** Nothing, where the daemon has not made its tables yet. */
function read<Row>({ database }: Track, sql: string): Row[] {
  if (!existsSync(database)) return [];
  const db = new Database(database, { readonly: true });
  try {
    return db.prepare<[], Row>(sql).all();
  } catch (error) {
    if (error instanceof Database.SqliteError && error.message.startsWith("no such")) return [];
    throw error;
  } finally {
    db.close();
  }
}

async function run(track: Track, command: readonly string[]): Promise<readonly string[]> {
  const { code, output } = await swapd(track, command);
  return code === 0 ? [] : [`${track.name}: swapd ${command.join(" ")} ended with ${code}: ${output}`];
}

async function swapd(
  track: Track,
  command: readonly string[],
): Promise<{ readonly code: number | null; readonly output: string }> {
  return await runSwapd([...command, "--config", track.configuration], track.around);
}
