import type { ReadWords } from "../../../chain/at-block/batch-reader.ts";
import { signed } from "../../../chain/at-block/words.ts";
import { NATIVE_TOKEN } from "../../../domain/money/address.ts";
import { type Pool, type PoolKind, type PoolSearch, sortTokens } from "../pool.ts";
import type { CurveFees } from "../uniswap-v3/concentrated-pool.ts";
import { type CurveSource, curveReads } from "../uniswap-v3/curve-reads.ts";
import { poolIdOf, positionCall, slotsIn, tickCall, wordCall } from "./pool-slots.ts";
import { BUYING_COIN_GAS, LEAST_V4_HOP_GAS, PROTOCOL_FEE_GAS, SELLING_COIN_GAS, v4HopGas } from "./swap-gas.ts";

const ONE_PIPS = 1_000_000n;

/** Anybody may make a pool of any fee and spacing; these are the pairs that interfaces offer. */
const TIERS: readonly (readonly [feePips: number, tickSpacing: number])[] = [
  [100, 1],
  [500, 10],
  [3_000, 60],
  [10_000, 200],
];

/** The manager keeps accounts in signed numbers of 128 bits. */
const MOST = (1n << 127n) - 1n;

interface Slot0 {
  readonly price: bigint;
  readonly tick: number;
  /** of the protocol, 12 bits for each direction */
  readonly protocolFee: bigint;
  /** of those who have liquidity in the pool */
  readonly poolFee: bigint;
}

/** Price, tick and fees share a word: 160, 24, 24 and 24 bits, from its end. */
function readSlot0(word: bigint): Slot0 {
  return {
    price: BigInt.asUintN(160, word),
    tick: Number(signed(word >> 160n, 24)),
    protocolFee: BigInt.asUintN(24, word >> 184n),
    poolFee: BigInt.asUintN(24, word >> 208n),
  };
}

/** The protocol's fee comes first, the pool's is taken from what is left; the sum is rounded up. */
function feesOf({ protocolFee, poolFee }: Slot0, pool: Pool): CurveFees {
  const withPool = (fee: bigint, coinGas: bigint) => {
    const gas = (fee === 0n ? 0n : PROTOCOL_FEE_GAS) + (isOfNativeCoin(pool) ? coinGas : 0n);
    return { pips: fee + poolFee - (fee * poolFee) / ONE_PIPS, gas };
  };
  return {
    selling0: withPool(protocolFee & 0xfffn, SELLING_COIN_GAS),
    selling1: withPool(protocolFee >> 12n, BUYING_COIN_GAS),
  };
}

/** What {@link Pool.constants} says here of a pool of the native coin, for which its first token stands. */
const OF_NATIVE_COIN: readonly number[] = [1];

/** In the fee of a leg the executor's sign for such a pool. */
const NATIVE_POOL = 1 << 23;

function isOfNativeCoin({ constants }: Pool): boolean {
  return constants?.[0] === OF_NATIVE_COIN[0];
}

/** One contract has all pools, and shows its slots. */
const POOL_SLOTS: CurveSource = {
  positionCalls: (pool) => [positionCall(pool)],
  readPosition([words = []], pool) {
    const [first = 0n, , , liquidity = 0n] = slotsIn(words);
    const slot0 = readSlot0(first);
    const { price, tick } = slot0;
    if (price === 0n) return undefined;
    return { position: { price, tick, liquidity: BigInt.asUintN(128, liquidity) }, fees: feesOf(slot0, pool) };
  },
  wordCall,
  tickCall,
  readTick(words) {
    const [liquidity = 0n, ...accumulators] = slotsIn(words);
    return { net: signed(liquidity >> 128n, 128), accumulators };
  },
};

/** The pools that two tokens may have, whether anybody opened them or not. */
function possiblePools({ protocol, protocolIndex, tokenA, tokenB, wrappedNative }: PoolSearch): readonly Pool[] {
  const { kind, factory: address } = protocol;
  const place = { kind, protocol: protocolIndex, address };
  const [token0, token1] = sortTokens(tokenA, tokenB);
  return TIERS.flatMap(([feePips, tickSpacing]) => {
    const key = { token0, token1, feePips, tickSpacing };
    const pool: Pool = { ...place, id: poolIdOf(key), ...key };
    if (token0 !== wrappedNative && token1 !== wrappedNative) return [pool];
    const other = token0 === wrappedNative ? token1 : token0;
    const id = poolIdOf({ ...key, token0: NATIVE_TOKEN, token1: other });
    return [pool, { ...pool, id, token0: wrappedNative, token1: other, constants: OF_NATIVE_COIN }];
  });
}

async function isOpen(pool: Pool, read: ReadWords): Promise<boolean> {
  const { to, data, words } = positionCall(pool);
  const [first = 0n] = slotsIn((await read(to, data, words)) ?? []);
  return readSlot0(first).price !== 0n;
}

/**
 * Pools of Uniswap V4 without hooks and of the usual fees, of two tokens or of the native coin and a token: routes hold the
 * coin wrapped, and the executor unwraps it for the pool. They all lie in the manager, which stands where other kinds have
 * a factory.
 */
export const uniswapV4: PoolKind = {
  number: 6,
  source: "uniswap-v4",
  liquidityTopics: [
    // ModifyLiquidity(bytes32,address,int24,int24,int256,bytes32)
    { topic: "0xf208f4912782fd25c7f114ca3723a2d5dd6f3bcc3ac8db5af63baa85f711d5ec", bloomPlaces: [122, 984, 746] },
  ],
  async discover(search, read) {
    const pools = possiblePools(search);
    const open = await Promise.all(pools.map((pool) => isOpen(pool, read)));
    return pools.filter((_, index) => open[index]);
  },
  ...curveReads(POOL_SLOTS, { hopGas: v4HopGas, most: MOST }),
  gas: {
    least: LEAST_V4_HOP_GAS,
    refund: 0n,
    // Ticks may come under way until the block.
    room: 60_000n,
    // Reads of balances: two of the manager around the payment.
    tokenCalls: { tokenIn: 2, tokenOut: 0 },
  },
  leg: {
    executorKind: 4,
    fee: (pool) => pool.feePips + (isOfNativeCoin(pool) ? NATIVE_POOL : 0),
    found: "listed",
    isLater: true,
  },
};
