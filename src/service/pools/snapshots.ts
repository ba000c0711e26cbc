import { type Accounts, createAccounts } from "../../chain/at-block/accounts.ts";
import type { ReadWords, ViewCall, WordsAnswer } from "../../chain/at-block/batch-reader.ts";
import { type BlockReads, createBlockReads } from "../../chain/at-block/block-reads.ts";
import type { ReadMode } from "../../chain/at-block/calls-at-block.ts";
import { type Head, parseBlock, readHead } from "../../chain/at-block/head.ts";
import { watchLogs } from "../../chain/at-block/log-watch.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";
import { type DataFeeSource, type DataFees, NO_DATA_FEES, readDataFees } from "../data-fees/data-fees.ts";
import { type CallMemory, createCallMemory, keyOf } from "./call-memory.ts";
import { createFollower } from "./follower.ts";
import { kindOf } from "./kinds.ts";
import { identityOf, type KnownState, type Pool, type PoolState, type TakeCalls } from "./pool.ts";
import { createPoolMemory, type PoolMemory, type RememberedPool } from "./pool-memory.ts";
import { isAnswered } from "./unanswered-pool.ts";

/** The chain at one block. All reads through it see that block and no other. */
export interface Snapshot {
  /** the endpoint that has the block; another one may not have it yet */
  readonly rpc: JsonRpc;
  readonly head: Head;
  /** what the network charges for data on top of gas */
  readonly dataFees: DataFees;
  /** why the pools in use were not read together; each is read by the quotes that ask for it */
  readonly unread?: RpcError | undefined;
  readonly read: ReadWords;
  /** Reads what the next blocks are likely asked for too: for a while each block asks for it by itself. */
  readonly readKept: ReadWords;
  /** Whether there is an account at an address. */
  readonly exists: Accounts["exists"];
  /** The pool at this block, undefined when it has nothing to trade with. Read once, shared by all quotes. */
  state(pool: Pool): Promise<PoolState | undefined>;
}

export interface Snapshots {
  /**
   * The newest block's snapshot. While it is asked for, new blocks are followed by themselves: the pools in use are read
   * together, and the snapshot is there when they are, or when they cannot be.
   * @throws UnusableChainError, or another RpcError when the node does not answer properly
   */
  current(): Promise<Snapshot>;
  /** How the node is read, undefined before the first read. */
  mode(): ReadMode | undefined;
  stop(): void;
}

export interface SnapshotsOptions {
  readonly rpc: JsonRpc;
  /** the chain that the node must serve; checked with every head */
  readonly chainId?: number | undefined;
  /** what else must be true of the chain before anything is quoted from it; asked for until it succeeds once */
  readonly verify?: ((head: Head) => Promise<void>) | undefined;
  /**
   * contracts that the operator vouches for: calls of others, but for pools, travel alone, and pools of other tokens are
   * read after those of these; absent: all
   */
  readonly isKnown?: ((contract: Address) => boolean) | undefined;
  /** called when a read of a block failed for good */
  readonly onTrouble?: ((error: RpcError) => void) | undefined;
  /** absent: the best that the node can do */
  readonly mode?: ReadMode | undefined;
  /** how fees for data are asked for, with every block; absent: there are none */
  readonly dataFees?: DataFeeSource | undefined;
}

/** Pools beyond that are read alone until they are asked for again. */
const MAX_POOLS = 20_000;

/** Calls by which the pools in use are read together, before one pool more: anybody can fill his own with thousands of ticks. */
const MAX_CALLS_TOGETHER = 10_000;

/** Answers, and states of pools, that are kept of one block, which may be the newest for hours; others are read each time. */
const MAX_KEPT = 5_000;

/** A machine behind the address of the node that is behind the others so long is taken at its word. */
const LAG_PATIENCE_MS = 30_000;

interface Context {
  readonly rpc: JsonRpc;
  readonly reads: BlockReads;
  readonly memory: PoolMemory;
  readonly calls: CallMemory;
  readonly accounts: Accounts;
  /** pools that were asked for: their factories vouch for their code */
  readonly pools: Set<Address>;
  readonly isVouchedFor: (contract: Address) => boolean;
  readonly clock: Clock;
  readonly dataFees: DataFeeSource;
}

export function createSnapshots(options: SnapshotsOptions, clock: Clock): Snapshots {
  const { rpc, dataFees = NO_DATA_FEES } = options;
  const memories = { memory: createPoolMemory(), calls: createCallMemory(), accounts: createAccounts(rpc) };
  const pools = new Set<Address>();
  const isVouchedFor = options.isKnown ?? (() => true);
  const isKnown = (contract: Address) => isVouchedFor(contract) || pools.has(contract);
  const reads = createBlockReads({ ...options, isKnown, clock });
  const context: Context = { rpc, clock, dataFees, ...memories, pools, isVouchedFor, reads };
  let latest: Snapshot | undefined;
  let behindSinceMs: number | undefined;
  let verify = options.verify;

  /** The newest block; where one machine of several is behind, the newest that was seen. */
  async function newestHead(): Promise<Head> {
    const head = await readHead(rpc, options.chainId);
    if (latest === undefined || head.number >= latest.head.number) {
      behindSinceMs = undefined;
      return head;
    }
    behindSinceMs ??= clock.monotonicMs();
    if (clock.monotonicMs() - behindSinceMs > LAG_PATIENCE_MS) return head;
    const seen = parseBlock(rpc.host, await rpc.call("eth_getBlockByHash", [latest.head.hash, false]));
    return seen === undefined ? head : latest.head;
  }

  async function refresh(): Promise<Snapshot> {
    const head = await newestHead();
    await verify?.(head);
    verify = undefined;
    if (latest !== undefined && latest.head.hash === head.hash) return latest;
    latest = await takeSnapshot(context, head, latest?.head);
    return latest;
  }

  const follower = createFollower(refresh, clock);
  return { current: follower.current, mode: () => context.reads.mode(), stop: follower.stop };
}

/** Reads the pools in use at a block; the snapshot is not used before they are there, or cannot be. */
async function takeSnapshot(context: Context, head: Head, previous: Head | undefined): Promise<Snapshot> {
  const { clock, memory, reads } = context;
  const reader = reads.at(head);
  const states = new Map<Hex, Promise<PoolState | undefined>>();
  const inUse = memory.inUse(clock.monotonicMs());
  const [dataFees, together] = await Promise.all([
    readDataFees(context.rpc, context.dataFees),
    readTogether(context, inUse, { head, previous, reader }).catch(asRefusal),
  ]);
  const unread = together instanceof RpcError ? together : undefined;
  for (const [pool, state] of together instanceof RpcError ? [] : together) {
    states.set(identityOf(pool), Promise.resolve(state));
    if (state !== undefined) memory.put(pool, state, { block: head, nowMs: clock.monotonicMs() });
  }

  async function load(pool: Pool): Promise<PoolState | undefined> {
    const kind = kindOf(pool);
    const before = memory.get(pool);
    const known = before === undefined ? undefined : { state: before.state, onlyTraded: false };
    const answers = await Promise.all(
      kind.encodeReads(pool, known).map(({ to, data, words }) => reader.read(to, data, words)),
    );
    const state = kind.decode(pool, answers, { known, read: reader.read });
    if (state === undefined || !(await isAnswered(kind.prepare?.(state)))) return undefined;
    // A newer block may have been read in the meantime.
    if ((memory.get(pool)?.block.number ?? 0) <= head.number)
      memory.put(pool, state, { block: head, nowMs: clock.monotonicMs() });
    return state;
  }

  return {
    rpc: context.rpc,
    head,
    dataFees,
    unread,
    read: reader.read,
    readKept: keepCalls(context, reader.read),
    exists: context.accounts.exists,
    state(pool) {
      memory.touch(pool, clock.monotonicMs());
      if (context.pools.size >= MAX_POOLS) context.pools.clear();
      context.pools.add(pool.address);
      const identity = identityOf(pool);
      const known = states.get(identity);
      if (known !== undefined) return known;
      const loading = load(pool);
      if (states.size >= inUse.length + MAX_KEPT) return loading;
      states.set(identity, loading);
      // A failed read is tried again by the next quote; the callers of this one get the error.
      loading.catch(() => states.delete(identity));
      return loading;
    },
  };
}

/** Reads together what was asked for lately. Nothing waits for all of it, since any contract may be among them. */
function keepCalls({ calls, clock }: Context, read: ReadWords): ReadWords {
  const kept = new Map<string, Promise<WordsAnswer>>();
  const touched = new Set<string>();
  const ask = (key: string, { to, data, words }: ViewCall): Promise<WordsAnswer> => {
    const answer = read(to, data, words);
    if (kept.size >= MAX_KEPT) return answer;
    kept.set(key, answer);
    // A failed read is tried again by the next caller.
    answer.catch(() => kept.delete(key));
    return answer;
  };
  for (const call of calls.inUse(clock.monotonicMs())) {
    // A caller that needs it asks, and gets the error.
    ask(keyOf(call), call).catch(() => undefined);
  }
  return (to, data, words) => {
    const call = { to, data, words };
    const key = keyOf(call);
    // Once a block is often enough to know that it is in use.
    if (!touched.has(key)) calls.touch(call, clock.monotonicMs());
    if (touched.size < MAX_KEPT) touched.add(key);
    return kept.get(key) ?? ask(key, call);
  };
}

type Together = { head: Head; previous: Head | undefined; reader: ReturnType<BlockReads["at"]> };

/** What cannot be read together may still be read one by one: no caller is refused because of a pool of others. */
function asRefusal(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  throw error;
}

/**
 * The states of many pools by one read of so many calls. A pool that does not answer as it should, or for which no call
 * is left, is left to the quotes that ask for it.
 */
async function readTogether(
  context: Context,
  inUse: readonly RememberedPool[],
  { head, previous, reader }: Together,
): Promise<readonly (readonly [Pool, PoolState | undefined])[]> {
  const onlyTraded = await tradedOnly(context, inUse, { head, previous });
  let left = MAX_CALLS_TOGETHER;
  const asked = inOrder(context, inUse, onlyTraded).flatMap(({ pool, known }) => {
    if (left <= 0) return [];
    const calls = kindOf(pool).encodeReads(pool, known);
    left -= calls.length;
    return [{ pool, known, calls }];
  });
  const take: TakeCalls = (calls) => {
    if (calls > left) throw new Error(`${calls} calls of a pool are more than are left: its quotes make them`);
    left -= calls;
  };
  const answers = await reader.readAll(asked.flatMap(({ calls }) => calls));
  let offset = 0;
  const decoded = asked.map(({ pool, known, calls }) => {
    const own = answers.slice(offset, offset + calls.length);
    offset += calls.length;
    return [pool, kindOf(pool).decode(pool, own, { known, read: reader.read })] as const;
  });
  const prepared = await Promise.allSettled(
    decoded.map(([pool, state]) => (state === undefined ? undefined : kindOf(pool).prepare?.(state, take))),
  );
  return decoded.filter((_, index) => prepared[index]?.status === "fulfilled");
}

/** Pools of tokens that the operator vouches for come first, of these those of few calls, then what was asked for last. */
function inOrder(
  { isVouchedFor }: Context,
  inUse: readonly RememberedPool[],
  onlyTraded: (remembered: RememberedPool) => boolean,
): readonly { readonly pool: Pool; readonly known: KnownState }[] {
  const ranked = inUse.map((remembered) => {
    const { pool, state, usedAtMs } = remembered;
    const known = { state, onlyTraded: onlyTraded(remembered) };
    const isVouched = isVouchedFor(pool.token0) && isVouchedFor(pool.token1);
    const hasFewCalls = known.onlyTraded || kindOf(pool).liquidityTopics.length === 0;
    return { pool, known, usedAtMs, rank: (isVouched ? 0 : 2) + (hasFewCalls ? 0 : 1) };
  });
  return ranked.sort((one, other) => one.rank - other.rank || other.usedAtMs - one.usedAtMs);
}

/** Of which pools nothing but the price can have changed since they were read. */
async function tradedOnly(
  { rpc }: Context,
  inUse: readonly RememberedPool[],
  { head, previous }: Pick<Together, "head" | "previous">,
): Promise<(remembered: RememberedPool) => boolean> {
  const topics = new Set(inUse.flatMap(({ pool }) => kindOf(pool).liquidityTopics));
  if (previous === undefined || topics.size === 0) return () => false;
  const mayHaveMoved = await watchLogs(rpc, { from: previous, to: head }, [...topics]);
  return ({ pool, block }) => block.hash === previous.hash && !mayHaveMoved(pool.address, pool.id);
}
