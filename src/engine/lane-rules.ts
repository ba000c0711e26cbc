import { policyMark } from "../domain/guard/policy.ts";
import { measureFill } from "../domain/run/measure-fill.ts";
import { outdated, swapOf } from "../domain/run/run.ts";
import type { LaneOptions } from "../lane/lane-context.ts";
import type { EngineContext } from "./engine-context.ts";

/** What a lane of the daemon asks of the policy of that instant, and of what its swaps are to do. */
export function laneRules({
  settings,
  deps,
}: EngineContext): Required<Pick<LaneOptions, "maxFeePerGas" | "isShown" | "outdated" | "visibilityOf">> &
  Pick<LaneOptions, "fallbackAfterBlocks"> {
  return {
    maxFeePerGas: () => settings.policy.maxFeePerGas,
    fallbackAfterBlocks: settings.fallback?.afterBlocks,
    // Who took the fallback out of the configuration wants nothing shown, also of what is decided already.
    visibilityOf: async ({ id, account, chainId }) => {
      if (settings.fallback === undefined) return undefined;
      const question = { account, chainId, intent: { id }, withDatabase: false };
      const { owner } = await deps.store.read({ kind: "lane-signing", ...question });
      if (owner === undefined || swapOf(owner.run, owner.swapId).fallback === undefined) return undefined;
      return "public";
    },
    outdated: async ({ id, account, chainId, purpose }) => {
      // What takes an allowance back is right under any policy.
      if (purpose === "revoke") return undefined;
      const question = { account, chainId, intent: { id }, withDatabase: false };
      const { owner } = await deps.store.read({ kind: "lane-signing", ...question });
      return owner && outdated(swapOf(owner.run, owner.swapId), policyMark(settings.policy));
    },
    isShown: async ({ id, account, chainId, purpose, value }, receipt) => {
      if (purpose !== "swap") return true;
      const question = { account, chainId, intent: { id }, withDatabase: false };
      const { owner } = await deps.store.read({ kind: "lane-signing", ...question });
      if (owner === undefined) return true;
      const native = { wrapped: settings.wrappedNative, value };
      return measureFill(receipt, swapOf(owner.run, owner.swapId), native).assumed !== true;
    },
  };
}
