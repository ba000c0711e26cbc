import type { PinnedSettlement } from "../../domain/guard/decoded-swap.ts";
import type { EngineContext } from "../engine-context.ts";

/** The contracts that signatures and transactions are bound to. */
export function pinnedSettlement(context: EngineContext): PinnedSettlement {
  const { chainId, contracts, wrappedNative, signer } = context.settings;
  return { chainId, contracts, wrappedNative, signer };
}
