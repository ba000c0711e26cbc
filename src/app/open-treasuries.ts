import { createProposalFolder } from "../adapters/proposals/folder.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";
import type { Clock } from "../ports/clock.ts";
import type { Treasury } from "../ports/treasury.ts";

/** The Safes among the wallets, each with the place of its proposals. On paper nothing is proposed: there are none. */
export function openTreasuries(
  { wallets, mode }: Configuration,
  { clock, beforeProposing }: { readonly clock: Clock; beforeProposing(safe: Address): Promise<void> },
): ReadonlyMap<Address, Treasury> {
  const treasuries = new Map<Address, Treasury>();
  for (const { address: safe, proposals } of wallets.values()) {
    if (proposals === undefined || mode === "paper") continue;
    const treasury = createProposalFolder({ safe, folder: proposals.folder }, { clock });
    const publish: Treasury["publish"] = async (proposal) => {
      await beforeProposing(safe);
      return await treasury.publish(proposal);
    };
    treasuries.set(safe, { ...treasury, publish });
  }
  return treasuries;
}
