import { getBytes, keccak256 } from "ethers";
import type { Hex } from "../domain/money/address.ts";
import type { ChainLog } from "../ports/chain.ts";

const BLOOM_BITS = 2048;
const BITS_PER_VALUE = 3;

/**
 * The bloom filter of logs, as a receipt carries it: for each address and topic three bits, each by eleven bits of its hash
 * (Ethereum Yellow Paper, section 4.4.1).
 */
export function bloomOf(logs: readonly Pick<ChainLog, "address" | "topics">[]): Hex {
  let bloom = 0n;
  for (const value of new Set(logs.flatMap(({ address, topics }) => [address, ...topics]))) {
    const hash = getBytes(keccak256(value));
    for (let at = 0; at < BITS_PER_VALUE * 2; at += 2) {
      const bit = (((hash[at] ?? 0) << 8) | (hash[at + 1] ?? 0)) % BLOOM_BITS;
      bloom |= 1n << BigInt(bit);
    }
  }
  return `0x${bloom.toString(16).padStart(BLOOM_BITS / 4, "0")}`;
}
