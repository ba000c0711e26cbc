import type { EngineDeps } from "./engine-context.ts";

/** Something outside that does not answer: since when (Unix milliseconds) and with what words. */
export interface Absence {
  readonly sinceMs: number;
  readonly reason: string;
}

/** Whether one outside service answers, by the calls that are made to it anyway. No call is made for this alone. */
export interface Reach {
  answered(): void;
  failed(reason: string): void;
  /** undefined while it answers, and before the first call */
  absence(): Absence | undefined;
  /** Whether work that waits may be waiting for it: calls fail, and are made. */
  holdsWorkUp(): boolean;
}

/** What was not called for so long is not waited for. */
const TRIED_WITHIN_MS = 300_000;

/** Remembers how the last call ended, and since when calls have been ending so. */
export function createReach({ clock }: Pick<EngineDeps, "clock">): Reach {
  let absence: Absence | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;
  return {
    answered: () => {
      absence = undefined;
    },
    failed: (reason) => {
      failedAtMs = clock.monotonicMs();
      absence = { sinceMs: absence?.sinceMs ?? clock.nowMs(), reason };
    },
    absence: () => absence,
    holdsWorkUp: () => absence !== undefined && clock.monotonicMs() - failedAtMs < TRIED_WITHIN_MS,
  };
}
