import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";

/** Says that the daemon wrote something, to those that wait for it. Nobody has to look again and again. */
export interface CommitSignal {
  committed(): void;
  /** How often something was written so far. */
  count(): number;
  /**
   * Resolves at the next commit, or after so long, or when `signal` aborts.
   * @param since resolves at once where more was written since that count: nothing is missed between a look and a wait
   */
  wait(withinMs: number, signal?: AbortSignal, since?: number): Promise<void>;
}

/** Makes one. */
export function createCommitSignal({ sleep }: Pick<Clock, "sleep">): CommitSignal {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    committed: () => {
      count += 1;
      for (const wake of waiting) wake();
    },
    count: () => count,
    wait: async (withinMs, signal, since) => {
      if (since !== undefined && since !== count) return;
      const over = new AbortController();
      const wake = (): void => over.abort();
      waiting.add(wake);
      try {
        await sleep(withinMs, signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]));
      } finally {
        waiting.delete(wake);
      }
    },
  };
}

/** The same rows, with the signal after each commit. */
export function signalling(store: Store, signal: Pick<CommitSignal, "committed"> | undefined): Store {
  if (signal === undefined) return store;
  return {
    ...store,
    commit: async (units) => {
      const written = await store.commit(units);
      signal.committed();
      return written;
    },
  };
}
