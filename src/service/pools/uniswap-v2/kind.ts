import { addressWord, callData, readAddress } from "../../../chain/at-block/words.ts";
import { type Pool, type PoolKind, sortTokens } from "../pool.ts";
import { PAIR_GAS, PAIR_REFUND, pairState } from "./pair.ts";
import { V2_SELECTOR } from "./selectors.ts";

/** Pairs of a Uniswap V2 style factory: one pair for two tokens, one fee for all. */
export const uniswapV2: PoolKind = {
  number: 1,
  source: "uniswap-v2",

  // Reserves are all there is to know, and they are read in every block.
  liquidityTopics: [],

  async discover(search, read) {
    const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
    const data = callData(V2_SELECTOR.getPair, addressWord(token0), addressWord(token1));
    const address = readAddress((await read(search.protocol.factory, data, 1))?.[0]);
    if (address === undefined) return [];
    const { kind, feePips } = search.protocol;
    const pool: Pool = { kind, protocol: search.protocolIndex, address, token0, token1, feePips, tickSpacing: 0 };
    return [pool];
  },

  encodeReads: (pool) => [{ to: pool.address, data: V2_SELECTOR.getReserves, words: 2 }],

  decode(pool, [words]) {
    const [reserve0 = 0n, reserve1 = 0n] = words ?? [];
    return reserve0 > 0n && reserve1 > 0n ? pairState(pool, reserve0, reserve1) : undefined;
  },

  gas: {
    least: PAIR_GAS,
    refund: PAIR_REFUND,
    room: 0n,
    // Reads of balances: three of the executor, one of the pair at each token.
    tokenCalls: { tokenIn: 4, tokenOut: 1 },
  },
  leg: { executorKind: 1, fee: () => 0, found: "computed" },
  router: { form: "v2", maker: "uniswap" },
};
