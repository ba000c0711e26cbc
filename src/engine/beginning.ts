import { ChainReadError } from "../domain/chain-read-error.ts";
import type { BlockHead } from "../ports/chain.ts";
import type { EngineContext } from "./engine-context.ts";
import { PreflightError, prepare } from "./prepare.ts";
import type { Absence } from "./reach.ts";

/**
 * What stands before all work: the chain must be the configured one. A node that does not answer is waited for; nothing
 * is decided, signed or sent until it did. What only a person can put right ends the process.
 */
export interface Beginning {
  /**
   * Looks at the chain once.
   * @returns the newest block, from which the work may begin; undefined while the node does not answer
   * @throws PreflightError when a person must change the configuration
   */
  attempt(): Promise<BlockHead | undefined>;
  /** Looks again and again. @returns undefined when the signal aborted before @throws PreflightError */
  keepTrying(signal: AbortSignal): Promise<BlockHead | undefined>;
  /** What is waited for; undefined once the work may begin. */
  waitingFor(): Absence | undefined;
}

const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** Makes the beginning of one life of the daemon. */
export function createBeginning(context: EngineContext): Beginning {
  const { clock, logger } = context.deps;
  let waiting: Absence | undefined = { sinceMs: clock.nowMs(), reason: "the node has not answered yet" };
  const attempt = async (): Promise<BlockHead | undefined> => {
    try {
      const head = await prepare(context);
      waiting = undefined;
      return head;
    } catch (error) {
      const reason = passingReason(error);
      if (waiting?.reason !== reason) logger.warn({ error: reason }, "the daemon waits for its node to begin");
      waiting = { sinceMs: waiting?.sinceMs ?? clock.nowMs(), reason };
      return undefined;
    }
  };
  return {
    attempt,
    keepTrying: async (signal) => {
      for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
        await clock.sleep(pauseMs, signal);
        if (signal.aborted) return undefined;
        const head = await attempt();
        if (signal.aborted) return undefined;
        if (head === undefined) continue;
        logger.info({}, "the node answers, the daemon begins");
        return head;
      }
    },
    waitingFor: () => waiting,
  };
}

/** Why the chain could not be looked at, where that may pass by itself. @throws what does not pass */
function passingReason(error: unknown): string {
  if (!(error instanceof ChainReadError)) throw error;
  if (error.code === "wrong chain") throw new PreflightError("CHAIN_ID_MISMATCH", error.message);
  return error.message;
}
