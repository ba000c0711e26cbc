import type { PinnedSettlement } from "../../domain/guard/decoded-swap.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";

/** The contracts that a swap's signatures and transaction are bound to. */
export function pinnedSettlement({ settings }: EngineContext, { quote }: Pick<Swap, "quote">): PinnedSettlement {
  const { chainId, wrappedNative, signer } = settings;
  return { chainId, contracts: contractsFor(settings, quote), wrappedNative, signer };
}
