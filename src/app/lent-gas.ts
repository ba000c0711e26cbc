import { LENT_WEI } from "../adapters/paper/paper-book.ts";
import type { Configuration } from "../config/configuration.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";

/** Wallets on paper that list no native coin, or are Safes, with what each is lent for gas. */
export function lentGasOf({ mode, wallets }: Pick<Configuration, "mode" | "wallets">): ReadonlyMap<Address, bigint> {
  if (mode === "live") return new Map();
  const onPaper = [...wallets.values()].filter(({ paper }) => mode === "paper" || paper !== undefined);
  const lentTo = onPaper.filter(
    ({ paper, proposals }) => proposals !== undefined || paper?.has(NATIVE_TOKEN) === false,
  );
  return new Map(lentTo.map(({ address }) => [address, LENT_WEI]));
}
