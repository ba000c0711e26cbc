import type { Configuration } from "../../../src/config/configuration.ts";
import type { IdentityMarker } from "../../../src/ports/identity-marker.ts";
import type { Logger } from "../../../src/ports/logger.ts";
import type { Signer } from "../../../src/ports/signer.ts";
import type { Faults } from "../faults.ts";
import type { Trace } from "../trace.ts";
import type { VirtualTime } from "../virtual-time.ts";
import type { SimNetwork } from "../world/network.ts";
import { createSignerElsewhere } from "../world/signer-elsewhere.ts";
import { createAim } from "./aim.ts";
import { createConnection } from "./connection.ts";
import type { Exchange, Files } from "./files.ts";
import { beginLife, type Life, type LifeState } from "./life.ts";
import { createMachine, Killed } from "./machine.ts";
import { createSimMarker } from "./marker.ts";
import type { Strategies } from "./strategies.ts";

/** The daemon as a supervisor keeps it: started, killed, and started again on the same file. */
export interface Lives {
  begin(): void;
  /** Lets go of a process that has died. @returns whether one did */
  settle(): boolean;
  /** Nothing goes wrong any more but one last kill: from then on each start is held to its time. */
  killOnceMore(): void;
  /** Whether the newest process was started to sign nothing. */
  isDry(): boolean;
  /** when the machine is on again, by the world's monotonic time */
  offUntilMs(): number;
  endAll(): void;
  count(): number;
  /** how often each named instant was passed */
  readonly passed: ReadonlyMap<string, number>;
}

const POLL_EVERY_MS = 1_000;
const KILLED_EVERY_MS = 20_000;
/**
 * a start where nothing goes wrong: its time, and its calls alongside those for each open swap, transaction and finding. After
 * an older copy was put back all endpoints are asked for each balance that is not what the copy expects, and for each fill,
 * allowance and nonce that a lost database knows nothing of.
 */
const LONGEST_START_MS = 5_000;
const START_CALLS = 120;
const CALLS_EACH = 12;
/** longer than the window of any slot and the longest order together */
const OFF_FOR_MS = { least: 7 * 60_000, most: 20 * 60_000 };
const MOST_OUTAGES = 2;
/** how long somebody looks at what a daemon would do */
const DRY_FOR_MS = { least: 5_000, most: 60_000 };
/** pages beyond those in use, where the disk is full */
const PAGES_LEFT = 0;

export function createLives(parts: {
  time: VirtualTime;
  network: SimNetwork;
  faults: Faults;
  trace: Trace;
  report(invariant: string, what: string): void;
  configuration(): Configuration;
  strategies: Strategies;
  files: Files;
  signer: Signer;
  offsetMs(): number;
  /** at each death the power fails */
  cutsLog: boolean;
}): Lives {
  const { time, faults, trace, report, files } = parts;
  const { chance } = faults;
  let current: Life | undefined;
  let began = 0;
  let isOver = false;
  let draws = 0;
  let isDry = false;
  let areFilesRead = true;
  let outages = 0;
  let offUntilMs = 0;
  let exchange: Exchange | undefined;
  const connection = createConnection(files.rows.connection, files.rows.changed);
  const random = (): number => chance.of("random", draws++);
  const tickEveryMs = chance.pick([1_000, 2_000, 4_000], "tick");
  const logger = createTraceLogger(trace);
  const isDiskFull = (): boolean => faults.lasts("disk: full", "disk", time.monotonicMs);

  const aim = createAim(faults, files.rows);
  const mayDie = (label: string): void => {
    if (current?.state.phase === "dead") throw new Killed("dead already");
    const why = aim.strikes(label);
    if (why !== undefined) current?.kill(why);
  };
  const marker: IdentityMarker = createSimMarker(mayDie);

  let start: { readonly atMs: number; readonly asked: number } | undefined;
  const judgeStart = (): void => {
    if (start === undefined || current === undefined) return;
    const { phase } = current.state;
    if (phase === "starting" && time.monotonicMs - start.atMs <= LONGEST_START_MS) return;
    const calls = parts.network.asked() - start.asked;
    start = undefined;
    if (phase === "starting") report("L5", `the start takes longer than ${LONGEST_START_MS / 1_000} s`);
    const open = openWork(files);
    if (calls > START_CALLS + open * CALLS_EACH) report("L5", `a start with ${open} open made ${calls} calls`);
  };

  const begin = (): void => {
    if (isOver) return;
    if (faults.isOver) start = { atMs: time.monotonicMs, asked: parts.network.asked() };
    began += 1;
    areFilesRead = true;
    isDry = faults.strikes("operator: dry", "start");
    trace.note("world", `the daemon starts${isDry ? " to sign nothing" : ""}, life ${began}`);
    const state: LifeState = { phase: "starting", why: undefined, error: undefined };
    const isDead = (): boolean => state.phase === "dead";
    const die = (why: string): never => {
      if (current === undefined) throw new Killed(why);
      return current.kill(why);
    };
    const machine = createMachine({
      ...{ time, network: parts.network, offsetMs: parts.offsetMs, random, tickEveryMs, isDead },
      at: (instant, label) => {
        // Outside of the process's own stack: it ends, and anyone who asked is never answered.
        if (!isDead() && faults.strikes("kill: at a label", `${instant} ${label}`))
          current?.end(`killed as ${label} ${instant}`);
      },
    });
    current = beginLife(
      state,
      {
        configuration: { ...parts.configuration(), mode: isDry ? "dry-run" : "live" },
        ...{
          machine,
          signer: createSignerElsewhere(parts.signer, { faults, clock: machine.clock }),
          logger,
          marker,
          connection,
        },
        onRunning: judgeStart,
        crashPoint: (label) => {
          if (isDead()) throw new Killed("dead already");
          const why = aim.strikes(label);
          if (why !== undefined) die(why);
        },
      },
      isDiskFull() ? PAGES_LEFT : undefined,
    );
    if (!isDry) return;
    const dry = current;
    const { least, most } = DRY_FOR_MS;
    time.after(chance.between(least, most, "dry for", began), () => dry.end("stopped, to be started live"));
  };

  /** How long nothing runs after a death: the supervisor starts it again, or the machine itself is off. */
  const pauseMs = (): number => {
    if (outages >= MOST_OUTAGES || !faults.strikes("machine: off", "death"))
      return chance.between(200, 12_000, "restart", began);
    outages += 1;
    const { least, most } = OFF_FOR_MS;
    const forMs = chance.between(least, most, "off for", began);
    trace.note("world", `the machine is off for ${Math.round(forMs / 60_000)} minutes`);
    return forMs;
  };

  const judgeEnd = ({ state }: Life): void => {
    const { why = "no reason", error } = state;
    const words = error instanceof Error ? `${error.name}: ${error.message}` : String(error ?? "");
    trace.note("world", `the daemon is dead: ${why} ${words}`);
    const isBroken = (why === "broken" || why === "start refused") && !isDiskTrouble(error);
    if (isBroken) report("S10", `the process stopped: ${why} ${words} ${stackOf(error)}`);
  };

  const watch = (): void => {
    if (isOver) return;
    if (faults.on.includes("disk: full")) current?.limitPages(isDiskFull() ? PAGES_LEFT : undefined);
    const turn = Math.floor(time.monotonicMs / KILLED_EVERY_MS);
    const isTurn = time.monotonicMs % KILLED_EVERY_MS < POLL_EVERY_MS;
    if (isTurn && current?.state.phase !== "dead" && faults.strikes("kill: anywhere", `turn ${turn}`)) {
      time.after(chance.between(0, KILLED_EVERY_MS, "kill", turn), () => current?.end("killed from outside"));
    }
    // What changes while a process starts is read anew once it runs.
    if (parts.strategies.check()) areFilesRead = false;
    if (!areFilesRead && current?.state.phase === "running") {
      areFilesRead = true;
      current.adopt(parts.strategies.loaded());
    }
    if (isTurn) readFiles();
    judgeStart();
    time.after(POLL_EVERY_MS, watch);
  };

  /** Copies are made while the daemon runs; it is stopped to have one put back. */
  const readFiles = (): void => {
    if (current === undefined || current.state.phase === "dead") return;
    const isOld = faults.strikes("disk: old copy", "database");
    if (isOld || faults.strikes("disk: lost", "database")) {
      exchange = isOld ? "old copy" : "lost";
      current.end("stopped, and its database is exchanged");
      return;
    }
    if (faults.on.includes("disk: old copy")) files.backUp();
  };

  return {
    begin: () => {
      begin();
      watch();
    },
    settle: () => {
      if (current?.state.phase !== "dead") return false;
      const dead = current;
      current = undefined;
      // Right after a commit nothing has left the process that builds on it: its sync may not have come to its end.
      const isNewestSynced = !/at commit\.[a-z-]+\.after$/.test(dead.state.why ?? "");
      const how = exchange ?? (parts.cutsLog ? "cut" : undefined);
      exchange = undefined;
      dead.close();
      if (how !== undefined) files.exchange(how, { number: began, isNewestSynced });
      if (faults.strikes("disk: odd pace", "limiter")) files.spoilPace(began);
      judgeEnd(dead);
      const waitMs = pauseMs();
      offUntilMs = time.monotonicMs + waitMs;
      time.after(waitMs, begin);
      return true;
    },
    killOnceMore: () => current?.end("killed once more"),
    isDry: () => isDry,
    offUntilMs: () => offUntilMs,
    endAll: () => {
      isOver = true;
      current?.end("the world ends");
      current?.close();
    },
    count: () => began,
    passed: aim.passed,
  };
}

/** Swaps and transactions that have not ended. */
function openWork({ rows }: Files): number {
  const open = rows.one<{ count: number }>(
    `SELECT (SELECT count(*) FROM lane_intents WHERE state NOT IN ('final', 'dropped')) + (SELECT count(*) FROM swaps
       WHERE state NOT IN ('final', 'skipped', 'denied', 'reverted', 'expired', 'cancelled'))
       + (SELECT count(*) FROM differences WHERE settled_at_ms IS NULL) AS count`,
  );
  return open?.count ?? 0;
}

function isDiskTrouble(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "SQLITE_FULL";
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack?.split("\n").slice(1, 5).join(" ") ?? "") : "";
}

function createTraceLogger(trace: Trace): Logger {
  const at =
    (level: string) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      const text = JSON.stringify(fields, (_name, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
      trace.note(level, `${message} ${text.slice(0, 300)}`);
    };
  const logger: Logger = {
    debug: () => undefined,
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => logger,
  };
  return logger;
}
