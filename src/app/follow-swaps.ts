import { createReadModel } from "../adapters/sqlite/daemon/read-model.ts";
import type { RunHistory, SwapHistory } from "../ports/history.ts";
import { openDatabase } from "../storage/database.ts";
import { formatInstant, formatTokenAmount, shortened, type Terminal } from "./terminal.ts";

const POLL_EVERY_MS = 500;
const RECENT_RUNS = 200;
const FILLED = new Set(["confirmed", "final"]);
/** Ends without a fill: by a guard before anything was signed, or on the chain after it. */
const UNFILLED = new Set(["skipped", "denied", "expired", "reverted", "cancelled"]);

/** Stops looking, once what has happened by then is printed. */
export interface FollowedSwaps {
  stop(): Promise<void>;
}

/** Prints a line for each swap when it is confirmed, or ends without a fill, so that the strategies can be seen at work. */
export function followSwaps(database: string, terminal: Terminal): FollowedSwaps {
  const db = openDatabase({ file: database, readonly: true });
  const reads = createReadModel(db);
  const reported = new Set<string>();
  const poll = async (): Promise<void> => {
    const runs = [...(await reads.runs({ limit: RECENT_RUNS }))].reverse();
    for (const run of runs) {
      for (const swap of run.swaps) {
        const line = reported.has(swap.id) ? undefined : swapLine(run, swap, terminal);
        if (line === undefined) continue;
        reported.add(swap.id);
        terminal.out(line);
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

/** A swap's end in one line; undefined while it has none. At a terminal the clock and the hash are short enough for it. */
export function swapLine(
  run: Pick<RunHistory, "slotMs" | "strategy">,
  swap: Pick<SwapHistory, "state" | "reason" | "mode" | "sell" | "buy" | "gross" | "sold" | "bought" | "hash">,
  terminal: Pick<Terminal, "isInteractive">,
): string | undefined {
  const isFilled = FILLED.has(swap.state);
  if (!isFilled && !UNFILLED.has(swap.state)) return undefined;
  const at = formatInstant(run.slotMs);
  const head = `${terminal.isInteractive ? at.slice("2026-01-01T".length) : at}  ${run.strategy.padEnd(18)}  ${(swap.mode ?? "").padEnd(13)}`;
  if (isFilled) {
    const exchanged = `${formatTokenAmount(swap.sold, swap.sell)} -> ${formatTokenAmount(swap.bought, swap.buy)}`;
    const hash = swap.hash ?? "";
    return `${head}  ${exchanged}  ${terminal.isInteractive ? shortened(hash) : hash}`.trimEnd();
  }
  const wanted = `${formatTokenAmount(swap.gross, swap.sell)} -> ${swap.buy.symbol}`;
  const reason = swap.reason === null || swap.reason === swap.state ? "" : ` (${swap.reason})`;
  return `${head}  ${wanted}  ${swap.state}${reason}`;
}
