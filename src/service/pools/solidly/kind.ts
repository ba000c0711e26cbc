import type { ReadWords, ViewCall, WordsAnswer } from "../../../chain/at-block/batch-reader.ts";
import { addressWord, callData, intWord, readAddress } from "../../../chain/at-block/words.ts";
import { type Pool, type PoolKind, type PoolSearch, type PoolState, sortTokens } from "../pool.ts";
import { SOLIDLY_SELECTOR } from "./selectors.ts";
import { FEE_ONE, type StableUnits, solidlyState } from "./solidly-pool.ts";
import { SOLIDLY_REFUND, STABLE_HOP_GAS, VOLATILE_HOP_GAS } from "./swap-gas.ts";

const PIPS_PER_FEE = 100n;

/** With more, amounts have places that 18 decimals cannot say, and pools round them off. */
const MOST_DECIMALS = 18;

/** Whole coins whose exchange a stable pool is asked for, to check its arithmetic against ours. */
const PROBE_COINS = 1_000n;

/** Of whom a pool's fee is asked. */
function factoryOf({ address, factory }: Pool): NonNullable<Pool["factory"]> {
  if (factory === undefined) throw new Error(`the pool ${address} has no factory to ask for its fee`);
  return factory;
}

/** What {@link Pool.constants} holds here: the decimals of both tokens of a stable pool, and nothing of another. */
function unitsOf({ address, constants = [] }: Pool): StableUnits | undefined {
  const [decimals0, decimals1] = constants;
  if (decimals0 === undefined) return undefined;
  if (decimals1 === undefined) throw new Error(`the stable pool ${address} has the decimals of one token alone`);
  return { unit0: 10n ** BigInt(decimals0), unit1: 10n ** BigInt(decimals1) };
}

function decimalsOf(unit: bigint | undefined): number | undefined {
  const decimals = String(unit).length - 1;
  return unit === 10n ** BigInt(decimals) && decimals <= MOST_DECIMALS ? decimals : undefined;
}

async function findOne(search: PoolSearch, read: ReadWords, isStable: boolean): Promise<Pool | undefined> {
  const { kind, factory } = search.protocol;
  const [token0, token1] = sortTokens(search.tokenA, search.tokenB);
  const asked = [addressWord(token0), addressWord(token1), intWord(isStable ? 1 : 0)];
  const address = readAddress((await read(factory, callData(SOLIDLY_SELECTOR.getPool, ...asked), 1))?.[0]);
  if (address === undefined) return undefined;
  const found = { kind, protocol: search.protocolIndex, address, factory, token0, token1, feePips: 0, tickSpacing: 0 };
  if (!isStable) return found;
  const [unit0, unit1] = (await read(address, SOLIDLY_SELECTOR.metadata, 2)) ?? [];
  const [decimals0, decimals1] = [decimalsOf(unit0), decimalsOf(unit1)];
  if (decimals0 === undefined || decimals1 === undefined) return undefined;
  return { ...found, constants: [decimals0, decimals1] };
}

/** What a pool would say for exchanges of {@link PROBE_COINS} either way, by our arithmetic; 0 where it would refuse. */
function probesOf({ pool, quote }: PoolState, { unit0, unit1 }: StableUnits): readonly bigint[] {
  const ours = [quote(pool.token0, PROBE_COINS * unit0), quote(pool.token1, PROBE_COINS * unit1)];
  return ours.map((answer) => (answer.kind === "filled" ? answer.amountOut : 0n));
}

/**
 * Pools of Solidly's second version, by Aerodrome on base and Velodrome on optimism: of two tokens there is one for any
 * worth (x * y) and one for tokens of about the same worth (xy(x^2 + y^2)). The factory says in each block what a pool
 * takes, and whether all of them rest. A stable pool is asked for two exchanges together with its state: there are forks
 * with other roundings, and one whose own answers differ from ours by a wei, or that has none, is not traded with.
 */
export const solidly: PoolKind = {
  number: 8,
  source: "solidly",
  // All there is to know is read in every block.
  liquidityTopics: [],

  async discover(search, read) {
    const pools = await Promise.all([false, true].map((isStable) => findOne(search, read, isStable)));
    return pools.filter((pool) => pool !== undefined);
  },

  encodeReads(pool): ViewCall[] {
    const [to, factory, units] = [pool.address, factoryOf(pool), unitsOf(pool)];
    const fee = callData(SOLIDLY_SELECTOR.getFee, addressWord(to), intWord(units === undefined ? 0 : 1));
    const calls: ViewCall[] = [
      { to: factory, data: SOLIDLY_SELECTOR.isPaused, words: 1 },
      { to: factory, data: fee, words: 1 },
      { to, data: SOLIDLY_SELECTOR.getReserves, words: 2 },
    ];
    if (units === undefined) return calls;
    const probe = (unit: bigint, token: Pool["token0"]) =>
      callData(SOLIDLY_SELECTOR.getAmountOut, intWord(PROBE_COINS * unit), addressWord(token));
    const probes = [probe(units.unit0, pool.token0), probe(units.unit1, pool.token1)];
    return [...calls, ...probes.map((data) => ({ to, data, words: 1 }))];
  },

  decode(pool, [paused, fees, reserves, ...answers]) {
    const [reserve0 = 0n, reserve1 = 0n] = reserves ?? [];
    const fee = fees?.[0];
    if (paused?.[0] !== 0n || fee === undefined || fee >= FEE_ONE || reserve0 === 0n || reserve1 === 0n)
      return undefined;
    const units = unitsOf(pool);
    const gas = units === undefined ? VOLATILE_HOP_GAS : STABLE_HOP_GAS;
    const current = { ...pool, feePips: Number(fee * PIPS_PER_FEE) };
    const state = solidlyState(current, { reserve0, reserve1, fee }, { units, gas });
    if (units === undefined) return state;
    const theirs = answers.map((words: WordsAnswer) => words?.[0] ?? 0n);
    return probesOf(state, units).every((ours, index) => ours > 0n && ours === theirs[index]) ? state : undefined;
  },

  gas: {
    least: VOLATILE_HOP_GAS,
    refund: SOLIDLY_REFUND,
    // Once in half an hour a pool writes an observation down: three more slots, and how many there are.
    room: 70_000n,
    // Reads of balances: two of the pool at each token.
    tokenCalls: { tokenIn: 3, tokenOut: 2 },
  },
  router: { form: "v2", maker: "solidly", isStable: (pool) => unitsOf(pool) !== undefined },
};
