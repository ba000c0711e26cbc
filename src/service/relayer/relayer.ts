import { dirname, join } from "node:path";
import type { Head } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import type { Address } from "../../domain/money/address.ts";
import { createLane, type Lane } from "../../lane/lane.ts";
import type { LaneChain } from "../../ports/chain.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaneRowStore, Lanes } from "../../ports/lane-row-store.ts";
import type { Logger } from "../../ports/logger.ts";
import type { Signer } from "../../ports/signer.ts";
import type { SqliteDatabase } from "../../storage/database.ts";
import { acquireLock } from "../../storage/lock.ts";
import { InUseError } from "../in-use.ts";
import type { RelayerOptions, SettledNetwork } from "../options.ts";
import { createReadMemory } from "../store/read-memory.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { type LaneRunner, runLane } from "./lane-runner.ts";
import { createLaneTroubles } from "./lane-troubles.ts";
import { createLossShares } from "./loss-shares.ts";
import { createPlaces, type Places } from "./places.ts";
import { openRelayBook, type RelayBook } from "./relay-book.ts";
import { createRelayerState, type RelayerSignerState, type RelayerState } from "./relayer-state.ts";
import { createSendGate } from "./send-gate.ts";
import { createSwapRecorder } from "./swap-recorder.ts";
import { createUnsentSwaps } from "./unsent-swaps.ts";

/** What a relayer is made of; the same parts as all lanes that send transactions. */
export interface RelayerDependencies {
  readonly signer: Signer;
  /** of a signer elsewhere: whether it signs */
  readonly signerState?: RelayerSignerState | undefined;
  readonly chain: LaneChain;
  /** Creates the tables of lanes in the service's own database, and the lanes on them. */
  readonly openLanes: (db: SqliteDatabase) => Lanes;
  /** named places where a test may stop the process; absent in production */
  readonly crashPoint?: (label: string) => void;
}

/** A relayer at work. */
export interface Relayer {
  readonly lane: Lane;
  readonly lanes: Lanes;
  readonly book: RelayBook;
  readonly places: Places;
  readonly state: RelayerState;
  readonly runner: LaneRunner;
  readonly crashPoint: (label: string) => void;
}

/**
 * Two lanes of one account would take each other for intruders, also where they are of two services with a database
 * each. On other machines, and in other folders, they are not seen.
 * @throws InUseError when another service of this folder sends from the account on this chain
 */
export function lockRelayer(database: string, { chainId, account }: { chainId: number; account: Address }) {
  const lock = acquireLock(join(dirname(database), `relayer-${chainId}-${account}.lock.db`));
  if (lock.kind === "acquired") return lock;
  const holder = lock.holder ?? "unknown process";
  throw new InUseError(
    `the relayer ${account} sends for another service on chain ${chainId} (${holder}): give each service a key of its own`,
  );
}

/** What a relayer has of its service. */
interface ServiceParts {
  readonly store: ServiceStore;
  readonly rpc: JsonRpc;
  readonly head: () => Promise<Head>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Opens the relayer's lane on the service's database; what was in flight when the last process ended goes on. */
export function openRelayer(
  options: { relayer: RelayerOptions; network: SettledNetwork },
  dependencies: RelayerDependencies & ServiceParts,
): Relayer {
  const { relayer, network } = options;
  const { signer, signerState, chain, store, rpc, head, clock, logger, crashPoint = () => undefined } = dependencies;
  const account = signer.address;
  const lanes = dependencies.openLanes(store.db);
  const { rows } = lanes;
  const book = openRelayBook(store.db, network.name);
  // Each swap that waits, and each quote, asks for these several times.
  const memory = createReadMemory(store.db);
  const open = () => memory.read("open", () => rows.openIntents(account, network.chainId));
  const inFlight = () =>
    memory.read("in flight", () => open().filter(({ id, nonce }) => nonce !== undefined && !book.isPaid(id)));
  const listed = new Set(network.listedTokens.map(({ address }) => address));
  const losses = createLossShares({ listed, maxDailyLoss: relayer.maxDailyLoss }, { book, store, clock });
  const gate = createSendGate(
    { relayer: account, network, feeMarginPpm: relayer.feeMarginPpm, tips: relayer.tips },
    {
      ...{ rpc, head, book, store, losses, inFlight, logger },
      waiting: () => open().filter(({ nonce }) => nonce === undefined),
      maySpend: () => state.maySpendBesideFlight(),
      placeAgain: (row, balance) => places.refusalAgain(row, balance),
      cancel: (id, by) => lane.cancel(id, by),
    },
  );
  const recorder = createSwapRecorder(network, { store, book, clock, lastReason: gate.lastReason });
  const troubles = createLaneTroubles(recorder, { inFlight, logger });
  const lane = createLane(
    {
      account,
      chainId: network.chainId,
      confirmations: network.confirmations,
      emptyGasLimit: relayer.emptyGasLimit,
      bumpAfterBlocks: relayer.bumpAfterBlocks,
      rebroadcastAfterBlocks: relayer.rebroadcastAfterBlocks,
      maxReplacements: relayer.maxReplacements,
      maxCancellations: relayer.maxCancellations,
      cancelPubliclyAfterBlocks: relayer.cancelPubliclyAfterBlocks,
      visibility: chain.visibility,
      cancelMarginSeconds: relayer.cancelMarginSeconds,
      isWorthSending: gate.isWorthSending,
    },
    { store: lanes.store(troubles), chain, signer, clock, logger, crashPoint },
  );
  const ofAccount = ownSwaps({ account, store, rows, logger });
  const unminedSwaps = () => memory.read("unmined", ofAccount);
  const chainTime = createChainTime(head);
  const places = createPlaces(listed, {
    ...{ store: { unminedSwaps }, book, losses, isIdle: gate.isIdle, clock },
    chainSeconds: chainTime.seconds,
  });
  const barring = () => runner.failure() ?? troubles.barring();
  const state = createRelayerState(
    { relayer, account },
    { ...{ lane, inFlight, store, book, places, rpc }, clock, logger, barring, signer: signerState },
  );
  const pruneUnsent = createUnsentSwaps(store.db, { rows, clock });
  const runner = runLane({ lane, clock, logger }, async () => {
    pruneUnsent();
    if (unminedSwaps().length > 0) await chainTime.look();
    await gate.check();
    await state.watch();
  });
  return { lane, lanes, book, places, state, runner, crashPoint };
}

/** The time of the newest block, as it was when it was looked at last: what is asked often waits for no node. */
function createChainTime(head: () => Promise<Head>): { seconds(): number; look(): Promise<void> } {
  let seconds = 0;
  return {
    seconds: () => seconds,
    async look() {
      try {
        seconds = (await head()).timestamp;
      } catch (error) {
        // The lane and every request report a node that does not answer.
        if (!(error instanceof RpcError)) throw error;
      }
    },
  };
}

/**
 * Swaps that wait for this account. Those that another one left open, whose key was changed since, are sent and followed by
 * nobody: they would hold their places, and their amounts of the wallets' balances, for ever.
 */
function ownSwaps({
  account,
  store,
  rows,
  logger,
}: {
  account: Address;
  store: Pick<ServiceStore, "pendingSwaps" | "unminedSwaps">;
  rows: Pick<LaneRowStore, "intent">;
  logger: Logger;
}): ServiceStore["unminedSwaps"] {
  const ofOthers = store.pendingSwaps().filter(({ intentId }) => rows.intent(intentId)?.account !== account);
  if (ofOthers.length > 0) {
    logger.warn(
      { account, swaps: ofOthers.length },
      "swaps of another relayer account are not over, and are not followed: serve with its key until they are",
    );
  }
  const others = new Set(ofOthers.map(({ intentId }) => intentId));
  return () => store.unminedSwaps().filter(({ intentId }) => !others.has(intentId));
}
