import type { Hex } from "../domain/money/address.ts";

/**
 * keccak-256 of the code that Uniswap's factories create a pool by, pairs of V2 and pools of V3. With the factory and the
 * tokens it says where a pool is. A test computes both from the bytecode of Uniswap's packages.
 */
export const UNISWAP_PAIR_CODE: Hex = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f";
export const UNISWAP_POOL_CODE: Hex = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";

/** The same of the pairs of PancakeSwap on bsc; no package has their bytecode. */
export const PANCAKESWAP_PAIR_CODE: Hex = "0x00fb7f630766e6a796048ea87d01acd3068e8ff67d078148a3fa3f4a84f69bd5";
