import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import { openDatabase } from "../storage/database.ts";
import { formatInstant, formatTokenAmount, type Terminal } from "./terminal.ts";

const POLL_EVERY_MS = 500;
const RECENT_RUNS = 200;
const FILLED = new Set(["confirmed", "final"]);

/** Prints a line for each swap when it is confirmed, so that the strategies can be seen at work in a terminal. */
export function followSwaps(database: string, terminal: Terminal): { stop(): Promise<void> } {
  const db = openDatabase({ file: database, readonly: true });
  const reads = createReadModel(db);
  const reported = new Set<string>();
  const poll = async (): Promise<void> => {
    const runs = [...(await reads.runs({ limit: RECENT_RUNS }))].reverse();
    for (const run of runs) {
      for (const swap of run.swaps) {
        if (reported.has(swap.id) || !FILLED.has(swap.state)) continue;
        reported.add(swap.id);
        const sold = formatTokenAmount(swap.sold, swap.sell);
        const bought = formatTokenAmount(swap.bought, swap.buy);
        terminal.out(
          `${formatInstant(run.slotMs)}  ${run.strategy.padEnd(18)}  ${(swap.mode ?? "").padEnd(13)}  ${sold} -> ${bought}  ${swap.hash ?? ""}`,
        );
      }
    }
  };
  let looks = Promise.resolve();
  const checkAgain = (): void => {
    looks = looks.then(poll);
  };
  const timer = setInterval(checkAgain, POLL_EVERY_MS);
  return {
    stop: async () => {
      clearInterval(timer);
      checkAgain();
      await looks;
      db.close();
    },
  };
}
