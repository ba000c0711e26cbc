import { existsSync } from "node:fs";
import { systemClock } from "../../adapters/clock/system-clock.ts";
import { openStore } from "../../adapters/sqlite/daemon/open-store.ts";
import { migrateDaemon } from "../../adapters/sqlite/daemon/schema.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import {
  GLOBAL_SCOPE,
  type ModeRow,
  type OperatingMode,
  signedAgain,
  stricterBesides,
  stricterMode,
} from "../../domain/run/operating-mode.ts";
import { decideHoldAnswer, isRunId } from "../../engine/operator-answers.ts";
import type { Change, Decided } from "../../ports/changes.ts";
import type { LaneHalt } from "../../ports/lane-store.ts";
import type { Answered } from "../../ports/questions.ts";
import type { UnitOfWork } from "../../ports/unit-of-work.ts";
import { claimDatabase } from "../../storage/claim.ts";
import { openDatabase, type SqliteDatabase } from "../../storage/database.ts";
import { databaseAtWork } from "../daemon-beside.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { operatorName } from "../operator-name.ts";
import { type ChangeOptions, changing, findTargetToChange, nameTarget, type Target } from "../target.ts";
import type { Terminal } from "../terminal.ts";
import { typed } from "../typed.ts";

const ANSWER_WITHIN_MS = 5_000;
const POLL_EVERY_MS = 100;

/** What the daemon takes, under the words that the operator uses for it. */
const COMMANDS = {
  mode: "mode",
  run: "run",
  skip: "skip",
  approve: "approve",
  revoke: "allowances revoke",
  cancel: "tx cancel",
  accept: "db accept",
  "lot-order": "lots order",
} as const;

/**
 * Asks the running daemon for something through a row of its database and waits for the answer. Without a daemon
 * the command itself sets modes and refuses runs that wait, and takes the lock. Whatever comes of it, it says on what it
 * acted.
 */
export async function request(command: Asked, options: ChangeOptions, terminal: Terminal): Promise<void> {
  const target = findTargetToChange(options);
  const alone = doneAlone(command, target);
  const atWork = databaseAtWork(target.database);
  // One that refuses, or does not answer, must not keep the other one from being stopped.
  const answers = await Promise.allSettled([
    ...(atWork === undefined ? [] : [askBeside(command, target, atWork)]),
    changing(target, async () => `${await ask(command, target, alone)}\n${nameTarget(target)}`),
  ]);
  for (const answer of answers) if (answer.status === "fulfilled") terminal.out(answer.value);
  for (const answer of answers) if (answer.status === "rejected") throw answer.reason;
}

/** What this process does itself where no daemon runs; undefined: only a daemon can. */
function doneAlone(command: Asked, target: Target): Alone | undefined {
  const { name, arguments: of } = command;
  if (name === "mode") return (db) => setMode(db, target, of);
  const { strategy: runId = "" } = of;
  // Opening would make a database in the place of one that is lost, and nothing waits in it.
  const isWritten = name === "skip" && isRunId(runId) && existsSync(target.database);
  return isWritten ? (db) => refuseRun(db, runId) : undefined;
}

/**
 * The daemon that runs was started in another mode than the file names now: what stops is meant for it too. What lets
 * trade is not, and says so: a pause, too, where it is halted.
 */
async function askBeside(command: Asked, target: Target, database: string): Promise<string> {
  const place = `the daemon that runs on ${database}, in another mode than the file names now`;
  if (command.name !== "mode" || !(await isStricter(command.arguments, database)))
    return `this does not reach ${place}`;
  return `${await ask(command, { ...target, database }, undefined)}\non ${place}`;
}

async function isStricter({ mode, scope = GLOBAL_SCOPE }: Asked["arguments"], database: string): Promise<boolean> {
  if (mode === "halted" || mode === "active") return mode === "halted";
  const db = openDatabase({ file: database, readonly: true });
  try {
    const { mode: row } = await openStore(db).read({ kind: "scope", scope });
    return stricterMode(row?.mode ?? "active", mode as OperatingMode) === mode;
  } finally {
    db.close();
  }
}

type Alone = (db: SqliteDatabase) => Promise<string>;

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
export async function ask(command: Asked, target: Target, alone: Alone | undefined): Promise<string> {
  const { database } = target;
  // Opening would make one: an empty file in the place of the database that is lost.
  if (alone === undefined && !existsSync(database)) throw withoutDaemon(command, target);
  // Claimed before it is opened: what root makes here belongs to the folder's owner, whom the daemon runs as.
  const claim = claimDatabase(database);
  if (claim.kind === "linked") throw new CommandFailure(EXIT.configuration, claim.message);
  try {
    const db = openDatabase({ file: database });
    try {
      if (claim.kind === "claimed" && alone === undefined) throw withoutDaemon(command, target);
      if (claim.kind === "claimed" && alone !== undefined) return await alone(db);
      const store = openStore(db);
      return await waitForAnswer(store, await makeRequest(store, command));
    } finally {
      db.close();
    }
  } finally {
    if (claim.kind === "claimed") claim.release();
  }
}

function withoutDaemon({ name }: Asked, target: Target): CommandFailure {
  const what = `no daemon runs on ${target.database}; \`${COMMANDS[name]}\` needs one`;
  return new CommandFailure(EXIT.no, `${what}: start it with \`${typed("swapd start", target)}\`, then ask again`);
}

/** Writes the request down. @returns its id */
async function makeRequest(store: UnitOfWork, { name, arguments: args }: Asked): Promise<number> {
  const made = { kind: "request-made", request: { command: name, arguments: args, madeBy: operatorName() } } as const;
  const atMs = systemClock.nowMs();
  const [, newest] = await store.commit<"nothing" | "newest-request", number | undefined>([
    { question: { kind: "nothing" }, decide: () => ({ changes: [made], atMs, value: undefined }) },
    { question: { kind: "newest-request" }, decide: (id) => ({ changes: [], atMs, value: id }) },
  ]);
  if (newest?.value === undefined) throw new Error("a request was not written down");
  return newest.value;
}

/** Does what the daemon would do, in its place. Who halts here knows of it, and the log has no daemon to write it. */
async function setMode(db: SqliteDatabase, target: Target, args: Record<string, string>): Promise<string> {
  const { mode = "", scope = GLOBAL_SCOPE, reason = "no reason given" } = args;
  if (target.kind === "broken" && mode !== "halted") {
    const why = "no daemon runs, and the files are broken: whose database this is nobody knows, so it is only halted";
    throw new CommandFailure(EXIT.no, `${target.problems}\n\nrefused: ${why}`);
  }
  migrateDaemon(db);
  const atMs = systemClock.nowMs();
  const row = { scope, mode: mode as OperatingMode, setBy: operatorName(), reason, atMs };
  const decide = (rows: Answered<"scope">): Decided<readonly string[]> => {
    if (scope !== GLOBAL_SCOPE && !rows.isKnown && !isConfigured(target, scope)) {
      throw new CommandFailure(EXIT.no, `refused: no strategy ${JSON.stringify(scope)}; see: swapd status`);
    }
    const released = scope === GLOBAL_SCOPE && mode === "active" ? rows.halts : [];
    return {
      changes: [...modeChanges(row, rows), ...released.flatMap(releaseChanges)],
      atMs,
      value: [
        ...released.map(({ account, reason: why }) => `released ${account}, which was halted because ${why}`),
        ...[signedAgain(row, rows) ?? stricterBesides(row, rows.modes) ?? []].flat(),
      ],
    };
  };
  const [written] = await openStore(db).commit<"scope" | "requests", readonly string[]>([
    { question: { kind: "scope", scope }, decide },
    {
      question: { kind: "requests" },
      decide: (rows: Answered<"requests">) => ({ changes: refuseOlder(rows, scope), atMs, value: [] }),
    },
  ]);
  return [`${scope} is ${mode}; no daemon runs, so it holds from the next start`, ...(written?.value ?? [])].join("; ");
}

/** Writes a person's no to a run that waits where the next start finds it, which ends the run before it signs anything of it. */
async function refuseRun(db: SqliteDatabase, runId: string): Promise<string> {
  migrateDaemon(db);
  const atMs = systemClock.nowMs();
  const answer = { decision: "refused", by: operatorName(), atMs } as const;
  const decide = (rows: Answered<"hold">): Decided<string> => {
    const { answer: value, changes } = decideHoldAnswer(rows, { runId, answer });
    return { changes, atMs, value };
  };
  const [written] = await openStore(db).commit([{ question: { kind: "hold", runId } as const, decide }]);
  const said = written?.value ?? "";
  if (said.startsWith("refused:")) throw new CommandFailure(EXIT.no, said);
  return `${said}; no daemon runs, so the next start ends it`;
}

/** As the daemon would: the row says since when runs may start, and active over active changes nothing of that. */
function modeChanges(row: ModeRow, rows: Answered<"scope">): readonly Change[] {
  const isActive = row.mode === "active" && (rows.mode?.mode ?? "active") === "active";
  return [
    ...(isActive ? [] : [{ kind: "mode", row } as const]),
    ...(row.mode === "active" ? [{ kind: "alerts-of-fills-over", strategyId: row.scope } as const] : []),
  ];
}

/** What was asked of a daemon that ended before it took it: the next one would set that over this later word. */
function refuseOlder(requests: Answered<"requests">, scope: string): readonly Change[] {
  const answer = `refused: the mode of ${scope} was set since, while no daemon ran; ask again`;
  return requests
    .filter(({ command, arguments: args }) => command === "mode" && (args.scope ?? GLOBAL_SCOPE) === scope)
    .map(({ id: requestId }) => ({ kind: "request-answered", requestId, answer }));
}

/** A strategy whose file is there and that no daemon has loaded yet. */
function isConfigured(target: Target, id: string): boolean {
  return target.kind === "configured" && target.configuration.strategies.some(({ spec }) => spec.id === id);
}

function releaseChanges({ account, chainId }: LaneHalt): readonly Change[] {
  return [
    { kind: "halt-released", account, chainId, by: operatorName() },
    { kind: "alerts-over", subject: SUBJECT.account(account) },
  ];
}

async function waitForAnswer(store: UnitOfWork, requestId: number): Promise<string> {
  const until = systemClock.monotonicMs() + ANSWER_WITHIN_MS;
  while (systemClock.monotonicMs() < until) {
    const answer = await store.read({ kind: "request-answer", requestId });
    if (answer?.startsWith("refused:") === true) throw new CommandFailure(EXIT.no, answer);
    if (answer !== undefined) return answer;
    await systemClock.sleep(POLL_EVERY_MS);
  }
  throw new CommandFailure(
    EXIT.tryAgain,
    `the daemon did not answer within ${ANSWER_WITHIN_MS / 1_000} s; the request stays in the database, and what lets trade is taken within a few minutes or not at all`,
  );
}
