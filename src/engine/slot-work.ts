import type { ClockWatch } from "./clock-watch.ts";
import type { DowntimeWatch } from "./downtime.ts";
import type { Editions } from "./editions.ts";
import type { LoadedStrategy } from "./engine-context.ts";
import { takeRequests } from "./operator-requests.ts";
import type { Absence } from "./reach.ts";
import { insertSomeDueRuns } from "./scheduler.ts";
import type { OutcomeListener } from "./slot-gaps.ts";

/** What goes by the wall clock: slots, editions that begin at the next slot, and what operators ask of slots. */
export interface SlotWork {
  /** Takes edited strategies over: now, or once the clock can be believed. */
  adopt(strategies: readonly LoadedStrategy[]): Promise<void>;
  /** Resolves when what was begun is over. */
  idle(): Promise<void>;
  /** Takes over what waits, if it may be now. */
  settle(): Promise<void>;
  /**
   * Once a second, and again soon while it is not done.
   * @returns whether there are new runs, and whether all strategies were looked at
   */
  take(): Promise<{ readonly hasNew: boolean; readonly isDone: boolean }>;
}

/** Makes the turn of slots. While the daemon waits or the clocks disagree only the requests are taken that need no slot. */
export function createSlotWork(
  editions: Editions,
  {
    clocks,
    downtime,
    waitingFor,
  }: { readonly clocks: ClockWatch; readonly downtime: DowntimeWatch; waitingFor(): Absence | undefined },
): SlotWork {
  const { context } = editions;
  let asked: readonly LoadedStrategy[] | undefined;
  const settleEditions = async (): Promise<void> => {
    const strategies = asked;
    asked = undefined;
    await (strategies === undefined ? editions.settle() : editions.adopt(strategies));
  };
  const whyWaiting = (): string | undefined => {
    const waiting = waitingFor();
    return waiting === undefined ? undefined : `the daemon waits for its node to begin (${waiting.reason})`;
  };
  const settle = async (): Promise<void> => {
    if (whyWaiting() === undefined && clocks.problem() === undefined) await settleEditions();
  };
  /** What is not in force yet may be halted all the same. */
  const withAsked = (): typeof context =>
    asked === undefined ? context : { ...context, settings: { ...context.settings, strategies: asked } };
  const oneAtATime = createQueue();
  return {
    idle: () => oneAtATime(async () => undefined),
    settle: () => oneAtATime(settle),
    adopt: (strategies) =>
      oneAtATime(async () => {
        await editions.noteFiles(strategies);
        asked = strategies;
        await settle();
      }),
    take: () =>
      oneAtATime(async () => {
        /** Why nothing may go by the wall clock now. */
        const problem = whyWaiting() ?? (await clocks.check());
        if (problem === undefined) {
          await downtime.goesOn();
          await settleEditions();
        }
        let hasNew = false;
        const heard: OutcomeListener = (outcome) => {
          hasNew ||= outcome.kind === "run";
          downtime.heard(outcome);
        };
        await takeRequests(withAsked(), { clockProblem: problem, heard });
        if (problem !== undefined) return { hasNew, isDone: true };
        const { isDone } = await insertSomeDueRuns(context, heard);
        if (isDone) await downtime.tick();
        return { hasNew, isDone };
      }),
  };
}

/** Works one after the other: a file that is edited during a tick must not change the editions under it. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
}
