import { createHistoryReader } from "../adapters/sqlite/daemon/history-rows.ts";
import { openDatabase } from "../storage/database.ts";
import { formatInstant, formatTokenAmount, type Terminal } from "./terminal.ts";

const LOOK_EVERY_MS = 500;
const RECENT_RUNS = 200;
const FILLED = new Set(["confirmed", "final"]);

/** Prints a line for each swap when it is confirmed, so that somebody in front of a terminal sees the strategies work. */
export function followSwaps(database: string, terminal: Terminal): { stop(): void } {
  const db = openDatabase({ file: database, readonly: true });
  const reader = createHistoryReader(db);
  const told = new Set<string>();
  const look = (): void => {
    const runs = [...reader.runs({ limit: RECENT_RUNS })].reverse();
    for (const run of runs) {
      for (const swap of run.swaps) {
        if (told.has(swap.id) || !FILLED.has(swap.state)) continue;
        told.add(swap.id);
        const sold = formatTokenAmount(swap.sold, swap.sell);
        const bought = formatTokenAmount(swap.bought, swap.buy);
        terminal.out(
          `${formatInstant(run.slotMs)}  ${run.strategy.padEnd(18)}  ${(swap.mode ?? "").padEnd(13)}  ${sold} -> ${bought}  ${swap.hash ?? ""}`,
        );
      }
    }
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    stop: () => {
      clearInterval(timer);
      look();
      db.close();
    },
  };
}
