import type { Hex } from "../../domain/money/address.ts";
import type { UsdPrice } from "../../domain/money/price.ts";

/** Events that say a pool's price right after them, by their topic: keccak-256 of their signatures. */
const READERS: Readonly<Record<string, (data: Hex) => Ratio | undefined>> = {
  // Swap(address,address,int256,int256,uint160,uint128,int24) of Uniswap V3
  "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67": (data) => ofSqrtPrice(wordAt(data, 2)),
  // Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128) of PancakeSwap V3
  "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83": (data) => ofSqrtPrice(wordAt(data, 2)),
  // Sync(uint112,uint112) of Uniswap V2, with each of its swaps: a Swap of V2 itself says no price
  "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1": ofReserves,
  // Sync(uint256,uint256) of Solidly and its likes: a price where the pool is no stable one
  "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a": ofReserves,
};

/** So much of the second token for so much of the first, in smallest units. */
interface Ratio {
  readonly up: bigint;
  readonly down: bigint;
}

/** The price of a pool after an event, of its first token in its second; undefined of any other event. */
export function priceAfter(
  log: { readonly topics: readonly Hex[]; readonly data: Hex },
  decimals: { readonly first: number; readonly second: number },
): UsdPrice | undefined {
  const ratio = READERS[log.topics[0] ?? ""]?.(log.data);
  if (ratio === undefined) return undefined;
  const price = (ratio.up * 10n ** BigInt(decimals.first + 18)) / (ratio.down * 10n ** BigInt(decimals.second));
  return price > 0n ? (price as UsdPrice) : undefined;
}

function ofSqrtPrice(sqrtX96: bigint): Ratio | undefined {
  return positive({ up: sqrtX96 * sqrtX96, down: 1n << 192n });
}

function ofReserves(data: Hex): Ratio | undefined {
  return positive({ up: wordAt(data, 1), down: wordAt(data, 0) });
}

function positive(ratio: Ratio): Ratio | undefined {
  return ratio.up > 0n && ratio.down > 0n ? ratio : undefined;
}

function wordAt(data: Hex, index: number): bigint {
  const word = data.slice(2 + index * 64, 66 + index * 64);
  return word.length === 64 ? BigInt(`0x${word}`) : 0n;
}
