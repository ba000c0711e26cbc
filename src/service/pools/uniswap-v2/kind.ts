import { addressWord, callData, readAddress } from "../../../chain/at-block/words.ts";
import { type Pool, type PoolKind, sortTokens } from "../pool.ts";
import { SELECTOR } from "../selectors.ts";
import { PAIR_REFUND, pairState } from "./pair.ts";

/** Pairs of a Uniswap V2 style factory: one pair for two tokens, one fee for all. */
export const uniswapV2: PoolKind = {
  source: "uniswap-v2",

  // Reserves are all there is to know, and they are read in every block.
  liquidityTopics: [],

  async discover(search, read) {
    const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
    const data = callData(SELECTOR.getPair, addressWord(token0), addressWord(token1));
    const address = readAddress((await read(search.protocol.factory, data, 1))?.[0]);
    if (address === undefined) return [];
    const { protocolIndex: protocol } = search;
    const pool: Pool = { kind: 1, protocol, address, token0, token1, feePips: search.protocol.feePips, tickSpacing: 0 };
    return [pool];
  },

  encodeReads: (pool) => [{ to: pool.address, data: SELECTOR.getReserves, words: 2 }],

  decode(pool, [words]) {
    const [reserve0 = 0n, reserve1 = 0n] = words ?? [];
    return reserve0 > 0n && reserve1 > 0n ? pairState(pool, reserve0, reserve1) : undefined;
  },

  gasRefund: PAIR_REFUND,
  // Looks at balances: three of the executor, one of the pair at each token.
  tokenCalls: { tokenIn: 4, tokenOut: 1 },
  encodeLeg: () => 0,
};
