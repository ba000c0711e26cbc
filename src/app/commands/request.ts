import { userInfo } from "node:os";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { createStore } from "../../adapters/sqlite/daemon/store.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import type { AlertStore } from "../../ports/alert-store.ts";
import type { LaneStore } from "../../ports/lane-store.ts";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { acquireLock } from "../../storage/lock.ts";
import { lockFileOf, migrateDaemonDatabase } from "../daemon-database.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { openLaneStore } from "../lane-wiring.ts";
import { findTarget } from "../target.ts";
import type { Terminal } from "../terminal.ts";

const ANSWER_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 100;

/** What the daemon takes, under the words that the operator uses for it. */
const COMMANDS = { mode: "mode", run: "run", skip: "skip", revoke: "approvals revoke", cancel: "tx cancel" } as const;

/**
 * Asks the running daemon for something through a row of its database and waits for the answer. Without a daemon only
 * modes can be set: the command takes the lock itself.
 */
export async function request(
  command: { name: keyof typeof COMMANDS; arguments: Record<string, string> },
  options: { config?: string },
  terminal: Terminal,
): Promise<void> {
  const { database } = findTarget(options);
  const db = openDatabase({ file: database });
  try {
    const store = createStore(db);
    const lock = acquireLock(lockFileOf(database));
    if (lock.kind === "acquired") {
      try {
        if (command.name !== "mode") {
          const what = `no daemon runs on ${database}; \`${COMMANDS[command.name]}\` needs one`;
          throw new CommandFailure(EXIT.no, `${what}: start it with \`swapd start\`, then ask again`);
        }
        terminal.out(setMode(db, command.arguments));
        return;
      } finally {
        lock.release();
      }
    }
    const id = store.addRequest({
      command: command.name,
      arguments: command.arguments,
      madeBy: operator(),
      madeAtMs: systemClock.nowMs(),
    });
    terminal.out(await waitForAnswer(store, id));
  } finally {
    db.close();
  }
}

/** Does what the daemon would do, in its place. Who halts here knows of it, and the log has no daemon to write it. */
function setMode(db: SqliteDatabase, wish: Record<string, string>): string {
  const { mode = "", scope = "global", reason = "no reason given" } = wish;
  migrateDaemonDatabase(db);
  const lanes = openLaneStore(db);
  const store = createStore(db);
  const atMs = systemClock.nowMs();
  return store.transaction(() => {
    store.setMode({ scope, mode: mode as "active", setBy: operator(), reason, atMs });
    store.endAlerts(SUBJECT.mode(scope), atMs);
    const released = scope === "global" && mode === "active" ? releaseAccounts(lanes, store) : [];
    return [`${scope} is ${mode}; no daemon runs, so it holds from the next start`, ...released].join("; ");
  });
}

function releaseAccounts(lanes: LaneStore, alerts: AlertStore): string[] {
  return lanes.halts().map(({ account, chainId, reason }) => {
    const atMs = systemClock.nowMs();
    lanes.releaseHalt(account, chainId, { by: operator(), atMs });
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

function operator(): string {
  return userInfo().username;
}
