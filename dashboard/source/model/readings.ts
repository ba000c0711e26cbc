import { textOf } from "./problem.ts";

/** Asks the daemon for a path. @throws Error in words for people */
type Ask = (path: string, end: AbortController) => Promise<unknown>;

/** What is shown of the daemon, by the paths that it is read from. */
export interface Readings {
  /** Tells of each answer from now on. @returns what ends that; what nobody shows any more is not waited for */
  show(path: string, changed: () => void): () => void;
  /** Reads it anew, for all who show it. What is being read meanwhile may be older, so it is read once more then. */
  want(path: string): void;
  latest(path: string | undefined): { readonly value: unknown; readonly trouble: string | undefined };
  forget(): void;
}

interface Shown {
  readonly watchers: Set<() => void>;
  isWanted: boolean;
  /** what ends the question that is on its way */
  asked?: AbortController | undefined;
  trouble?: string | undefined;
}

const MOST_KEPT = 60;

/** One question at a time for each path: a slow daemon gets no pile of them, and no answer overtakes a newer one. */
export function createReadings(ask: Ask): Readings {
  const shown = new Map<string, Shown>();
  /** What was read last, so that a page shows at once what it showed before. */
  const kept = new Map<string, unknown>();

  function keep(path: string, value: unknown): void {
    kept.delete(path);
    kept.set(path, value);
    const [oldest = ""] = kept.keys();
    if (kept.size > MOST_KEPT) kept.delete(oldest);
  }

  async function readWanted(path: string, one: Shown): Promise<void> {
    while (one.isWanted) {
      one.asked = new AbortController();
      // All who want it in the same turn are one question.
      await Promise.resolve();
      one.isWanted = false;
      let value: unknown;
      let trouble: string | undefined;
      try {
        value = await ask(path, one.asked);
      } catch (error) {
        trouble = textOf(error);
      }
      // Nobody shows it any more.
      if (shown.get(path) !== one) return;
      one.trouble = trouble;
      if (trouble === undefined) keep(path, value);
      for (const changed of one.watchers) changed();
    }
    one.asked = undefined;
  }

  function leave(path: string, one: Shown): void {
    one.asked?.abort();
    if (shown.get(path) === one) shown.delete(path);
  }

  return {
    show(path, changed) {
      const one = shown.get(path) ?? { watchers: new Set(), isWanted: false };
      shown.set(path, one);
      one.watchers.add(changed);
      return () => {
        one.watchers.delete(changed);
        if (one.watchers.size === 0) leave(path, one);
      };
    },
    want(path) {
      const one = shown.get(path);
      if (one === undefined) return;
      one.isWanted = true;
      if (one.asked === undefined) void readWanted(path, one);
    },
    latest: (path = "") => ({ value: kept.get(path), trouble: shown.get(path)?.trouble }),
    forget() {
      for (const [path, one] of shown) leave(path, one);
      kept.clear();
    },
  };
}
