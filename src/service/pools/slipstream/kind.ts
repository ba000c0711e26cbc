import type { ReadWords } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, readAddress, signed } from "../../../chain/at-block/words.ts";
import { type Pool, type PoolKind, type PoolSearch, sortTokens } from "../pool.ts";
import { LIQUIDITY_TOPICS, POOL_VIEWS } from "../uniswap-v3/concentrated-kind.ts";
import { MOST_OF_V3 } from "../uniswap-v3/concentrated-pool.ts";
import { type CurveSource, curveReads } from "../uniswap-v3/curve-reads.ts";
import { SLIPSTREAM_SELECTOR } from "./selectors.ts";
import { LEAST_SLIPSTREAM_HOP_GAS, slipstreamHopGas } from "./swap-gas.ts";

const ONE_PIPS = 1_000_000n;

/** A module that follows prices searches a pool's observations, of which there may be thousands. */
const FEE_BY_HISTORY = 60_000n;

/** Of a longer list of spacings no more are tried. */
const MOST_SPACINGS = 16;

/** As those of Uniswap V3, but that a pool's fee is asked for with its price: it may be another in each block. */
const SLIPSTREAM_VIEWS: CurveSource = {
  ...POOL_VIEWS,
  positionCalls: (pool) => [
    ...POOL_VIEWS.positionCalls(pool),
    { to: pool.address, data: SLIPSTREAM_SELECTOR.fee, words: 1 },
  ],
  readPosition([slot, liquidity, feeWords], pool) {
    const found = POOL_VIEWS.readPosition([slot, liquidity], pool);
    const [fee = ONE_PIPS] = feeWords ?? [];
    return found === undefined || fee >= ONE_PIPS ? undefined : { ...found, feePips: Number(fee) };
  },
  tickCall: (pool, tick) => ({ ...POOL_VIEWS.tickCall(pool, tick), words: 5 }),
  // Liquidity on it, its change, the change of what is staked, and two fee accumulators.
  readTick: ([, net = 0n, , ...accumulators]) => ({ net: signed(net, 128), accumulators }),
};

/** All spacings that a factory makes pools of: its owner adds to them. */
async function spacingsOf({ protocol }: PoolSearch, read: ReadWords): Promise<readonly number[]> {
  const [, count = 0n] = (await read(protocol.factory, SLIPSTREAM_SELECTOR.tickSpacings, 2)) ?? [];
  if (count === 0n) return [];
  const wanted = Math.min(Number(count), MOST_SPACINGS);
  const words = (await read(protocol.factory, SLIPSTREAM_SELECTOR.tickSpacings, 2 + wanted)) ?? [];
  return words
    .slice(2)
    .map((word) => Number(signed(word, 24)))
    .filter((spacing) => spacing > 0);
}

async function findSpacing(search: PoolSearch, read: ReadWords, tickSpacing: number): Promise<Pool | undefined> {
  const { kind, factory } = search.protocol;
  const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
  const asked = [addressWord(token0), addressWord(token1), intWord(tickSpacing)];
  const address = readAddress((await read(factory, callData(SLIPSTREAM_SELECTOR.getPool, ...asked), 1))?.[0]);
  if (address === undefined) return undefined;
  // What it takes is known of a block only.
  return { kind, protocol: search.protocolIndex, address, token0, token1, feePips: 0, tickSpacing };
}

/**
 * Pools of Slipstream, by Aerodrome on base and Velodrome on optimism: the curve is that of Uniswap V3, pools are told
 * apart by their spacing, and a module of the factory says at each swap what it costs.
 */
export const slipstream: PoolKind = {
  number: 7,
  source: "slipstream",
  liquidityTopics: LIQUIDITY_TOPICS,
  async discover(search, read) {
    const spacings = await spacingsOf(search, read);
    const pools = await Promise.all(spacings.map((spacing) => findSpacing(search, read, spacing)));
    return pools.filter((pool) => pool !== undefined);
  },
  ...curveReads(SLIPSTREAM_VIEWS, { hopGas: slipstreamHopGas, most: MOST_OF_V3 }),
  feeMoves: true,
  gas: {
    least: LEAST_SLIPSTREAM_HOP_GAS,
    refund: 0n,
    // Ticks may come under way until the block, and a module may look far back for its fee.
    room: 60_000n + FEE_BY_HISTORY,
    // Reads of balances: two of the pool around its callback.
    tokenCalls: { tokenIn: 2, tokenOut: 0 },
  },
  router: { form: "v3", maker: "slipstream" },
};
