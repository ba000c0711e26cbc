/** Long work, cut into steps. It yields where others may go on in between; anyone who drives it decides when it does. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The budget of work in steps: only work whose budget is used up yields. */
export interface SearchBudget {
  isOver(): boolean;
}

/** Never used up: for work that nobody waits alongside. */
export const UNLIMITED: SearchBudget = { isOver: () => false };

/** Does all of the work at once. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
