import { createDoubt } from "../domain/chain/doubt.ts";
import { ChainReadError } from "../domain/chain-read-error.ts";
import type { BlockHead } from "../ports/chain.ts";
import type { EngineContext } from "./engine-context.ts";
import { PreflightError, prepare } from "./prepare.ts";
import type { Absence } from "./reach.ts";

/**
 * What stands before all work: the chain must be the configured one. A node that does not answer is waited for; nothing
 * is decided, signed or sent until it did. What only a person can put right ends the process; where that is a node's word
 * about the chain, it has to say so for a while, because a node that starts up or catches up knows no contract yet.
 */
export interface Beginning {
  /**
   * Checks the chain once.
   * @returns the newest block, from which the work may begin; undefined while the node does not answer
   * @throws PreflightError when a person must change the configuration or the rows, and the nodes did not only just say
   * so
   */
  attempt(): Promise<BlockHead | undefined>;
  /** Checks again and again. @returns undefined when the signal aborted before @throws PreflightError */
  keepTrying(signal: AbortSignal): Promise<BlockHead | undefined>;
  /** What is waited for; undefined once the work may begin. */
  waitingFor(): Absence | undefined;
  /** Why the last check came to nothing; undefined while the first one is under way, and once the work may begin. */
  fault(): string | undefined;
}

const SHORTEST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5_000;

/** What the nodes say of the chain, and not the rows. */
const OF_THE_CHAIN: ReadonlySet<PreflightError["code"]> = new Set<PreflightError["code"]>([
  "CHAIN_ID_MISMATCH",
  "TOKEN_MISMATCH",
  "SETTLEMENT_MISSING",
]);

/** Makes the beginning of one life of the daemon. */
export function createBeginning(context: EngineContext): Beginning {
  const { clock, logger } = context.deps;
  const notYet: Absence = { sinceMs: clock.nowMs(), reason: "the node has not answered yet" };
  let waiting: Absence | undefined = notYet;
  const passingReason = createPassingReason(context);
  const attempt = async (): Promise<BlockHead | undefined> => {
    try {
      const head = await prepare(context);
      waiting = undefined;
      return head;
    } catch (error) {
      const reason = await passingReason(error);
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
    fault: () => (waiting === undefined || waiting === notYet ? undefined : `a start waits: ${waiting.reason}`),
  };
}

/**
 * Why the chain could not be checked, where that may pass by itself.
 * @throws what does not pass, and what the nodes have said for long enough
 */
function createPassingReason({ deps: { chain, clock } }: EngineContext): (error: unknown) => Promise<string> {
  const doubt = createDoubt(clock);
  return async (error) => {
    const fault = asFault(error);
    if (fault instanceof ChainReadError) {
      doubt.end();
      return fault.message;
    }
    if (!OF_THE_CHAIN.has(fault.code)) throw fault;
    const why = doubt.against(fault.code, (await chain.latest().catch(noHead))?.timestamp);
    if (why === undefined) throw fault;
    return `${fault.message} (${why})`;
  };
}

function asFault(error: unknown): ChainReadError | PreflightError {
  if (error instanceof PreflightError) return error;
  if (!(error instanceof ChainReadError)) throw error;
  return error.code === "wrong chain" ? new PreflightError("CHAIN_ID_MISMATCH", error.message) : error;
}

function noHead(error: unknown): undefined {
  if (!(error instanceof ChainReadError)) throw error;
}
