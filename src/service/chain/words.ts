import { type Address, type Hex, toAddress } from "../../domain/money/address.ts";

/** First four bytes of the keccak hash of each signature the service reads with on its hot path. */
export const SELECTOR = {
  /** getPair(address,address) */
  getPair: "0xe6a43905",
  /** getReserves() */
  getReserves: "0x0902f1ac",
  /** getPool(address,address,uint24) */
  getPool: "0x1698ee82",
  /** feeAmountTickSpacing(uint24) */
  feeAmountTickSpacing: "0x22afcccb",
  /** slot0() */
  slot0: "0x3850c7bd",
  /** liquidity() */
  liquidity: "0x1a686502",
  /** tickBitmap(int16) */
  tickBitmap: "0x5339c296",
  /** ticks(int24) */
  ticks: "0xf30dba93",
  /** find_pool_for_coins(address,address,uint256) */
  findPoolForCoins: "0x6982eb0b",
  /** get_coin_indices(address,address,address) */
  getCoinIndices: "0xeb85226d",
  /** balances(uint256) */
  balances: "0x4903b0d1",
  /** A_precise() */
  amplification: "0x76a2f0f0",
  /** fee() */
  fee: "0xddca3f43",
  /** admin_fee() */
  adminFee: "0xfee3f7f9",
  /** get_dy(int128,int128,uint256) */
  getDy: "0x5e0d443f",
  /** stored_rates() */
  storedRates: "0xfd0684b1",
  /** get_pool_asset_types(address) */
  getPoolAssetTypes: "0xa80f2464",
  /** decimals() */
  decimals: "0x313ce567",
  /** balanceOf(address) */
  balanceOf: "0x70a08231",
  /** allowance(address,address) */
  allowance: "0xdd62ed3e",
  /** nonces(address) */
  nonces: "0x7ecebe00",
  /** DOMAIN_SEPARATOR() */
  domainSeparator: "0x3644e515",
} as const satisfies Record<string, Hex>;

const WORD_MODULUS = 1n << 256n;

/** A 32-byte argument, 64 digits without `0x`. */
export type WordText = string & { readonly __word: unique symbol };

/** An address as an argument. */
export function addressWord(address: Address): WordText {
  return address.slice(2).padStart(64, "0") as WordText;
}

/** A number as an argument; negative ones in two's complement. */
export function intWord(value: number | bigint): WordText {
  const number = BigInt(value);
  return (number < 0n ? number + WORD_MODULUS : number).toString(16).padStart(64, "0") as WordText;
}

/** An unsigned number as an argument. @throws RangeError when it does not fit its type */
export function uintWord(value: number | bigint, bits: number): WordText {
  const number = BigInt(value);
  if (number < 0n || number >> BigInt(bits) !== 0n) throw new RangeError(`${number} is no uint${bits}`);
  return number.toString(16).padStart(64, "0") as WordText;
}

/** Bytes as words, the last one filled up with zeros on its right. */
export function splitBytes(bytes: Hex): WordText[] {
  const count = Math.ceil((bytes.length - 2) / 64);
  return Array.from({ length: count }, (_, index) => {
    return bytes
      .slice(2 + index * 64, 66 + index * 64)
      .toLowerCase()
      .padEnd(64, "0") as WordText;
  });
}

/** A selector with its arguments. */
export function callData(selector: Hex, ...words: readonly WordText[]): Hex {
  return `${selector}${words.join("")}`;
}

/** Splits an answer into its 32-byte words. What does not fill a word is left out. */
export function splitWords(answer: Hex): bigint[] {
  const count = Math.floor((answer.length - 2) / 64);
  return Array.from({ length: count }, (_, index) => BigInt(`0x${answer.slice(2 + index * 64, 66 + index * 64)}`));
}

/** A word as a signed number of this many bits. */
export function signed(word: bigint, bits: number): bigint {
  return BigInt.asIntN(bits, word);
}

/** A word as an address; undefined for the zero address, which factories answer for "none", and for no word. */
export function readAddress(word: bigint | undefined): Address | undefined {
  if (word === undefined || word === 0n || word >> 160n !== 0n) return undefined;
  return toAddress(`0x${word.toString(16).padStart(40, "0")}`);
}
