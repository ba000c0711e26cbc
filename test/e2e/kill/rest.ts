import Database from "better-sqlite3";
import { type KillWorld, startDaemon, type Track } from "./kill-world.ts";
import { after, type Child, runSwapd } from "./processes.ts";

/** How everything came to rest. */
export interface Rest {
  readonly violations: readonly string[];
  /** when the daemons were asked to begin nothing new, milliseconds of the epoch */
  readonly pausedMs: number;
  /** longest clean stop of a daemon, milliseconds */
  readonly stopMs: number;
}

/** After the kills everything trades on for a while undisturbed: a jam would show here. */
const UNDISTURBED_MS = 5_000;
/** On a slow machine it takes longer until swaps of both modes were filled; that none ever is, is for the caller. */
const UNDISTURBED_AT_MOST_MS = 60_000;
const ENOUGH_OF_A_MODE = 3;

/**
 * Lets the daemons trade undisturbed, then begin nothing new and finish what is open; stops them cleanly and audits.
 * @param running gets what was started, so that the caller can end it when this throws
 */
export async function comeToRest(world: KillWorld, withinMs: number, running: Child[]): Promise<Rest> {
  const daemons = world.tracks.map((track) => startDaemon(track));
  running.push(...daemons);
  const violations = await tradeUndisturbed(world);
  const pausedMs = Date.now();
  for (const track of world.tracks) {
    const { code, output } = await runSwapd(["pause", "--config", track.configuration], track.around);
    if (code !== 0) violations.push(`${track.name} did not pause: ${output}`);
  }
  const open = await untilNothingIsOpen(world, withinMs);
  violations.push(...open.map((thing) => `still open after ${withinMs} ms: ${thing}`));
  const stops = await Promise.all(daemons.map(stopCleanly));
  for (const { code, signal } of stops) {
    if (code !== 0) violations.push(`a daemon stopped with code ${code}, signal ${signal}`);
  }
  violations.push(...(await auditAll(world, "at rest")));
  return { violations, pausedMs, stopMs: Math.max(...stops.map(({ tookMs }) => tookMs)) };
}

/** Once the faults are over each daemon must fill swaps again, whatever state they left behind. @returns those that do not */
async function tradeUndisturbed(world: KillWorld): Promise<string[]> {
  const before = new Map(world.tracks.map((track) => [track.name, fillsOf(track).length]));
  const idle = () => world.tracks.filter((track) => fillsOf(track).length <= (before.get(track.name) ?? 0));
  const beganMs = performance.now();
  await after(UNDISTURBED_MS);
  const atMostMs = UNDISTURBED_AT_MOST_MS * world.slowness;
  while (performance.now() - beganMs < atMostMs) {
    if (idle().length === 0 && hasSwappedInBothWays(world)) break;
    await after(500);
  }
  return idle().map(({ name }) => `${name} filled nothing within ${atMostMs} ms of the last fault`);
}

function fillsOf({ database }: Track): string[] {
  return readOpen(database, [{ what: "", sql: "SELECT id FROM swaps WHERE state IN ('confirmed', 'final')" }]);
}

/** Whether a few swaps of each mode were filled by now. */
function hasSwappedInBothWays({ tracks }: KillWorld): boolean {
  const sql = "SELECT mode AS id FROM swaps WHERE state IN ('confirmed', 'final')";
  const modes = tracks.flatMap(({ database }) => readOpen(database, [{ what: "", sql }]).map((mode) => mode.trim()));
  return ["self-executed", "gasless"].every((mode) => modes.filter((one) => one === mode).length >= ENOUGH_OF_A_MODE);
}

/** What is left to be revoked when nobody lives to do it. After everything came to rest nothing may be. */
const LEFT_BY_THE_DEAD = new Set(["ALLOWANCE_LEFT"]);

/** Database and chain must agree at any instant, also while the daemon is dead and its swaps are open. */
export async function auditAll(world: Pick<KillWorld, "tracks">, when: "dead" | "at rest"): Promise<string[]> {
  const violations: string[] = [];
  for (const track of world.tracks) {
    const command = ["audit", "--json", "--config", track.configuration];
    const { code, output } = await runSwapd(command, track.around);
    if (code === 0) continue;
    const found = code === 1 ? readDifferences(output) : [{ code: `exit ${code}`, message: output }];
    const counted = found.filter((difference) => when === "at rest" || !LEFT_BY_THE_DEAD.has(difference.code));
    violations.push(
      ...counted.map((difference) => `audit of ${track.name} (${when}): ${difference.code} ${difference.message}`),
    );
  }
  return violations;
}

function readDifferences(output: string): readonly { code: string; message: string }[] {
  return (JSON.parse(output) as { differences: { code: string; message: string }[] }).differences;
}

async function stopCleanly(daemon: Child): Promise<{ code: number | null; signal: string | null; tookMs: number }> {
  const askedMs = performance.now();
  daemon.kill("SIGTERM");
  const ending = await daemon.ended;
  return { ...ending, tookMs: performance.now() - askedMs };
}

/** @returns what is still open when the time is over */
export async function untilNothingIsOpen(
  world: Pick<KillWorld, "tracks" | "profile" | "serviceDatabase">,
  withinMs: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + withinMs;
  for (;;) {
    const open = world.tracks.flatMap(({ name, database }) =>
      readOpen(database, OPEN_AT_A_DAEMON).map((thing) => `${name} ${thing}`),
    );
    if (world.profile === "swapd") open.push(...readOpen(world.serviceDatabase, OPEN_AT_THE_SERVICE));
    if (open.length === 0 || performance.now() > deadline) return open;
    await after(250);
  }
}

interface Question {
  readonly what: string;
  readonly sql: string;
}

export function readOpen(file: string, questions: readonly Question[]): string[] {
  const db = new Database(file, { readonly: true });
  try {
    return questions.flatMap(({ what, sql }) =>
      db
        .prepare<[], { id: string }>(sql)
        .all()
        .map(({ id }) => `${what} ${id}`),
    );
  } finally {
    db.close();
  }
}

const TRANSACTION: Question = {
  what: "transaction",
  sql: "SELECT id || ' ' || state AS id FROM lane_intents WHERE state NOT IN ('final', 'dropped')",
};

const OPEN_AT_A_DAEMON: readonly Question[] = [
  {
    what: "run",
    sql: "SELECT id || ' ' || state AS id FROM runs WHERE state IN ('due', 'deciding', 'executing', 'parked')",
  },
  {
    what: "swap",
    sql: `SELECT id || ' ' || state AS id FROM swaps
          WHERE state NOT IN ('final', 'skipped', 'denied', 'reverted', 'expired', 'cancelled')`,
  },
  { what: "reservation of", sql: "SELECT swap_id AS id FROM ledger WHERE state = 'reserved'" },
  { what: "capability of", sql: "SELECT swap_id AS id FROM capabilities WHERE live = 1" },
  TRANSACTION,
  { what: "effect", sql: "SELECT run_id || ' ' || kind AS id FROM effects" },
  { what: "allowance of", sql: "SELECT token AS id FROM grants" },
];

const OPEN_AT_THE_SERVICE: readonly Question[] = [
  TRANSACTION,
  { what: "swap of the service", sql: "SELECT id FROM swaps WHERE status = 'pending'" },
];
