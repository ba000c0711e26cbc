import type { ReadWords, ViewCall } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, readAddress } from "../../../chain/at-block/words.ts";
import type { Address } from "../../../domain/money/address.ts";
import { type Pool, type PoolKind, type PoolSearch, sortTokens } from "../pool.ts";
import { SELECTOR } from "../selectors.ts";
import { STABLE_SELECTOR } from "./selectors.ts";
import { STABLE_GAS, STABLE_REFUND, stablePoolState } from "./stable-pool.ts";

/** Pools of two coins are few at a factory; further ones are old and empty. */
const MAX_PLACES = 4;

const MAX_DECIMALS = 36;

const PLAIN_COINS = 2;
const PLAIN_COIN = 0n;

/** Fees are reported in parts of 1e10. */
const FEE_PER_PIP = 10_000n;

/** Whole coins whose exchange a pool is asked for, to check its arithmetic against ours. */
const PROBE_COINS = 1_000n;

/** What {@link Pool.constants} holds here: places of token0 and token1 in the pool, their decimals, the pool's place. */
interface Constants {
  readonly index0: number;
  readonly index1: number;
  readonly decimals0: number;
  readonly decimals1: number;
  readonly place: number;
}

function constantsOf({ address, constants = [] }: Pool): Constants {
  const [index0, index1, decimals0, decimals1, place] = constants;
  if (
    index0 === undefined ||
    index1 === undefined ||
    decimals0 === undefined ||
    decimals1 === undefined ||
    place === undefined
  ) {
    throw new Error(`the constants of the stable pool ${address} are ${JSON.stringify(constants)}, which are not five`);
  }
  return { index0, index1, decimals0, decimals1, place };
}

async function findPlace(search: PoolSearch, read: ReadWords, place: number): Promise<Pool | undefined> {
  const { kind, factory } = search.protocol;
  const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
  const coins = [addressWord(token0), addressWord(token1)] as const;
  const address = readAddress(
    (await read(factory, callData(STABLE_SELECTOR.findPoolForCoins, ...coins, intWord(place)), 1))?.[0],
  );
  if (address === undefined) return undefined;
  const indices = callData(STABLE_SELECTOR.getCoinIndices, addressWord(address), ...coins);
  const [places, decimals0, decimals1, fee, isPlain] = await Promise.all([
    read(factory, indices, 3),
    readDecimals(read, token0),
    readDecimals(read, token1),
    read(address, STABLE_SELECTOR.fee, 1),
    hasFixedRates(address, factory, read),
  ]);
  if (!isPlain) return undefined;
  const [index0, index1, underlying] = places ?? [];
  if (index0 === undefined || index1 === undefined || underlying !== 0n) return undefined;
  if (decimals0 === undefined || decimals1 === undefined || index0 > 7n || index1 > 7n) return undefined;
  const feePips = feePipsOf(fee?.[0] ?? 0n);
  const constants = [Number(index0), Number(index1), decimals0, decimals1, place];
  return { kind, protocol: search.protocolIndex, address, token0, token1, feePips, tickSpacing: 0, constants };
}

/**
 * Pools of newer factories keep rates, which an oracle of the pool's deployer may give, and change a moment
 * later: it then answers a quote as we do, and the block as it likes. Such a pool is traded with only where its factory
 * says that both coins are plain ones.
 */
async function hasFixedRates(address: Address, factory: Address, read: ReadWords): Promise<boolean> {
  const [rates, types] = await Promise.all([
    read(address, STABLE_SELECTOR.storedRates, 1),
    read(factory, callData(STABLE_SELECTOR.getPoolAssetTypes, addressWord(address)), 2 + PLAIN_COINS),
  ]);
  if (rates === undefined) return true;
  const [offset, count, ...kinds] = types ?? [];
  return offset === 32n && count === BigInt(PLAIN_COINS) && kinds.every((kind) => kind === PLAIN_COIN);
}

async function readDecimals(read: ReadWords, token: Address): Promise<number | undefined> {
  const decimals = (await read(token, SELECTOR.decimals, 1))?.[0];
  return decimals !== undefined && decimals <= BigInt(MAX_DECIMALS) ? Number(decimals) : undefined;
}

/** Rounded down: a marginal rate with this fee is never below the pool's own, and may rule things out. */
function feePipsOf(fee: bigint): number {
  return Number(fee / FEE_PER_PIP);
}

function probeOf(decimals: number): bigint {
  return PROBE_COINS * 10n ** BigInt(decimals);
}

/**
 * Curve style pools of two coins that are worth about the same. There are many variants (changing fees, rates from
 * oracles, more coins). So every pool is asked for two exchanges together with its state, and one whose own answers
 * differ from ours by a wei is not traded with.
 */
export const stable: PoolKind = {
  number: 3,
  source: "curve",
  // All there is to know is read in every block.
  liquidityTopics: [],

  async discover(search, read) {
    const places = Array.from({ length: MAX_PLACES }, (_, place) => findPlace(search, read, place));
    return (await Promise.all(places)).filter((pool) => pool !== undefined);
  },

  encodeReads(pool): ViewCall[] {
    const { index0, index1, decimals0, decimals1 } = constantsOf(pool);
    const to = pool.address;
    const [i, j] = [intWord(index0), intWord(index1)];
    const datas = [
      callData(STABLE_SELECTOR.balances, i),
      callData(STABLE_SELECTOR.balances, j),
      STABLE_SELECTOR.amplification,
      STABLE_SELECTOR.fee,
      STABLE_SELECTOR.adminFee,
      callData(STABLE_SELECTOR.getDy, i, j, intWord(probeOf(decimals0))),
      callData(STABLE_SELECTOR.getDy, j, i, intWord(probeOf(decimals1))),
    ];
    return datas.map((data) => ({ to, data, words: 1 }));
  },

  decode(pool, answers) {
    const { decimals0, decimals1 } = constantsOf(pool);
    const [balance0, balance1, amplification, fee, adminFee, out1, out0] = answers.map((words) => words?.[0]);
    if (balance0 === undefined || balance1 === undefined || amplification === undefined) return undefined;
    if (fee === undefined || adminFee === undefined || balance0 === 0n || balance1 === 0n) return undefined;
    const rates = { rate0: 10n ** BigInt(36 - decimals0), rate1: 10n ** BigInt(36 - decimals1) };
    const balances = { balance0, balance1, amplification, fee, adminFee };
    const state = stablePoolState({ ...pool, feePips: feePipsOf(fee) }, balances, rates);
    const ours0 = state.quote(pool.token0, probeOf(decimals0));
    const ours1 = state.quote(pool.token1, probeOf(decimals1));
    const agrees = (ours: typeof ours0, theirs: bigint | undefined) =>
      ours.kind === "filled" ? ours.amountOut === theirs : theirs === undefined || theirs === 0n;
    return agrees(ours0, out1) && agrees(ours1, out0) ? state : undefined;
  },

  gas: {
    least: STABLE_GAS,
    refund: STABLE_REFUND,
    room: 0n,
    // A read of a balance, the approval and a read of what is left of it.
    tokenCalls: { tokenIn: 3, tokenOut: 0 },
  },
  leg: { executorKind: 3, fee: (pool) => constantsOf(pool).place, found: "asked" },
};
