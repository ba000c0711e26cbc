import type { ClockWatch } from "./clock-watch.ts";
import type { DowntimeWatch } from "./downtime.ts";
import type { Editions } from "./editions.ts";
import type { LoadedStrategy } from "./engine-context.ts";
import { takeRequests } from "./operator-requests.ts";
import type { Absence } from "./reach.ts";
import { insertSomeDueRuns } from "./scheduler.ts";

/** What goes by the wall clock: slots, editions that begin at the next slot, and what operators ask of slots. */
export interface SlotTurn {
  /** Takes edited strategies over: now, or once the clock can be believed. */
  adopt(strategies: readonly LoadedStrategy[]): void;
  /** Takes over what waits, if it may be now. */
  settle(): void;
  /**
   * Once a second, and again soon while it is not done.
   * @returns whether there are new runs, and whether all strategies were looked at
   */
  take(): Promise<{ readonly hasNew: boolean; readonly isDone: boolean }>;
}

/** Makes the turn of slots. While the daemon waits or the clocks disagree only the requests are taken that need no slot. */
export function createSlotTurn(
  editions: Editions,
  {
    clocks,
    downtime,
    waitingFor,
  }: { readonly clocks: ClockWatch; readonly downtime: DowntimeWatch; waitingFor(): Absence | undefined },
): SlotTurn {
  const { context } = editions;
  let asked: readonly LoadedStrategy[] | undefined;
  const settleEditions = (): void => {
    if (asked === undefined) editions.settle();
    else editions.adopt(asked);
    asked = undefined;
  };
  const whyWaiting = (): string | undefined => {
    const waiting = waitingFor();
    return waiting === undefined ? undefined : `the daemon waits for its node to begin (${waiting.reason})`;
  };
  const settle = (): void => {
    if (whyWaiting() === undefined && clocks.problem() === undefined) settleEditions();
  };
  return {
    settle,
    adopt: (strategies) => {
      editions.noteFiles(strategies);
      asked = strategies;
      settle();
    },
    take: async () => {
      /** Why nothing may go by the wall clock now. */
      const problem = whyWaiting() ?? (await clocks.check());
      if (problem === undefined) settleEditions();
      takeRequests(context, problem);
      if (problem !== undefined) return { hasNew: false, isDone: true };
      const { runs, isDone } = insertSomeDueRuns(context, downtime.heard);
      if (isDone) await downtime.tick();
      return { hasNew: runs.length > 0, isDone };
    },
  };
}
