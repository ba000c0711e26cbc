import type { LaneListener, Refusal } from "../../ports/lane-event.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";

/** What a lane tells a person of transactions that do not get on, until they do. A service has nobody but its log. */
export interface LaneTroubles extends LaneListener {
  onRefused(refusal: Refusal): void;
  /** Why what is in flight keeps all else from being sent; undefined: it does not. */
  barring(): string | undefined;
}

/** @param listener gets all else that the lane reports */
export function createLaneTroubles(
  listener: LaneListener,
  { inFlight, logger }: { readonly inFlight: () => readonly IntentRow[]; readonly logger: Logger },
): LaneTroubles {
  const told = new Map<string, string>();
  return {
    onIntent: (event) => listener.onIntent(event),
    onRefused({ intentId, detail }) {
      if (detail === undefined) {
        told.delete(intentId);
        return;
      }
      // Each turn says it again, with the figures of its block.
      if (!told.has(intentId)) logger.warn({ intentId, detail }, "a transaction of the relayer does not get on");
      told.set(intentId, detail);
    },
    barring() {
      if (told.size === 0) return undefined;
      return inFlight()
        .map(({ id }) => told.get(id))
        .find((detail) => detail !== undefined);
    },
  };
}
