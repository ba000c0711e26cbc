import type { Lane } from "../../lane/lane.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";

/** Keeps a lane moving. */
export interface LaneRunner {
  /** Runs a turn of the lane now instead of later. */
  wake(): void;
  /** What its last turn broke off by, a fault of our own or of the disk; undefined: by nothing. */
  failure(): string | undefined;
  /** Finishes the current turn and stops. */
  stop(): Promise<void>;
}

/** Between two turns of the lane; a block's time matters more than this. */
const POLL_MS = 500;

/** @param afterTurn what else is done in between */
export function runLane(
  dependencies: { lane: Lane; clock: Clock; logger: Logger },
  afterTurn: () => Promise<void>,
): LaneRunner {
  const { lane, clock, logger } = dependencies;
  const stopping = new AbortController();
  let waking = new AbortController();
  let failure: string | undefined;

  /** The lane itself copes with its chain. Whatever else happens, swaps in flight must be looked after. */
  async function failureOfTurn(): Promise<string | undefined> {
    try {
      await lane.tick(stopping.signal);
      await afterTurn();
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      const error = await failureOfTurn();
      if (error === undefined && failure !== undefined) logger.info({}, "the relayer's lane works again");
      if (error !== undefined && error !== failure)
        logger.error({ error }, "the relayer's lane failed: no gasless swap is taken until a turn of it succeeds");
      failure = error;
      await clock.sleep(POLL_MS, AbortSignal.any([stopping.signal, waking.signal]));
    }
  }

  const running = loop();
  return {
    wake: () => waking.abort(),
    failure: () => failure,
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
