import type { PinnedSettlement } from "../../domain/guard/decoded-swap.ts";
import type { EngineContext } from "../engine-context.ts";

/** The settlement contract that signatures and transactions are bound to. */
export function pinnedSettlement(context: EngineContext): PinnedSettlement {
  const { chainId, router, wrappedNative, signer } = context.settings;
  return { chainId, router, wrappedNative, signer };
}
