import { type Address, NATIVE_TOKEN } from "./address.ts";

/** A token of one network: `symbol` is the operator's name for it, `decimals` where its decimal point stands (0..77). */
export interface Token {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
}

/** Whether this is the network's own coin, which the interface writes as the zero address. */
export function isNative(token: Pick<Token, "address">): boolean {
  return token.address === NATIVE_TOKEN;
}
