import { type ScheduledTask, schedule } from "node-cron";
import { SECOND_MS } from "../../domain/time/durations.ts";

/** Without a tick for so long, the wall clock that node-cron waits for was set back, or runs slow. */
const PATIENCE_MS = 1_500;

/** node-cron writes for a terminal; the daemon writes the same to its own log. */
const SILENT = { info: nothing, warn: nothing, error: nothing, debug: nothing };

/**
 * Calls back once a second, whatever becomes of the wall clock. It only ticks: which slots are due is computed by the
 * domain, because cron libraries differ where a clock changes.
 *
 * node-cron waits for an instant of the wall clock, and when it comes late it walks through all instants of its pattern in
 * between. So each task names one single instant, the next second, which returns after a year, and is replaced at each
 * tick: after a jump ahead of ten days there is nothing to walk through. A clock that is set back would leave the task
 * waiting; a timer of the monotonic clock replaces it then. Both ways the next tick comes within two seconds.
 * @param onTick what it throws is uncaught and ends the process
 * @returns stops the ticking
 */
export function startTicker(onTick: () => void): () => void {
  let task = armTask(beat);
  let watchdog = setTimeout(beat, PATIENCE_MS);
  function beat(): void {
    disarm();
    task = armTask(beat);
    watchdog = setTimeout(beat, PATIENCE_MS);
    // Outside of node-cron, which would only log an error.
    queueMicrotask(onTick);
  }
  function disarm(): void {
    clearTimeout(watchdog);
    void task.destroy();
  }
  return disarm;
}

/** Calls back once, at the next whole second or when that is found to have passed. */
function armTask(onDue: () => void): ScheduledTask {
  const next = new Date(Math.floor(Date.now() / SECOND_MS) * SECOND_MS + SECOND_MS);
  const time = `${next.getUTCSeconds()} ${next.getUTCMinutes()} ${next.getUTCHours()}`;
  const pattern = `${time} ${next.getUTCDate()} ${next.getUTCMonth() + 1} *`;
  let isOver = false;
  const once = (): void => {
    if (isOver) return;
    isOver = true;
    onDue();
  };
  const task = schedule(pattern, once, { timezone: "UTC", logger: SILENT });
  task.on("execution:missed", once);
  task.on("task:destroyed", () => {
    isOver = true;
  });
  return task;
}

function nothing(): void {}
