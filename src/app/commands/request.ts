import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createStore, type DaemonStore } from "../../adapters/sqlite/daemon/store.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import type { OperatingMode } from "../../domain/run/operating-mode.ts";
import { GLOBAL_SCOPE } from "../../domain/run/operating-mode.ts";
import type { LaneRowStore } from "../../ports/lane-row-store.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { migrateDaemonDatabase } from "../daemon-database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { openLaneRows } from "../lane-wiring.ts";
import { operatorName } from "../operator-name.ts";
import { type ChangeOptions, findTargetToChange, nameTarget, type Target } from "../target.ts";
import type { Terminal } from "../terminal.ts";

const ANSWER_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** What the daemon takes, under the words that the operator uses for it. */
const COMMANDS = {
  mode: "mode",
  run: "run",
  skip: "skip",
  revoke: "approvals revoke",
  cancel: "tx cancel",
  accept: "db accept",
} as const;

/**
 * Asks the running daemon for something through a row of its database and waits for the answer. Without a daemon modes
 * are set by the command, which takes the lock itself. Whatever comes of it, it says on what it acted.
 */
export async function request(command: Asked, options: ChangeOptions, terminal: Terminal): Promise<void> {
  const target = findTargetToChange(options);
  const alone = command.name === "mode" ? (db: SqliteDatabase) => setMode(db, target, command.arguments) : undefined;
  try {
    const answer = await ask(command, target, alone);
    terminal.out(`${answer}\n${nameTarget(target)}`);
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(error.exitCode, `${error.message}\n${nameTarget(target)}`);
  }
}

interface Asked {
  readonly name: keyof typeof COMMANDS;
  readonly arguments: Record<string, string>;
}

/**
 * Has it done by the daemon that runs.
 * @param alone does it where none runs, while this process has the database to itself; undefined: only a daemon can
 * @returns what came of it
 * @throws CommandFailure when it was refused or not answered
 */
export async function ask(
  command: Asked,
  target: Target,
  alone: ((db: SqliteDatabase) => string | Promise<string>) | undefined,
): Promise<string> {
  const { database } = target;
  // Opening would make one: a file without tables, where somebody may look for the one that is lost.
  if (alone === undefined && !existsSync(database)) throw withoutDaemon(command, database);
  const db = openDatabase({ file: database });
  try {
    const store = createStore(db);
    const lock = claimDatabase(database);
    if (lock.kind === "linked") throw new CommandFailure(EXIT.configuration, lock.message);
    if (lock.kind === "claimed") {
      try {
        if (alone !== undefined) return await alone(db);
        throw withoutDaemon(command, database);
      } finally {
        lock.release();
      }
    }
    const id = store.addRequest({
      command: command.name,
      arguments: command.arguments,
      madeBy: operatorName(),
      madeAtMs: systemClock.nowMs(),
    });
    return await waitForAnswer(store, id);
  } finally {
    db.close();
  }
}

function withoutDaemon({ name }: Asked, database: string): CommandFailure {
  const what = `no daemon runs on ${database}; \`${COMMANDS[name]}\` needs one`;
  return new CommandFailure(EXIT.no, `${what}: start it with \`swapd start\`, then ask again`);
}

/** Does what the daemon would do, in its place. Who halts here knows of it, and the log has no daemon to write it. */
function setMode(db: SqliteDatabase, target: Target, wish: Record<string, string>): string {
  const { mode = "", scope = GLOBAL_SCOPE, reason = "no reason given" } = wish;
  migrateDaemonDatabase(db);
  const lanes = openLaneRows(db);
  const store = createStore(db);
  const atMs = systemClock.nowMs();
  if (scope !== GLOBAL_SCOPE && store.strategy(scope) === undefined && !isConfigured(target, scope)) {
    throw new CommandFailure(EXIT.no, `refused: no strategy ${JSON.stringify(scope)}; see: swapd status`);
  }
  return store.transaction(() => {
    // As the daemon would: the row says since when runs may start, and active over active changes nothing of that.
    const isActive = mode === "active" && (store.mode(scope)?.mode ?? "active") === "active";
    if (!isActive) {
      store.setMode({ scope, mode: mode as OperatingMode, setBy: operatorName(), reason, atMs });
      store.endAlerts(SUBJECT.mode(scope), atMs);
    }
    if (mode === "active") store.endAlertsOfFills(scope, atMs);
    refuseOlder(store, scope, atMs);
    const released = scope === GLOBAL_SCOPE && mode === "active" ? releaseAccounts(lanes, store) : [];
    return [`${scope} is ${mode}; no daemon runs, so it holds from the next start`, ...released].join("; ");
  });
}

/** What was asked of a daemon that ended before it took it: the next one would set that over this later word. */
function refuseOlder(store: DaemonStore, scope: string, atMs: number): void {
  for (const { id, command, arguments: wish } of store.openRequests()) {
    if (command !== "mode" || (wish.scope ?? GLOBAL_SCOPE) !== scope) continue;
    store.answerRequest(id, `refused: the mode of ${scope} was set since, while no daemon ran; ask again`, atMs);
  }
}

/** A strategy whose file is there and that no daemon has loaded yet. */
function isConfigured(target: Target, id: string): boolean {
  return target.kind === "configured" && target.configuration.strategies.some(({ spec }) => spec.id === id);
}

function releaseAccounts(lanes: LaneRowStore, alerts: DaemonStore): string[] {
  return lanes.halts().map(({ account, chainId, reason }) => {
    const atMs = systemClock.nowMs();
    lanes.releaseHalt(account, chainId, { by: operatorName(), atMs });
    alerts.endAlerts(SUBJECT.account(account), atMs);
    return `released ${account}, which was halted because ${reason}`;
  });
}

async function waitForAnswer(store: ReturnType<typeof createStore>, id: number): Promise<string> {
  const until = systemClock.monotonicMs() + ANSWER_WITHIN_MS;
  while (systemClock.monotonicMs() < until) {
    const answer = store.answerOf(id);
    if (answer?.startsWith("refused:") === true) throw new CommandFailure(EXIT.no, answer);
    if (answer !== undefined) return answer;
    await systemClock.sleep(LOOK_EVERY_MS);
  }
  throw new CommandFailure(
    EXIT.tryAgain,
    `the daemon did not answer within ${ANSWER_WITHIN_MS / 1_000} s; the request stays in the database and will be taken`,
  );
}
