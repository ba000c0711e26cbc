import { schedule } from "node-cron";

/**
 * Calls back once a second. It only ticks: which slots are due is computed by the domain, because cron libraries differ
 * where a clock changes.
 * @returns stops the ticking
 */
export function startTicker(onTick: () => void): () => Promise<void> {
  const task = schedule("* * * * * *", onTick, { timezone: "UTC" });
  return async () => {
    await task.destroy();
  };
}
