import type { BlockHeader } from "../../chain/at-block/head.ts";
import type { Hex } from "../../domain/money/address.ts";
import { identityOf, type Pool, type PoolState } from "./pool.ts";

/** A pool that quotes asked for, as last read. */
export interface RememberedPool {
  readonly pool: Pool;
  readonly state: PoolState;
  /** the block of that state */
  readonly block: BlockHeader;
  usedAtMs: number;
}

/** Which pools are in use, and what was last known of them. */
export interface PoolMemory {
  get(pool: Pool): RememberedPool | undefined;
  put(pool: Pool, state: PoolState, at: { readonly block: BlockHeader; readonly nowMs: number }): void;
  /** Notes that a quote asked for the pool. */
  touch(pool: Pool, nowMs: number): void;
  /** The pools that are read again in each block: those that quotes asked for lately. */
  inUse(nowMs: number): readonly RememberedPool[];
}

/** A pool that no quote asked for so long is read again when one does. */
const USED_FOR_MS = 120_000;

const MAX_POOLS = 5_000;

export function createPoolMemory(): PoolMemory {
  const pools = new Map<Hex, RememberedPool>();
  return {
    get: (pool) => pools.get(identityOf(pool)),
    put(pool, state, { block, nowMs }) {
      const identity = identityOf(pool);
      const before = pools.get(identity);
      pools.delete(identity);
      pools.set(identity, { pool, state, block, usedAtMs: before?.usedAtMs ?? nowMs });
      const oldest = pools.size > MAX_POOLS ? pools.keys().next().value : undefined;
      if (oldest !== undefined) pools.delete(oldest);
    },
    touch(pool, nowMs) {
      const known = pools.get(identityOf(pool));
      if (known !== undefined) known.usedAtMs = nowMs;
    },
    inUse: (nowMs) => [...pools.values()].filter(({ usedAtMs }) => nowMs - usedAtMs < USED_FOR_MS),
  };
}
