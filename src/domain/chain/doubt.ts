import { formatDuration } from "../time/format-duration.ts";

/** How long a node has to say what only a person could put right. */
const BELIEVED_AFTER_MS = 5_000;
/** A node whose newest block is older than this is taken to be catching up. */
const BEHIND_SECONDS = 600;

/** What a node says of the chain while it starts up or catches up, as that there is no contract, passes by itself. */
export interface Doubt {
  /**
   * @param word what is said, under a name that stays while the same is said
   * @param newestBlock Unix seconds; undefined where the node does not say
   * @returns why it is not believed yet; undefined: it is
   */
  against(word: string, newestBlock: number | undefined): string | undefined;
  /** It is no longer said. */
  end(): void;
}

/** Begins without one: the first word is doubted from the moment in which it is said. */
export function createDoubt(clock: { monotonicMs(): number; nowMs(): number }): Doubt {
  let doubted: { readonly word: string; readonly sinceMs: number } | undefined;
  return {
    against(word, newestBlock) {
      if (doubted?.word !== word) doubted = { word, sinceMs: clock.monotonicMs() };
      if (clock.monotonicMs() - doubted.sinceMs < BELIEVED_AFTER_MS) return "it is asked again before it is believed";
      const ageSeconds = newestBlock === undefined ? 0 : Math.floor(clock.nowMs() / 1_000) - newestBlock;
      return ageSeconds > BEHIND_SECONDS ? `the newest block is ${formatDuration(ageSeconds * 1_000)} old` : undefined;
    },
    end() {
      doubted = undefined;
    },
  };
}
