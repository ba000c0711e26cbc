import type { Lane } from "../../lane/lane.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Logger } from "../../ports/logger.ts";

/** Keeps a lane moving. */
export interface LaneRunner {
  /** Runs a turn of the lane now instead of later. */
  wake(): void;
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

  async function loop(): Promise<void> {
    while (!stopping.signal.aborted) {
      waking = new AbortController();
      try {
        await lane.tick(stopping.signal);
        await afterTurn();
      } catch (error) {
        // The lane itself copes with its chain. Whatever else happens, swaps in flight must be looked after.
        logger.error({ error: error instanceof Error ? error.message : String(error) }, "the relayer's lane failed");
      }
      await clock.sleep(POLL_MS, AbortSignal.any([stopping.signal, waking.signal]));
    }
  }

  const running = loop();
  return {
    wake: () => waking.abort(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
