/** Long work, cut into steps. It yields where others may go on in between; whoever drives it decides when it does. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** Tells work in steps whether it has had its time for now: only then it yields. */
export interface Pace {
  isOver(): boolean;
}

/** Never over: for work that nobody waits beside. */
export const UNHURRIED: Pace = { isOver: () => false };

/** Does all of the work at once. */
export function inOneGo<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
