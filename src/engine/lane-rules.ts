import type { LaneOptions } from "../lane/lane-context.ts";
import type { EngineContext } from "./engine-context.ts";
import { maySignIntent } from "./modes.ts";

/** What a lane of the daemon asks at each signature and offer, of the modes and the policy of that instant. */
export function laneRules({ settings, deps }: EngineContext): Required<Pick<LaneOptions, "signing" | "maxFeePerGas">> {
  const { store, laneStore, marker } = deps;
  return {
    signing: (intentId) => maySignIntent({ store, laneStore, live: settings.live, marker }, intentId),
    maxFeePerGas: () => settings.policy.maxFeePerGas,
  };
}
