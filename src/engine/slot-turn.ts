import type { ClockWatch } from "./clock-watch.ts";
import type { DowntimeWatch } from "./downtime.ts";
import type { Editions } from "./editions.ts";
import type { LoadedStrategy } from "./engine-context.ts";
import { takeRequests } from "./operator-requests.ts";
import { insertSomeDueRuns } from "./scheduler.ts";

/** What goes by the wall clock: slots, editions that begin at the next slot, and what operators ask of slots. */
export interface SlotTurn {
  /** Takes edited strategies over: now, or once the clock can be believed. */
  adopt(strategies: readonly LoadedStrategy[]): void;
  /**
   * Once a second, and again soon while it is not done.
   * @returns whether there are new runs, and whether all strategies were looked at
   */
  take(): { readonly hasNew: boolean; readonly isDone: boolean };
}

/** Makes the turn of slots. While the clocks disagree only the requests are taken that need no slot. */
export function createSlotTurn(editions: Editions, clocks: ClockWatch, downtime: DowntimeWatch): SlotTurn {
  const { context } = editions;
  let asked: readonly LoadedStrategy[] | undefined;
  const settleEditions = (): void => {
    if (asked === undefined) editions.settle();
    else editions.adopt(asked);
    asked = undefined;
  };
  return {
    adopt: (strategies) => {
      asked = strategies;
      if (clocks.check() === undefined) settleEditions();
    },
    take: () => {
      const clockProblem = clocks.check();
      if (clockProblem === undefined) settleEditions();
      takeRequests(context, clockProblem);
      if (clockProblem !== undefined) return { hasNew: false, isDone: true };
      const { runs, isDone } = insertSomeDueRuns(context, downtime.heard);
      if (isDone) downtime.tick();
      return { hasNew: runs.length > 0, isDone };
    },
  };
}
