import type { Address } from "../../domain/money/address.ts";
import type { JsonRpc } from "../../net/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import { createBlockReader, type ReadMode, type ReadWords } from "../chain/batch-reader.ts";
import { type Head, readHead } from "../chain/head.ts";
import { POOL_KINDS } from "./kinds.ts";
import type { Pool, PoolState } from "./pool.ts";

/** The chain at one block. All reads through it see that block and no other. */
export interface Snapshot {
  readonly head: Head;
  readonly read: ReadWords;
  /** The pool at this block, undefined when it has nothing to trade with. Read once, shared by all quotes. */
  state(pool: Pool): Promise<PoolState | undefined>;
}

export interface Snapshots {
  /** The newest block's snapshot; at most `HEAD_AGE_MS` behind the node. */
  current(): Promise<Snapshot>;
}

/** A quote may stand on a block that the node left this long ago; saves one round trip for most quotes. */
const HEAD_AGE_MS = 100;

/** States kept to know what to ask for in the next block. */
const MAX_REMEMBERED_POOLS = 5_000;

export function createSnapshots(options: { rpc: JsonRpc; mode: ReadMode }, clock: Clock): Snapshots {
  const remembered = new Map<Address, PoolState>();
  let latest: Snapshot | undefined;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<Snapshot> | undefined;

  function remember(state: PoolState): void {
    const { address } = state.pool;
    remembered.delete(address);
    remembered.set(address, state);
    const oldest = remembered.size > MAX_REMEMBERED_POOLS ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
  }

  function take(head: Head): Snapshot {
    const read = createBlockReader({ ...options, block: head.number });
    const states = new Map<Address, Promise<PoolState | undefined>>();
    async function load(pool: Pool): Promise<PoolState | undefined> {
      const kind = POOL_KINDS[pool.kind];
      const previous = remembered.get(pool.address);
      const known = previous === undefined ? undefined : { state: previous, onlyTraded: false };
      const calls = kind.encodeReads(pool, known);
      const answers = await Promise.all(calls.map(({ to, data, words }) => read(to, data, words)));
      const state = kind.decode(pool, answers, { known, read });
      if (state === undefined) return undefined;
      await kind.prepare?.(state);
      remember(state);
      return state;
    }
    return {
      head,
      read,
      state(pool) {
        const known = states.get(pool.address);
        if (known !== undefined) return known;
        const loading = load(pool);
        states.set(pool.address, loading);
        // A failed read is tried again by the next quote; the callers of this one get the error.
        loading.catch(() => states.delete(pool.address));
        return loading;
      },
    };
  }

  async function check(): Promise<Snapshot> {
    const head = await readHead(options.rpc);
    checkedAtMs = clock.monotonicMs();
    const unchanged = latest !== undefined && latest.head.hash === head.hash;
    const snapshot = unchanged && latest !== undefined ? latest : take(head);
    latest = snapshot;
    return snapshot;
  }

  return {
    current() {
      if (latest !== undefined && clock.monotonicMs() - checkedAtMs < HEAD_AGE_MS) return Promise.resolve(latest);
      checking ??= check().finally(() => {
        checking = undefined;
      });
      return checking;
    },
  };
}
