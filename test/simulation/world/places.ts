import { type Address, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";

/** Who and what there is in the simulated world. */

export const CHAIN_ID = 31_337;
export const ROUTER = at("c3");
export const POOL = at("d4");
export const RELAYER = at("b2");
/** Who pays into the wallet now and then. */
export const STRANGER = at("e5");
/** Who has the private key whose every byte is 7. */
export const WALLET_KEY = `0x${"07".repeat(32)}`;

export interface SimToken {
  readonly symbol: string;
  readonly address: Address;
  readonly decimals: number;
  readonly feed: Address;
  /** in dollars, at the start */
  readonly price: number;
  /** how far the price may wander in one block, in hundredths of a percent */
  readonly sway: number;
  readonly hasPermit: boolean;
  readonly start: number;
}

export const USDC: SimToken = token("USDC", "01", { decimals: 6, price: 1, sway: 0, hasPermit: true, start: 20_000 });
export const WETH: SimToken = token("WETH", "02", { decimals: 18, price: 3_000, sway: 25, hasPermit: false, start: 5 });
export const DAI: SimToken = token("DAI", "03", { decimals: 18, price: 1, sway: 0, hasPermit: true, start: 20_000 });
export const ETH: SimToken = {
  ...token("ETH", "04", { decimals: 18, price: 3_000, sway: 25, hasPermit: false, start: 10 }),
  address: NATIVE_TOKEN,
  feed: WETH.feed,
};
export const TOKENS: readonly SimToken[] = [USDC, WETH, DAI];

const BY_ADDRESS = new Map([...TOKENS, ETH].map((one) => [one.address, one]));

export function tokenAt(address: string): SimToken | undefined {
  return BY_ADDRESS.get(address as Address);
}

export function units(token: SimToken, amount: number): bigint {
  return BigInt(Math.round(amount * 1_000_000)) * 10n ** BigInt(token.decimals - 6);
}

function at(byte: string): Address {
  return toAddress(`0x${byte.repeat(20)}`);
}

function token(symbol: string, byte: string, facts: Omit<SimToken, "symbol" | "address" | "feed">): SimToken {
  return { symbol, address: at(byte), feed: at(`f${byte.slice(1)}`), ...facts };
}
