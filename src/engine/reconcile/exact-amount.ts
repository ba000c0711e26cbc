import type { Address } from "../../domain/money/address.ts";
import { formatAmount } from "../../domain/money/amount.ts";
import type { ScanContext } from "./patient-chain.ts";

/** An amount of a token with every digit: `100.25 USDC`; of one that is not configured in its smallest unit. */
export function exactAmount({ settings }: Pick<ScanContext, "settings">, address: Address, raw: bigint): string {
  const token = settings.tokens.find((one) => one.address === address);
  return token === undefined ? `${raw} of ${address} (smallest units)` : formatAmount({ token, raw });
}
