import type { ClockWatch } from "./clock-watch.ts";
import type { DowntimeWatch } from "./downtime.ts";
import type { Editions } from "./editions.ts";
import type { LoadedStrategy } from "./engine-context.ts";
import { takeRequests } from "./operator-requests.ts";
import { insertDueRuns } from "./scheduler.ts";

/** What goes by the wall clock: slots, editions that begin at the next slot, and what operators ask of slots. */
export interface SlotTurn {
  /** Takes edited strategies over: now, or once the clock can be believed. */
  adopt(strategies: readonly LoadedStrategy[]): void;
  /** Once a second. @returns whether there are new runs */
  take(): boolean;
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
      if (clockProblem !== undefined) return false;
      const hasNew = insertDueRuns(context, downtime.heard).length > 0;
      downtime.tick();
      return hasNew;
    },
  };
}
