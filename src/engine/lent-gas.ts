import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import type { EngineSettings } from "./engine-context.ts";

/** What a wallet itself has of a token: on paper its chain shows beside it what is lent for gas. */
export function withoutLentGas(
  { lentGas }: Pick<EngineSettings, "lentGas">,
  { token, wallet }: { readonly token: Address; readonly wallet: Address },
  balance: bigint,
): bigint {
  const own = balance - (token === NATIVE_TOKEN ? (lentGas?.get(wallet) ?? 0n) : 0n);
  return own > 0n ? own : 0n;
}
