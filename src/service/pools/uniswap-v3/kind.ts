import type { ReadWords } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, readAddress, signed } from "../../../chain/at-block/words.ts";
import type { Address } from "../../../domain/money/address.ts";
import { type Pool, type PoolKind, type PoolSearch, sortTokens } from "../pool.ts";
import { decodeCurve, encodeCurveReads, prepareCurve } from "./curve-reads.ts";
import { V3_SELECTOR } from "./selectors.ts";
import { LEAST_HOP_GAS } from "./swap-gas.ts";

async function findTier(search: PoolSearch, read: ReadWords, tier: number): Promise<Pool | undefined> {
  const { kind, factory } = search.protocol;
  const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
  const poolData = callData(V3_SELECTOR.getPool, addressWord(token0), addressWord(token1), intWord(tier));
  const [poolWords, spacingWords] = await Promise.all([
    read(factory, poolData, 1),
    read(factory, callData(V3_SELECTOR.feeAmountTickSpacing, intWord(tier)), 1),
  ]);
  const address: Address | undefined = readAddress(poolWords?.[0]);
  const tickSpacing = Number(signed(spacingWords?.[0] ?? 0n, 24));
  if (address === undefined || tickSpacing <= 0) return undefined;
  return { kind, protocol: search.protocolIndex, address, token0, token1, feePips: tier, tickSpacing };
}

/** Pools of a Uniswap V3 style factory: one for each fee tier, liquidity in price ranges. */
export const uniswapV3: PoolKind = {
  number: 2,
  source: "uniswap-v3",
  liquidityTopics: [
    // Mint(address,address,int24,int24,uint128,uint256,uint256)
    { topic: "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde", bloomPlaces: [1964, 987, 427] },
    // Burn(address,int24,int24,uint128,uint256,uint256)
    { topic: "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c", bloomPlaces: [1106, 1593, 235] },
  ],
  async discover(search, read) {
    const pools = await Promise.all(search.feeTiers.map((tier) => findTier(search, read, tier)));
    return pools.filter((pool) => pool !== undefined);
  },
  encodeReads: encodeCurveReads,
  decode: decodeCurve,
  prepare: prepareCurve,
  gas: {
    least: LEAST_HOP_GAS,
    // A pool's lock lies in a slot that changes anyway.
    refund: 0n,
    // Ticks may come under way until the block.
    room: 60_000n,
    // Reads of balances: one of the executor, two of the pool around its callback.
    tokenCalls: { tokenIn: 3, tokenOut: 0 },
  },
  leg: { executorKind: 2, fee: (pool) => pool.feePips },
  routerForm: "v3",
};
