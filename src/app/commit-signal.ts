import type { Clock } from "../ports/clock.ts";
import type { Store } from "../ports/store.ts";

/** Says that the daemon wrote something, to those that wait for it. Nobody has to look again and again. */
export interface CommitSignal {
  committed(): void;
  /** Resolves at the next commit, or after so long, or when `signal` aborts. */
  wait(withinMs: number, signal?: AbortSignal): Promise<void>;
}

/** Makes one. */
export function createCommitSignal({ sleep }: Pick<Clock, "sleep">): CommitSignal {
  const waiting = new Set<() => void>();
  return {
    committed: () => {
      for (const wake of waiting) wake();
    },
    wait: async (withinMs, signal) => {
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
