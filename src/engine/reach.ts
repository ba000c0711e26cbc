import type { EngineDeps } from "./engine-context.ts";

/** Something outside that does not answer: since when (Unix milliseconds) and with what words. */
export interface Absence {
  readonly sinceMs: number;
  readonly reason: string;
}

/** Whether one thing outside answers, as whoever called it found. Nothing asks for its sake. */
export interface Reach {
  answered(): void;
  failed(reason: string): void;
  /** undefined while it answers, and before anybody called */
  absence(): Absence | undefined;
}

/** Remembers how the last call ended, and since when calls have been ending so. */
export function createReach({ clock }: Pick<EngineDeps, "clock">): Reach {
  let absence: Absence | undefined;
  return {
    answered: () => {
      absence = undefined;
    },
    failed: (reason) => {
      absence = { sinceMs: absence?.sinceMs ?? clock.nowMs(), reason };
    },
    absence: () => absence,
  };
}
