import type { Faults } from "../faults.ts";
import type { Rows } from "../oracle/rows.ts";
import type { Trace } from "../trace.ts";
import type { VirtualTime } from "../virtual-time.ts";

/** The person who looks after the daemon as OPERATIONS says: through rows that the running daemon takes. */
export interface Operator {
  /** The database was exchanged: everything that was signed before is waited for, then what is open is accepted. */
  heardOfExchange(): void;
  /** The daemon is dead: what a person sets now holds from its next start. */
  heardOfDeath(): void;
  /** Begins to halt everything now and then, and to let it go on after a check. */
  begin(): void;
  pauseAll(): void;
}

const POLL_EVERY_MS = 10_000;
const HALTED_EVERY_MS = 20_000;
const POLL_HALT_EVERY_MS = 5_000;
const POLL_OPEN_EVERY_MS = 1_000;
/** how long somebody looks at what he halted */
const HALTED_FOR_MS = { least: 1_000, most: 30_000 };

export function createOperator(parts: {
  time: VirtualTime;
  faults: Faults;
  trace: Trace;
  rows(): Rows;
  nowMs(): number;
  /** how long somebody waits before anything is accepted; the daemon refuses what comes too early */
  waitsMs: number;
}): Operator {
  const { time, faults, trace } = parts;
  const { least, most } = HALTED_FOR_MS;
  let halts = 0;
  let haltedUntilMs = 0;
  let exchanges = 0;
  let exchangedAtMs = 0;
  let isPaused = false;
  const ask = (command: string, request: Readonly<Record<string, string>>): void => {
    const isAsked = parts
      .rows()
      .one(
        "SELECT 1 FROM requests WHERE command = ? AND arguments = ? AND taken_at_ms IS NULL",
        command,
        text(request),
      );
    if (isAsked !== undefined) return;
    trace.note("operator", `${command} ${text(request)}`);
    parts
      .rows()
      .write(
        "INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES (?, ?, ?, ?)",
        command,
        text(request),
        `ops ${exchanges}`,
        parts.nowMs(),
      );
  };
  const pause = (): void => ask("mode", { mode: "paused", scope: "global", reason: "the end of the simulation" });
  const check = (): void => {
    time.after(POLL_EVERY_MS, check);
    if (time.monotonicMs - exchangedAtMs < parts.waitsMs) return;
    const open = parts.rows().one("SELECT 1 FROM differences WHERE settled_at_ms IS NULL AND kind <> 'unchecked'");
    if (open !== undefined) ask("accept", {});
    const halt = parts.rows().one("SELECT 1 FROM lane_halts WHERE released_at_ms IS NULL");
    if (halt === undefined) return;
    ask("mode", { mode: "active", scope: "global", reason: "looked at" });
    if (isPaused) pause();
  };
  const isHalted = (): boolean =>
    parts.rows().one(
      `SELECT 1 FROM modes WHERE scope = 'global' AND mode = 'halted'
         UNION ALL SELECT 1 FROM requests WHERE taken_at_ms IS NULL AND arguments LIKE '%halted%'`,
    ) !== undefined;
  /** @param halt how it is done with a daemon, or without one */
  const mayHalt = (label: string, halt: () => void): void => {
    if (isPaused || isHalted() || !faults.strikes("operator: halts", label)) return;
    halts += 1;
    haltedUntilMs = time.monotonicMs + faults.chance.between(least, most, "halted for", halts);
    halt();
  };
  /** Who halted lets it go on, and asks again where that is refused, or an older copy of the database is halted still. */
  const checkHalt = (): void => {
    if (time.monotonicMs % HALTED_EVERY_MS < POLL_HALT_EVERY_MS)
      mayHalt("while it runs", () => ask("mode", { mode: "halted", scope: "global", reason: "a check" }));
    if (time.monotonicMs >= haltedUntilMs && isHalted())
      ask("mode", { mode: "active", scope: "global", reason: "looked at" });
    time.after(POLL_HALT_EVERY_MS, checkHalt);
  };
  /** What was sent and is in no block is given up. */
  const mayCancel = (): void => {
    time.after(POLL_OPEN_EVERY_MS, mayCancel);
    const sent = parts
      .rows()
      .one<{ id: string }>("SELECT id FROM lane_intents WHERE state = 'broadcast' ORDER BY seq DESC LIMIT 1");
    if (!isPaused && sent !== undefined && faults.strikes("operator: cancels", "sent"))
      ask("cancel", { intent: sent.id });
  };
  return {
    begin: () => {
      checkHalt();
      mayCancel();
    },
    heardOfDeath: () =>
      mayHalt("while it is dead", () => {
        trace.note("operator", "halts everything while no daemon runs");
        const atMs = parts.nowMs();
        // An older word that no daemon took is set aside, as the command does.
        parts.rows().write("UPDATE requests SET taken_at_ms = ?, answer = 'refused' WHERE taken_at_ms IS NULL", atMs);
        parts
          .rows()
          .write(
            "INSERT OR REPLACE INTO modes (scope, mode, set_by, reason, at_ms) VALUES ('global', 'halted', 'ops', 'a look', ?)",
            atMs,
          );
      }),
    heardOfExchange: () => {
      if (exchanges === 0) time.after(POLL_EVERY_MS, check);
      exchanges += 1;
      exchangedAtMs = time.monotonicMs;
    },
    pauseAll: () => {
      isPaused = true;
      pause();
    },
  };
}

function text(request: Readonly<Record<string, string>>): string {
  return JSON.stringify(request);
}
