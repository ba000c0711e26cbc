import { createJsonRpc, RpcError } from "../net/json-rpc.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { acquireLock } from "../storage/lock.ts";
import type { Head } from "./chain/head.ts";
import { dataFeesOf } from "./data-fees/kinds.ts";
import { openFront } from "./http/front.ts";
import { createKeyStore } from "./keys/key-store.ts";
import { isSettled, type ServiceOptions } from "./options.ts";
import { createPoolDirectory, scopeOf } from "./pools/directory.ts";
import { openPoolBook } from "./pools/pool-book.ts";
import { createSnapshots, type Snapshots } from "./pools/snapshots.ts";
import { createQuoteBook } from "./quotes/quote-book.ts";
import type { RelayerStatus } from "./quotes/quoter.ts";
import { createQuoter } from "./quotes/quoter.ts";
import { createTokens } from "./quotes/tokens.ts";
import { createClosedDesk, createDesk, type DeskDependencies, type GaslessDesk } from "./relayer/desk.ts";
import { lockRelayer, openRelayer, type RelayerDependencies } from "./relayer/relayer.ts";
import { createRouter } from "./routing/router.ts";
import { createContractCheck } from "./settlement/verify.ts";
import { createSimulator } from "./simulation/simulator.ts";
import { createServiceStore, openServiceDatabase } from "./store/service-store.ts";
import { createBalances } from "./tokens/balances.ts";
import { createTokenList } from "./tokens/token-list.ts";
import { createTransferChecks } from "./tokens/transfer-checks.ts";

const RPC_TIMEOUT_MS = 10_000;
const MAX_RPC_ANSWER_BYTES = 16_000_000;

/** A running service. */
export interface Service {
  /** where it listens, without a path */
  readonly url: string;
  /** where its metrics are, if anywhere */
  readonly metricsUrl: string | undefined;
  /** Stops taking requests, finishes those that it has, then closes the database. */
  stop(): Promise<void>;
}

export interface ServiceDependencies {
  readonly logger: Logger;
  readonly clock: Clock;
  /** present exactly when `options.relayer` is */
  readonly relayer?: RelayerDependencies;
}

interface Relay {
  readonly desk: GaslessDesk;
  readonly status: RelayerStatus | undefined;
  stop(): Promise<void>;
}

function startRelay(
  { relayer, network, database }: ServiceOptions,
  dependencies: ServiceDependencies,
  parts: Pick<DeskDependencies, "rpc" | "snapshots" | "router" | "quotes" | "tokens" | "store">,
): Relay {
  const { clock, logger } = dependencies;
  if (relayer === undefined || dependencies.relayer === undefined || !isSettled(network)) {
    return { desk: createClosedDesk(parts.store), status: undefined, stop: async () => undefined };
  }
  const { store, rpc, snapshots } = parts;
  const head = async (): Promise<Head> => (await snapshots.current()).head;
  const { address } = dependencies.relayer.signer;
  const lock = lockRelayer(database, { chainId: network.chainId, account: address });
  const opened = openRelayer({ relayer, network }, { ...dependencies.relayer, store, rpc, head, clock, logger });
  const { feeMarginPpm } = relayer;
  const desk = createDesk({ network, relayer: address, feeMarginPpm }, { ...parts, ...opened, clock });
  const status = { address, refusal: () => opened.state.refusal() };
  const stop = async (): Promise<void> => {
    await opened.runner.stop();
    lock.release();
  };
  return { desk, status, stop };
}

/**
 * Starts the aggregation service.
 * @throws Error when the contracts are not the configured ones,
 * StorageError or MigrationError when the database cannot be used
 */
export async function startService(options: ServiceOptions, dependencies: ServiceDependencies): Promise<Service> {
  const { network } = options;
  const { clock, logger } = dependencies;
  checkOptions(options, dependencies);
  const rpc = createJsonRpc({ url: network.rpcUrl, timeoutMs: RPC_TIMEOUT_MS, maxBytes: MAX_RPC_ANSWER_BYTES });
  const { verify, executor } = createContractCheck(rpc, network);
  const snapshots = createSnapshots({ rpc, chainId: network.chainId, verify, dataFees: dataFeesOf(network) }, clock);
  const readMode = await firstLook(snapshots, { rpcHost: rpc.host, logger });
  const closers: (() => unknown)[] = [() => snapshots.stop()];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const lock = lockDatabase(options.database);
    closers.push(() => lock.release());
    const db = openServiceDatabase(options.database);
    closers.push(() => db.close());
    const store = createServiceStore(db, network.name);
    const factories = { protocols: network.protocols, feeTiers: network.v3FeeTiers };
    const book = openPoolBook(store.db, scopeOf(network.chainId, factories), clock.nowMs());
    closers.push(() => book.close());
    const directory = createPoolDirectory(factories, clock, book);
    const transfers = createTransferChecks({ rpc, network }, { directory, snapshots, executor, clock, logger });
    const router = createRouter(network, directory, transfers);
    const tokens = createTokens({ rpc, network }, clock);
    const quotes = createQuoteBook(store, clock);
    const relay = startRelay(options, dependencies, { rpc, snapshots, router, quotes, tokens, store });
    closers.push(() => relay.stop());
    const { status } = relay;
    const quoter = createQuoter(options, { snapshots, router, tokens, transfers, clock, executor, relayer: status });
    const tokenList = createTokenList(network, { snapshots, tokens });
    const balances = createBalances(tokenList.addresses, { rpc, snapshots });
    const simulator = createSimulator(network, { rpc, snapshots, clock });
    const parts = { quoter, simulator, quotes, store, desk: relay.desk, tokenList, balances };
    const served = { options: network, rpc, snapshots, ...parts };
    const front = openFront([served], options, { keys: createKeyStore(store.db), clock, logger });
    closers.push(() => front.stop());
    const { url, metricsUrl } = await front.listen();
    const fields = { url, metricsUrl, network: network.name, rpcHost: rpc.host, readMode };
    logger.info(fields, "the aggregation service is up");
    return { url, metricsUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Looks at the chain before anybody asks. A node that is gone, that answers nonsense or serves another chain may be put
 * right while the service runs, and until then every request is told; wrong contracts are a mistake in the configuration.
 */
async function firstLook(snapshots: Snapshots, { rpcHost, logger }: { rpcHost: string; logger: Logger }) {
  try {
    await snapshots.current();
  } catch (error) {
    if (!(error instanceof RpcError)) {
      snapshots.stop();
      throw error;
    }
    logger.error(
      { rpcHost, error: error.message },
      "the network's node cannot be used; requests are refused until it can",
    );
  }
  return snapshots.mode();
}

/** Two services on one database would send from one relayer's account without knowing of each other. */
function lockDatabase(database: string) {
  const lock = acquireLock(`${database}.lock.db`);
  if (lock.kind === "acquired") return lock;
  throw new Error(
    `the database ${database} is in use by another service (${lock.holder ?? "unknown process"}): stop that one first`,
  );
}

function checkOptions(options: ServiceOptions, dependencies: ServiceDependencies): void {
  if ((options.relayer === undefined) !== (dependencies.relayer === undefined)) {
    throw new Error("a relayer needs both its settings and its signer, chain and lane store");
  }
  if (options.relayer !== undefined && !isSettled(options.network)) {
    throw new Error(`a relayer needs a settlement contract, and none is configured on ${options.network.name}`);
  }
  if (options.permitLifetimeSeconds >= options.quoteLifetimeSeconds) return;
  throw new Error(
    `signatures that hold ${options.permitLifetimeSeconds} s would end before their quote, which holds ` +
      `${options.quoteLifetimeSeconds} s: raise the permit lifetime`,
  );
}
