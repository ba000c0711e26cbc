/** Long work, cut into steps. It yields where others may go on in between; its driver decides when it goes on. */
export type Steps<T> = Generator<undefined, T, undefined>;

/** The budget of work in steps: only work whose budget is used up yields. */
export interface SearchBudget {
  isOver(): boolean;
}

/** Never used up: for work that delays nothing else. */
export const UNLIMITED: SearchBudget = { isOver: () => false };

/** Does all of the work at once. */
export function runToEnd<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
