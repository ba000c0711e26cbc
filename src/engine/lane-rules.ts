import { policyMark } from "../domain/guard/policy.ts";
import { measureFill } from "../domain/run/measure-fill.ts";
import { outdated, type Swap, swapOf } from "../domain/run/run.ts";
import type { LaneOptions } from "../lane/lane-context.ts";
import type { IntentRow } from "../ports/lane-store.ts";
import type { LaneRows } from "../ports/lane-unit-of-work.ts";
import type { EngineContext } from "./engine-context.ts";

/** What a lane of the daemon asks of the policy of that instant, and of what its swaps are to do. */
export function laneRules(
  context: EngineContext,
): Required<Pick<LaneOptions, "maxFeePerGas" | "isShown" | "outdated" | "visibilityOf">> &
  Pick<LaneOptions, "fallbackAfterBlocks"> {
  const { settings, deps } = context;
  // Who took the fallback out of the configuration wants nothing shown, also of what is decided already.
  const isForAll = ({ fallback }: Swap): boolean => settings.fallback !== undefined && fallback !== undefined;
  return {
    maxFeePerGas: () => settings.policy.maxFeePerGas,
    fallbackAfterBlocks: settings.fallback?.afterBlocks,
    visibilityOf: async (intent) => {
      const owner = await ownerOf(context, intent);
      return owner !== undefined && isForAll(owner.swap) ? "public" : undefined;
    },
    outdated: async (intent) => {
      // What takes an allowance back is right under any policy.
      const owner = intent.purpose === "revoke" ? undefined : await ownerOf(context, intent);
      if (owner === undefined) return undefined;
      const { swap, lane } = owner;
      const isHidden = deps.chain.visibility === "private" && !isForAll(swap);
      const isShown = lane.signings.some(({ visibility }) => visibility === "public");
      if (isHidden && isShown) return "everybody was to see it, and the configuration wants it private now";
      return outdated(swap, policyMark(settings.policy));
    },
    isShown: async (intent, receipt) => {
      const owner = intent.purpose === "swap" ? await ownerOf(context, intent) : undefined;
      if (owner === undefined) return true;
      const native = { wrapped: settings.wrappedNative, value: intent.value };
      return measureFill(receipt, owner.swap, native).assumed !== true;
    },
  };
}

/** The swap that wants a transaction; undefined where it is of none. */
async function ownerOf(
  { deps }: EngineContext,
  { id, account, chainId }: IntentRow,
): Promise<{ readonly swap: Swap; readonly lane: LaneRows } | undefined> {
  const question = { account, chainId, intent: { id }, withDatabase: false };
  const { owner, lane } = await deps.store.read({ kind: "lane-signing", ...question });
  return owner && { swap: swapOf(owner.run, owner.swapId), lane };
}
