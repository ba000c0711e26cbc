import { join } from "node:path";
import { Transaction } from "ethers";
import { onTestFinished } from "vitest";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { createLaneRows } from "../../src/adapters/sqlite/lane-rows.ts";
import { createLanes } from "../../src/adapters/sqlite/lane-store.ts";
import { migrateLane } from "../../src/adapters/sqlite/lanes.ts";
import { createChain } from "../../src/chain/chain.ts";
import { type Address, type Hex, toAddress } from "../../src/domain/money/address.ts";
import { createLane, type Lane } from "../../src/lane/lane.ts";
import type { LaneOptions } from "../../src/lane/lane-context.ts";
import type { LaneRequest } from "../../src/lane/planned-intent.ts";
import { Secret } from "../../src/net/secret.ts";
import type { LaneEvent, LaneListener } from "../../src/ports/lane-event.ts";
import type { LaneRowStore } from "../../src/ports/lane-row-store.ts";
import type { AttemptRow, IntentRow, LaneHalt } from "../../src/ports/lane-store.ts";
import type { LaneStore } from "../../src/ports/lane-unit-of-work.ts";
import type { Signer, UnsignedTransaction } from "../../src/ports/signer.ts";
import { openDatabase, type SqliteDatabase } from "../../src/storage/database.ts";
import { createHandClock } from "../service/support/hand-clock.ts";
import { ANVIL_ACCOUNT, ANVIL_KEY, type BareAnvil, startBareAnvil } from "./bare-anvil.ts";
import { submit } from "./lane-database.ts";
import { type PrivateRelay, startPrivateRelay } from "./private-relay.ts";
import { type RpcProxy, startRpcProxy } from "./rpc-proxy.ts";
import { silentLogger } from "./silent-logger.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

export const GWEI = 10n ** 9n;
const CHAIN_ID = 31337;
const REVERTING = toAddress(`0x${"bad".padStart(40, "0")}`);

/** What a test's process "dies" of at a crash label. */
export class Killed extends Error {}

/** A lane on a real chain and a real database, with everything that it does written down for the test. */
export interface LaneWorld {
  readonly anvil: BareAnvil;
  readonly proxy: RpcProxy;
  readonly clock: ReturnType<typeof createHandClock>;
  readonly logger: ReturnType<typeof silentLogger>;
  /** what the listener heard, oldest first */
  readonly events: LaneEvent[];
  /** what the listener heard of transactions that no node takes, oldest first */
  readonly refusals: { readonly intentId: string; readonly detail: string | undefined }[];
  /** a proxy of its own in front of the same chain, where there is a second endpoint */
  readonly second: RpcProxy | undefined;
  /** the same in front of where transactions are sent privately; one that keeps what it takes to itself */
  readonly relay: PrivateRelay | undefined;
  /** a contract that refuses everything */
  readonly reverting: Address;
  /** everything the key was used for */
  readonly signed: UnsignedTransaction[];
  /** may be changed while the lane lives */
  readonly switches: {
    signing: boolean;
    barred: string[];
    crashAt: ((label: string) => boolean) | undefined;
    /** called whenever the lane has been answered by its rows, and while its key is used */
    between: (() => Promise<void>) | undefined;
    /** from the next start on there is no private endpoint any more */
    isPublic: boolean;
  };
  readonly lane: Lane;
  readonly store: LaneRowStore;
  readonly db: SqliteDatabase;
  /** Asks for a transfer of 5 wei to an address of its own. @returns that address */
  submit(id: string, change?: Partial<LaneRequest>): Address;
  halted(): LaneHalt | undefined;
  /** A person lets the account go on. @returns the halt that ended */
  release(by: string): LaneHalt | undefined;
  /** whether no intent waits or is in flight */
  isFree(): boolean;
  tick(times?: number): Promise<void>;
  /** Mines a block and lets the lane look at it; as often as said. */
  step(times?: number): Promise<void>;
  /** The same with blocks that are full: what is in the pool stays there. */
  fullStep(times?: number): Promise<void>;
  /** Goes on with a fresh lane on a fresh connection to the same file, as after a kill. */
  restart(): void;
  /** A transaction of the same key that the lane knows nothing of; it is in the pool, not mined. */
  sendForeign(nonce: number, value?: bigint): Promise<void>;
  /** The same, only signed. */
  signForeign(nonce: number, maxFeePerGas: bigint): Promise<{ raw: Hex; hash: Hex }>;
  /** The next block's base fee. Unlike other nodes anvil forgets what offers less. */
  baseFee(gwei: number): Promise<void>;
  intent(id: string): IntentRow;
  attempts(id: string): readonly AttemptRow[];
  received(recipient: Address): Promise<bigint>;
  /** transactions of the account in blocks */
  count(): Promise<number>;
  /** raw transactions that arrived at the node or were lost on the way to it, oldest first */
  sends(): string[];
  /** the intent's states, and each attempt's, in the order in which they were written */
  history(id: string): string[];
  /** kinds of what the listener heard of an intent */
  heard(id: string): string[];
}

const DEFAULTS: LaneOptions = {
  account: ANVIL_ACCOUNT,
  chainId: CHAIN_ID,
  confirmations: 2,
  bumpAfterBlocks: 4,
  rebroadcastAfterBlocks: 2,
  maxReplacements: 3,
  maxCancellations: 8,
  cancelPubliclyAfterBlocks: 25,
  cancelMarginSeconds: 2,
  emptyGasLimit: 60_000n,
};

/** Starts a chain of its own with a proxy in front, and a lane on it. Confirmed at two blocks, final at three. */
export async function startLaneWorld({
  secondEndpoint = false,
  privateEndpoint = false,
  signer: given = signerOf(),
  ...options
}: Partial<LaneOptions> & {
  secondEndpoint?: boolean;
  privateEndpoint?: boolean;
  signer?: Signer;
} = {}): Promise<LaneWorld> {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  const second = secondEndpoint ? await startRpcProxy(anvil.url) : undefined;
  const relay = privateEndpoint ? await startPrivateRelay(anvil.url) : undefined;
  const rpcUrls = [proxy, ...(second === undefined ? [] : [second])].map(({ url }) => new Secret(url));
  await anvil.rpc.call("anvil_setCode", [REVERTING, "0x60006000fd"]);
  const clock = createHandClock(Date.now());
  const logger = silentLogger();
  const events: LaneEvent[] = [];
  const refusals: LaneWorld["refusals"] = [];
  const signed: UnsignedTransaction[] = [];
  const switches: LaneWorld["switches"] = {
    signing: true,
    barred: [],
    crashAt: undefined,
    between: undefined,
    isPublic: false,
  };
  const signer = recordingSigner(given, signed, () => switches.between?.());
  const file = join(temporaryDirectory(), "lane.db");
  const requests: { id: string; to: Address }[] = [];
  const signing = (intentId: string): boolean => switches.signing && !switches.barred.includes(intentId);
  const open = () => {
    const db = openDatabase({ file });
    migrateLane(db);
    const store = createLaneRows(db);
    const submitUrls = relay === undefined || switches.isPublic ? [] : [new Secret(relay.url)];
    const chain = createChain({ rpcUrls, submitUrls, chainId: CHAIN_ID, timeoutMs: 2_000 }, { clock });
    const crashPoint = (label: string): void => {
      if (switches.crashAt?.(label) === true) throw new Killed(label);
    };
    const listener: LaneListener = {
      onIntent: (event) => void events.push(event),
      onRefused: (refusal) => void refusals.push(refusal),
    };
    const lanes = withGaps(createLanes(store, signing).store(listener), () => switches.between?.());
    const laneOptions = { ...DEFAULTS, visibility: chain.visibility, ...options };
    const lane = createLane(laneOptions, { store: lanes, chain, signer, clock, logger, crashPoint });
    return { db, store, lane };
  };
  let current = open();
  onTestFinished(() => void current.db.close());
  const count = async () => Number(await anvil.rpc.call("eth_getTransactionCount", [ANVIL_ACCOUNT, "latest"]));
  const tick = async (times = 1): Promise<void> => {
    for (let time = 0; time < times; time++) await current.lane.tick();
  };
  return {
    ...{ anvil, proxy, second, relay, clock, logger, events, refusals, signed, switches, tick, count },
    reverting: REVERTING,
    get lane() {
      return current.lane;
    },
    get store() {
      return current.store;
    },
    get db() {
      return current.db;
    },
    submit(id, change = {}) {
      const to = toAddress(`0x${(0xa0_0000 + requests.length).toString(16).padStart(40, "0")}`);
      requests.push({ id, to });
      const request = { ...transferTo(to, clock.nowMs()), id, ...change };
      submit(current.store, DEFAULTS, request, clock.nowMs());
      return to;
    },
    halted: () => current.store.halt(ANVIL_ACCOUNT, CHAIN_ID),
    release: (by) => {
      const halt = current.store.halt(ANVIL_ACCOUNT, CHAIN_ID);
      current.store.releaseHalt(ANVIL_ACCOUNT, CHAIN_ID, { by, atMs: clock.nowMs() });
      return halt;
    },
    isFree: () => current.store.openIntents(ANVIL_ACCOUNT, CHAIN_ID).every(({ state }) => state === "confirmed"),
    async step(times = 1) {
      for (let time = 0; time < times; time++) {
        await anvil.mine();
        await tick();
      }
    },
    async fullStep(times = 1) {
      for (let time = 0; time < times; time++) {
        await anvil.rpc.call("anvil_setBlockGasLimit", ["0x7530"]);
        await anvil.mine();
        await anvil.rpc.call("anvil_setBlockGasLimit", ["0x1c9c380"]);
        await tick();
      }
    },
    restart() {
      current.db.close();
      switches.crashAt = undefined;
      current = open();
    },
    signForeign,
    async sendForeign(nonce, value) {
      await anvil.rpc.call("eth_sendRawTransaction", [(await signForeign(nonce, 50n * GWEI, value)).raw]);
    },
    baseFee: async (gwei) => {
      const fee = `0x${BigInt(Math.round(gwei * 1e9)).toString(16)}`;
      await anvil.rpc.call("anvil_setNextBlockBaseFeePerGas", [fee]);
    },
    intent: (id) => {
      const row = current.store.intent(id);
      if (row === undefined) throw new Error(`there is no intent ${id}`);
      return row;
    },
    attempts: (id) => current.store.attempts(id),
    received: async (recipient) => BigInt(String(await anvil.rpc.call("eth_getBalance", [recipient, "latest"]))),
    sends: () => proxy.seen.filter((call) => call.method === "eth_sendRawTransaction").map(rawOf),
    history: (id) => historyOf(current.store, id),
    heard: (id) => events.filter((event) => event.intentId === id).map((event) => event.kind),
  };
}

/** The transaction that a node was sent. */
export function decode(raw: string | undefined): Transaction {
  return Transaction.from(raw ?? "0x");
}

function signerOf(): Signer {
  return createSigner(new Secret(ANVIL_KEY));
}

function signForeign(nonce: number, maxFeePerGas: bigint, value = 1n): Promise<{ raw: Hex; hash: Hex }> {
  const { to, data, gasLimit } = transferTo(ANVIL_ACCOUNT, 0);
  const fees = { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas / 3n };
  return signerOf().signTransaction({ chainId: CHAIN_ID, nonce, to, data, value, gasLimit, ...fees });
}

/** The rows of a lane, with a moment after each answer in which something else may happen. */
function withGaps(store: LaneStore, between: () => Promise<void> | undefined): LaneStore {
  const andThen = async <T>(answered: Promise<T>): Promise<T> => {
    const answer = await answered;
    await between();
    return answer;
  };
  return {
    open: (account) => andThen(store.open(account)),
    read: (question) => andThen(store.read(question)),
    readToSign: (question) => andThen(store.readToSign(question)),
    commit: (unit) => andThen(store.commit(unit)),
  };
}

function recordingSigner(
  signer: Signer,
  signed: UnsignedTransaction[],
  between: () => Promise<void> | undefined,
): Signer {
  return {
    ...signer,
    signTransaction: async (transaction) => {
      signed.push(transaction);
      await between();
      return await signer.signTransaction(transaction);
    },
  };
}

function transferTo(to: Address, nowMs: number): Omit<LaneRequest, "id"> {
  return {
    ...{ purpose: "swap", to, data: "0x", value: 5n, gasLimit: 50_000n, maxFeePerGasCap: 100n * GWEI },
    ...{ signBySeconds: Math.floor(nowMs / 1_000) + 3_600, deadlineSeconds: undefined },
  };
}

function rawOf(call: { readonly params: readonly unknown[] }): string {
  return String(call.params[0]);
}

function historyOf(store: LaneRowStore, id: string): string[] {
  const names = new Map(store.attempts(id).map((attempt, index) => [attempt.hash, `${attempt.kind} ${index + 1}`]));
  return store.transitions(id).map(({ attemptHash, from, to }) => {
    const subject = attemptHash === undefined ? "intent" : (names.get(attemptHash) ?? attemptHash);
    return `${subject}: ${from ?? "none"} -> ${to}`;
  });
}
