import type { ReadWords } from "../../chain/at-block/batch-reader.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { kindOf } from "./kinds.ts";
import { type Pool, type PoolSearch, type Protocol, sortTokens } from "./pool.ts";
import type { PairSearch, PoolBook } from "./pool-book.ts";

/** Knows which pools exist. Asks the factories on first request of a pair, and again after a while. */
export interface PoolDirectory {
  /** @throws RpcError when nothing is known of the pair and the node does not answer */
  poolsOf(tokenA: Address, tokenB: Address, read: ReadWords): Promise<readonly Pool[]>;
}

/** Pools do not vanish, but new ones appear. Known ones serve while the factories are asked again. */
const FOUND_FOR_MS = 10 * 60_000;
/** A pair without any is asked for again sooner, and not with every request. */
const NOT_FOUND_FOR_MS = 60_000;
const MAX_PAIRS = 20_000;
/** Pairs that are asked for again at a time, so that a busy minute after a restart is not spent on that. */
const MAX_RENEWALS = 8;

interface Entry {
  readonly pools: Promise<readonly Pool[]>;
  /** by the monotonic clock; from then on the factories are asked again */
  untilMs: number;
  /** what may be answered while they are asked */
  known: readonly Pool[];
}

/** What the answers of the factories depend on: kept answers serve only where it is the same. */
export function scopeOf(chainId: number, options: DirectoryOptions): string {
  const protocols = options.protocols.map(({ kind, factory, feePips }) => `${kind}:${factory}:${feePips}`);
  return `${chainId} ${protocols.join()} ${options.feeTiers.join()}`;
}

export interface DirectoryOptions {
  readonly protocols: readonly Protocol[];
  /** fee tiers to search for where a factory has several, in parts per million */
  readonly feeTiers: readonly number[];
  readonly wrappedNative?: PoolSearch["wrappedNative"];
}

/** @param book keeps what was found over restarts */
export function createPoolDirectory(options: DirectoryOptions, clock: Clock, book?: PoolBook): PoolDirectory {
  const entries = new Map<string, Entry>();
  for (const search of book?.searches() ?? []) {
    entries.set(search.token0 + search.token1, keptEntry(search, clock));
  }
  let renewals = 0;

  async function findPools(token0: Address, token1: Address, read: ReadWords): Promise<readonly Pool[]> {
    const { feeTiers, wrappedNative } = options;
    const asked = { tokenA: token0, tokenB: token1, feeTiers, wrappedNative };
    const found = await Promise.all(
      options.protocols.map((protocol, protocolIndex) =>
        kindOf(protocol).discover({ protocol, protocolIndex, ...asked }, read),
      ),
    );
    const pools = found.flat();
    book?.put({ token0, token1, pools, searchedAtMs: clock.nowMs() });
    return pools;
  }

  function ask(pair: readonly [Address, Address], read: ReadWords, known: readonly Pool[]): Promise<readonly Pool[]> {
    const key = pair.join("");
    const entry: Entry = { pools: findPools(...pair, read), untilMs: clock.monotonicMs() + NOT_FOUND_FOR_MS, known };
    entries.delete(key);
    entries.set(key, entry);
    entry.pools.then(
      (pools) => {
        entry.known = pools;
        if (pools.length > 0) entry.untilMs = clock.monotonicMs() + FOUND_FOR_MS;
      },
      () => {
        // A failed lookup is not "no pool": the next request asks again, with what is known meanwhile.
        if (entries.get(key) !== entry) return;
        entries.delete(key);
        if (known.length > 0) entries.set(key, { pools: Promise.resolve(known), untilMs: clock.monotonicMs(), known });
      },
    );
    const oldest = entries.size > MAX_PAIRS ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return entry.pools;
  }

  function renew(pair: readonly [Address, Address], read: ReadWords, known: readonly Pool[]): void {
    if (renewals >= MAX_RENEWALS) return;
    renewals += 1;
    ask(pair, read, known)
      .catch(() => undefined)
      .finally(() => {
        renewals -= 1;
      });
  }

  return {
    poolsOf(tokenA, tokenB, read) {
      const pair = sortTokens(tokenA, tokenB);
      const entry = entries.get(pair.join(""));
      if (entry === undefined) return ask(pair, read, []);
      if (clock.monotonicMs() < entry.untilMs)
        return entry.known.length > 0 ? Promise.resolve(entry.known) : entry.pools;
      if (entry.known.length === 0) return ask(pair, read, []);
      const { known } = entry;
      renew(pair, read, known);
      return Promise.resolve(known);
    },
  };
}

/**
 * What an earlier life found. Pools are asked for again when they are first used: the chain behind the same address may
 * be another one by now. Their absence holds for its usual time.
 */
function keptEntry({ pools, searchedAtMs }: PairSearch, clock: Clock): Entry {
  const ageMs = clock.nowMs() - searchedAtMs;
  const isAbsence = pools.length === 0 && ageMs >= 0 && ageMs < NOT_FOUND_FOR_MS;
  const untilMs = clock.monotonicMs() + (isAbsence ? NOT_FOUND_FOR_MS - ageMs : 0);
  return { pools: Promise.resolve(pools), untilMs, known: pools };
}
