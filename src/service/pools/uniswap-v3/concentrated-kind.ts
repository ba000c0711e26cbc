import type { ReadWords } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, readAddress, signed } from "../../../chain/at-block/words.ts";
import type { Address } from "../../../domain/money/address.ts";
import { type Pool, type PoolKind, type PoolSearch, sortTokens } from "../pool.ts";
import { MOST_OF_V3 } from "./concentrated-pool.ts";
import { type CurveSource, curveReads } from "./curve-reads.ts";
import { V3_SELECTOR } from "./selectors.ts";
import { concentratedHopGas, LEAST_HOP_GAS } from "./swap-gas.ts";

/** What a kind of pools with liquidity in price ranges has of its own. The curve is that of Uniswap V3. */
interface ConcentratedFacts extends Pick<PoolKind, "number" | "source" | "leg" | "router"> {
  /** fee tiers that its factories begin with, tried alongside those of the network */
  readonly tiers: readonly number[];
  /** what a leg costs more than in a pool of Uniswap, what is given back taken off, and what that is */
  readonly extraGas: bigint;
  readonly refund: bigint;
  /** what a gas limit leaves for a leg */
  readonly room: bigint;
}

/** Logs of pools like those of Uniswap V3 that show that liquidity moved. */
export const LIQUIDITY_TOPICS: PoolKind["liquidityTopics"] = [
  // Mint(address,address,int24,int24,uint128,uint256,uint256)
  { topic: "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde", bloomPlaces: [1964, 987, 427] },
  // Burn(address,int24,int24,uint128,uint256,uint256)
  { topic: "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c", bloomPlaces: [1106, 1593, 235] },
];

/** Each pool is a contract with views of its own. */
export const POOL_VIEWS: CurveSource = {
  positionCalls: ({ address }) => [
    { to: address, data: V3_SELECTOR.slot0, words: 2 },
    { to: address, data: V3_SELECTOR.liquidity, words: 1 },
  ],
  readPosition([slot, liquidityWords]) {
    const [price = 0n, tick = 0n] = slot ?? [];
    if (liquidityWords === undefined || price === 0n) return undefined;
    return { position: { price, tick: Number(signed(tick, 24)), liquidity: liquidityWords[0] ?? 0n } };
  },
  wordCall: ({ address }, position) => {
    return { to: address, data: callData(V3_SELECTOR.tickBitmap, intWord(position)), words: 1 };
  },
  tickCall: ({ address }, tick) => ({ to: address, data: callData(V3_SELECTOR.ticks, intWord(tick)), words: 4 }),
  // Liquidity on it, its change, and two fee accumulators.
  readTick: ([, net = 0n, ...accumulators]) => ({ net: signed(net, 128), accumulators }),
};

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

/** A kind of pools like those of Uniswap V3: one for each fee tier, liquidity in price ranges. */
export function concentratedKind(facts: ConcentratedFacts): PoolKind {
  const { tiers, extraGas, refund, room, ...own } = facts;
  return {
    ...own,
    liquidityTopics: LIQUIDITY_TOPICS,
    async discover(search, read) {
      const tried = [...new Set([...search.feeTiers, ...tiers])];
      const pools = await Promise.all(tried.map((tier) => findTier(search, read, tier)));
      return pools.filter((pool) => pool !== undefined);
    },
    ...curveReads(POOL_VIEWS, { hopGas: (trail) => concentratedHopGas(trail) + extraGas, most: MOST_OF_V3 }),
    gas: {
      least: LEAST_HOP_GAS + extraGas,
      refund,
      room,
      // Reads of balances: one of the executor, two of the pool around its callback.
      tokenCalls: { tokenIn: 3, tokenOut: 0 },
      // The callback has to know who was paid.
      direct: 1_520n,
    },
  };
}
