import { isLentGas, LENT_WEI, type PaperAccount } from "../adapters/paper/paper-book.ts";
import type { Configuration } from "../config/configuration.ts";
import type { Address } from "../domain/money/address.ts";

type Wallets = Pick<Configuration, "mode" | "wallets">;

/** The wallets that are accounts on paper: in paper mode all, in a dry run those that list amounts. */
export function paperAccounts({ mode, wallets }: Wallets): readonly PaperAccount[] {
  if (mode === "live") return [];
  const onPaper = [...wallets.values()].filter(({ paper }) => mode === "paper" || paper !== undefined);
  // Of a Safe, whoever executes pays for the gas.
  return onPaper.map(({ address, paper, proposals }) => ({
    ...{ address, amounts: paper, isLentGas: proposals !== undefined },
  }));
}

/** The accounts on paper that are lent coins for gas, in wei. */
export function lentGasOf(configuration: Wallets): ReadonlyMap<Address, bigint> {
  const lentTo = paperAccounts(configuration).filter(isLentGas);
  return new Map(lentTo.map(({ address }) => [address, LENT_WEI]));
}
