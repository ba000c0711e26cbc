import type { Rows } from "../oracle/rows.ts";
import type { Trace } from "../trace.ts";
import type { VirtualTime } from "../virtual-time.ts";

/** The person who looks after the daemon as OPERATIONS says: through rows that the running daemon takes. */
export interface Operator {
  /** The database was exchanged: everything that was signed before is waited for, then what is open is accepted. */
  heardOfExchange(): void;
  pauseAll(): void;
}

const LOOK_EVERY_MS = 10_000;
export function createOperator(parts: {
  time: VirtualTime;
  trace: Trace;
  rows(): Rows;
  nowMs(): number;
  /** how long somebody waits before anything is accepted; the daemon refuses what comes too early */
  waitsMs: number;
}): Operator {
  const { time, trace } = parts;
  let exchanges = 0;
  let exchangedAtMs = 0;
  let isPaused = false;
  const ask = (command: string, wish: Readonly<Record<string, string>>): void => {
    const isAsked = parts
      .rows()
      .one("SELECT 1 FROM requests WHERE command = ? AND arguments = ? AND taken_at_ms IS NULL", command, text(wish));
    if (isAsked !== undefined) return;
    trace.note("operator", `${command} ${text(wish)}`);
    parts
      .rows()
      .write(
        "INSERT INTO requests (command, arguments, made_by, made_at_ms) VALUES (?, ?, ?, ?)",
        command,
        text(wish),
        `ops ${exchanges}`,
        parts.nowMs(),
      );
  };
  const pause = (): void => ask("mode", { mode: "paused", scope: "global", reason: "the end of the simulation" });
  const look = (): void => {
    time.after(LOOK_EVERY_MS, look);
    if (time.monotonicMs - exchangedAtMs < parts.waitsMs) return;
    const open = parts.rows().one("SELECT 1 FROM differences WHERE settled_at_ms IS NULL AND kind <> 'unchecked'");
    if (open !== undefined) ask("accept", {});
    const halt = parts.rows().one("SELECT 1 FROM lane_halts WHERE released_at_ms IS NULL");
    if (halt === undefined) return;
    ask("mode", { mode: "active", scope: "global", reason: "looked at" });
    if (isPaused) pause();
  };
  return {
    heardOfExchange: () => {
      if (exchanges === 0) time.after(LOOK_EVERY_MS, look);
      exchanges += 1;
      exchangedAtMs = time.monotonicMs;
    },
    pauseAll: () => {
      isPaused = true;
      pause();
    },
  };
}

function text(wish: Readonly<Record<string, string>>): string {
  return JSON.stringify(wish);
}
