import type { Address, Hex } from "../../domain/money/address.ts";
import { addressWord, intWord } from "../at-block/words.ts";
import { hashWords } from "./hash-words.ts";

/** A word of a contract's storage. */
export interface StorageSlot {
  readonly contract: Address;
  /** 32 bytes */
  readonly key: Hex;
}

/** Where a mapping from accounts begins, and in which order its language hashes an account with that place. */
export interface Layout {
  readonly base: bigint;
  readonly order: "account first" | "base first";
}

/**
 * Places of the token standards' mappings in Solidity: the first variables of a contract; those behind the gaps of 50
 * words that OpenZeppelin's upgradeable contracts of version 4 leave after each parent.
 */
const SOLIDITY_BASES = [...Array.from({ length: 16 }, (_, base) => base), 51, 52, 101, 102, 151, 152, 201, 202];

/** The root of ERC-7201's namespace `openzeppelin.storage.ERC20`, where version 5 keeps balances; allowances follow. */
const OPENZEPPELIN_5 = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00n;

const VYPER_BASES = Array.from({ length: 8 }, (_, base) => base);

/** The layouts that nearly all tokens have. Others are found through the node's access lists. */
export const USUAL_LAYOUTS: readonly Layout[] = [
  ...[...SOLIDITY_BASES.map(BigInt), OPENZEPPELIN_5, OPENZEPPELIN_5 + 1n].map(
    (base): Layout => ({ base, order: "account first" }),
  ),
  ...VYPER_BASES.map((base): Layout => ({ base: BigInt(base), order: "base first" })),
];

/** The slot of these accounts: an owner's balance, or an owner's allowance for a spender. */
export function storageKey({ base, order }: Layout, accounts: readonly Address[]): Hex {
  let place = intWord(base);
  for (const account of accounts) {
    const word = addressWord(account);
    place = hashWords(...(order === "account first" ? [word, place] : [place, word]));
  }
  return `0x${place}`;
}
