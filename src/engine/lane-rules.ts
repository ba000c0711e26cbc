import { measureFill } from "../domain/run/measure-fill.ts";
import { swapOf } from "../domain/run/run.ts";
import type { LaneOptions } from "../lane/lane-context.ts";
import type { EngineContext } from "./engine-context.ts";
import { maySignIntent } from "./modes.ts";

/** What a lane of the daemon asks at each signature and offer, of the modes and the policy of that instant. */
export function laneRules({
  settings,
  deps,
}: EngineContext): Required<Pick<LaneOptions, "signing" | "maxFeePerGas" | "isShown">> {
  const { store, laneStore, marker } = deps;
  return {
    signing: (intentId) => maySignIntent({ store, laneStore, live: settings.live, marker }, intentId),
    maxFeePerGas: () => settings.policy.maxFeePerGas,
    isShown: ({ id, purpose, value }, receipt) => {
      const owner = purpose === "swap" ? store.runOfIntent(id) : undefined;
      const run = owner === undefined ? undefined : store.run(owner.runId);
      if (owner === undefined || run === undefined) return true;
      const native = { wrapped: settings.wrappedNative, value };
      return measureFill(receipt, swapOf(run, owner.swapId), native).assumed !== true;
    },
  };
}
