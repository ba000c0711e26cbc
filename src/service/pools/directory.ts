import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import type { ReadWords } from "../chain/batch-reader.ts";
import { POOL_KINDS } from "./kinds.ts";
import { type Pool, type Protocol, sortTokens } from "./pool.ts";

/** Knows which pools exist. Looks at the factories on first request of a pair, and again after a while. */
export interface PoolDirectory {
  poolsOf(tokenA: Address, tokenB: Address, read: ReadWords): Promise<readonly Pool[]>;
}

/** Pools do not vanish, but new ones appear. A pair without any is looked up again sooner. */
const FOUND_FOR_MS = 10 * 60_000;
const NOT_FOUND_FOR_MS = 60_000;
const MAX_PAIRS = 20_000;

interface Entry {
  readonly pools: Promise<readonly Pool[]>;
  untilMs: number;
}

export function createPoolDirectory(
  options: { protocols: readonly Protocol[]; feeTiers: readonly number[] },
  clock: Clock,
): PoolDirectory {
  const entries = new Map<string, Entry>();

  async function look(tokenA: Address, tokenB: Address, read: ReadWords): Promise<readonly Pool[]> {
    const { feeTiers } = options;
    const found = await Promise.all(
      options.protocols.map((protocol, protocolIndex) =>
        POOL_KINDS[protocol.kind].discover({ protocol, protocolIndex, tokenA, tokenB, feeTiers }, read),
      ),
    );
    return found.flat();
  }

  return {
    poolsOf(tokenA, tokenB, read) {
      const key = sortTokens(tokenA, tokenB).join();
      const nowMs = clock.monotonicMs();
      const known = entries.get(key);
      if (known !== undefined && nowMs < known.untilMs) return known.pools;
      const entry: Entry = { pools: look(tokenA, tokenB, read), untilMs: nowMs + NOT_FOUND_FOR_MS };
      entries.delete(key);
      entries.set(key, entry);
      entry.pools.then(
        (pools) => {
          if (pools.length > 0) entry.untilMs = nowMs + FOUND_FOR_MS;
        },
        // A failed look-up is not "no pool": the next request asks again, this one's caller gets the error.
        () => entries.delete(key),
      );
      const oldest = entries.size > MAX_PAIRS ? entries.keys().next().value : undefined;
      if (oldest !== undefined) entries.delete(oldest);
      return entry.pools;
    },
  };
}
