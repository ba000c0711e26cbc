import type { ReadMode } from "../chain/at-block/calls-at-block.ts";
import { createJsonRpc, type JsonRpc, RpcError } from "../chain/json-rpc.ts";
import { createDoubt } from "../domain/chain/doubt.ts";
import type { Address } from "../domain/money/address.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { SqliteDatabase } from "../storage/database.ts";
import { dataFeesOf } from "./data-fees/kinds.ts";
import { joinEndpoints, type OpenSnapshots } from "./endpoint-choice.ts";
import type { ServedNetwork } from "./http/served-network.ts";
import { tooOld } from "./old-block.ts";
import { type NetworkOptions, type ServiceOptions, spendersOf } from "./options.ts";
import { createPoolDirectory, scopeOf } from "./pools/directory.ts";
import { executorKindOf, executorList, kindOf } from "./pools/kinds.ts";
import type { Pool } from "./pools/pool.ts";
import { openPoolBook } from "./pools/pool-book.ts";
import { createSnapshots, type Snapshots } from "./pools/snapshots.ts";
import { createQuoteBook } from "./quotes/quote-book.ts";
import { createQuoter } from "./quotes/quoter.ts";
import { createTokens } from "./quotes/tokens.ts";
import type { RelayerDependencies } from "./relayer/relayer.ts";
import { startRelay } from "./relayer/start-relay.ts";
import { createRouter, type PublicWay, type RouterOptions } from "./routing/router.ts";
import type { Searcher } from "./routing/searcher.ts";
import { lookingAgain } from "./settlement/look-again.ts";
import { SPLITS } from "./settlement/router-calldata.ts";
import { type ContractCheck, createContractCheck, type RoutedPlaces } from "./settlement/verify.ts";
import { WrongContractsError } from "./settlement/views.ts";
import { createSimulator } from "./simulation/simulator.ts";
import { createServiceStore } from "./store/service-store.ts";
import { createBalances } from "./tokens/balances.ts";
import { createTokenList } from "./tokens/token-list.ts";
import { createTransferChecks } from "./tokens/transfer-checks.ts";

const RPC_TIMEOUT_MS = 10_000;
const MAX_RPC_ANSWER_BYTES = 16_000_000;
const CHECK_AGAIN_MS = 1_000;

/** One network's endpoints, and what is read of it; nothing is read before the first request. */
export interface ConnectedNetwork {
  readonly options: NetworkOptions;
  readonly rpc: JsonRpc;
  readonly snapshots: Snapshots;
  /** the settlement's executor, known from the first snapshot on */
  readonly executor: () => Address | undefined;
  /** whether it computes pools by their code, likewise; one of an earlier release does not */
  readonly computes: () => boolean;
  /** how many protocols it lists, likewise; one of an earlier release may lack the last ones */
  readonly listed: () => number;
  /** what public routers trade with, likewise */
  readonly routed: () => RoutedPlaces | undefined;
  /** why further routers are left out, likewise */
  readonly leftOut: () => readonly string[];
  readonly logger: Logger;
}

/** @param logger of the service; lines of this network name it */
export function connectNetwork(
  options: NetworkOptions,
  { clock, logger: ofService }: { clock: Clock; logger: Logger },
): ConnectedNetwork {
  const logger = ofService.child({ network: options.name });
  const dataFees = dataFeesOf(options);
  const vouchedFor = vouchedForBy(options);
  const checks: ContractCheck[] = [];
  const executor = () => checks.map((check) => check.executor()).find((address) => address !== undefined);
  const routed = () => checks.map((check) => check.routed()).find((places) => places !== undefined);
  const leftOut = () => [...new Set(checks.flatMap((check) => check.leftOut()))];
  const computes = () => checks.every((check) => check.computes());
  const listed = () => Math.min(...checks.map((check) => check.listed()));
  const isKnown = (contract: Address) => vouchedFor.has(contract) || contract === executor();
  const rpcs = options.rpcUrls.map((url) =>
    createJsonRpc({ url, timeoutMs: RPC_TIMEOUT_MS, maxBytes: MAX_RPC_ANSWER_BYTES }),
  );
  const open: OpenSnapshots = (one, onTrouble) => {
    const check = createContractCheck(one, options);
    checks.push(check);
    const { verify } = check;
    const facts = { rpc: one, chainId: options.chainId, verify, dataFees, isKnown, onTrouble };
    return lookingAgain(createSnapshots(facts, clock), check, { clock, logger });
  };
  const { rpc, snapshots } = joinEndpoints(rpcs, open, { clock, logger });
  const known = { executor, computes, listed, routed, leftOut };
  return { options, rpc, snapshots: outspoken(snapshots, { rpc, clock, logger }), ...known, logger };
}

/** The contracts of a network's options: anyone else who has one may have written it to work against us. */
function vouchedForBy(options: NetworkOptions): ReadonlySet<Address> {
  const { listedTokens, hubTokens, wrappedNative, protocols } = options;
  const listed = listedTokens.flatMap(({ address, feed }) => [address, ...(feed === undefined ? [] : [feed.address])]);
  const factories = protocols.map(({ factory }) => factory);
  return new Set([...listed, ...hubTokens, ...factories, wrappedNative, ...spendersOf(options)]);
}

/** Logs when a node stops being of use, or of full use, and when it is of use again. */
function outspoken(
  snapshots: Snapshots,
  { rpc, clock, logger }: { rpc: JsonRpc; clock: Pick<Clock, "nowMs">; logger: Logger },
): Snapshots {
  let reported: string | undefined;
  let modeBefore: ReadMode | undefined;
  const reportMode = (): void => {
    const readMode = snapshots.mode() ?? modeBefore;
    if (modeBefore !== undefined && readMode !== modeBefore)
      logger[readMode === "override" ? "info" : "warn"]({ rpcHost: rpc.host, readMode, modeBefore }, OTHER_MODE);
    modeBefore = readMode;
  };
  const report = (level: "error" | "warn", error: Error, message: string): void => {
    const problem = `${error.name}: ${message}`;
    if (reported !== problem) logger[level]({ rpcHost: rpc.host, error: error.message }, message);
    reported = problem;
  };
  return {
    ...snapshots,
    async current() {
      try {
        const snapshot = await snapshots.current();
        reportMode();
        const old = tooOld(snapshot.head, clock.nowMs());
        if (snapshot.unread !== undefined) report("warn", snapshot.unread, POOLS_UNREAD);
        else if (old !== undefined) report("warn", new Error(old), OLD_BLOCK);
        else if (reported !== undefined) {
          logger.info({ rpcHost: rpc.host }, "the network's node can be used again");
          reported = undefined;
        }
        return snapshot;
      } catch (error) {
        const message = messageOf(error);
        if (error instanceof Error && message !== undefined) report("error", error, message);
        throw error;
      }
    },
  };
}

const OTHER_MODE = "the network's node is read in another mode than before; only in mode override is all of it done";

const POOLS_UNREAD =
  "the network's node does not answer for all pools in use at once; quotes read those that they need";

const OLD_BLOCK =
  "the newest block is old: its node stands still, or this machine's clock is wrong; quotes go on, gasless ones do not";

function messageOf(error: unknown): string | undefined {
  if (error instanceof WrongContractsError) {
    return "the network's contracts are not the configured ones; its requests are refused until they are";
  }
  return error instanceof RpcError
    ? "the network's node cannot be used; its requests are refused until it can"
    : undefined;
}

/**
 * Checks the chain before the first request. A node that is gone, that answers nonsense or serves another chain may be
 * put right while the service runs, and until then every request gets the reason. Wrong contracts are a mistake in the
 * configuration, unless the node only just says so, or has not come to them yet: then it is asked again.
 * @throws WrongContractsError
 */
export async function firstCheck(
  { options, rpc, snapshots, listed, leftOut, logger }: ConnectedNetwork,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const doubt = createDoubt(clock);
  while (!signal.aborted) {
    try {
      await snapshots.current();
      const { chainId } = options;
      logger.info({ chainId, rpcHost: rpc.host, readMode: snapshots.mode() }, "the network's node is in use");
      reportUnlisted(options, { listed, logger });
      for (const problem of leftOut()) logger.warn({ problem }, "a further public router is left out of routes");
      return;
    } catch (error) {
      if (error instanceof RpcError) return;
      if (!(error instanceof WrongContractsError)) throw error;
      if (doubt.against(error.name, error.newestBlock) === undefined) throw error;
    }
    await clock.sleep(CHECK_AGAIN_MS, signal);
  }
}

/** Says once what an executor of an earlier release does not trade with. */
function reportUnlisted(
  { protocols, settlement }: NetworkOptions,
  { listed, logger }: Pick<ConnectedNetwork, "listed" | "logger">,
): void {
  if (settlement === undefined) return;
  const unlisted = executorList(protocols).slice(listed());
  if (unlisted.length === 0) return;
  const fields = { settlement, unlisted: unlisted.map(({ factory }) => factory) };
  logger.warn(fields, UNLISTED);
}

const UNLISTED =
  "the settlement's executor is of an earlier release: it goes on working, and routes do without the pools of some factories";

/** What the networks of one service share. */
export interface NetworkSurroundings {
  readonly options: Pick<ServiceOptions, "quoteLifetimeSeconds" | "permitLifetimeSeconds" | "database">;
  /** the service's open database */
  readonly db: SqliteDatabase;
  /** searches of all networks take turns: they share one processor */
  readonly findRoute: Searcher;
  readonly clock: Clock;
}

/** A network that answers requests. */
export interface OpenNetwork {
  readonly served: ServedNetwork;
  /** Finishes the relayer's turn and writes down what was learnt. */
  stop(): Promise<void>;
}

/** @throws InUseError when another service sends from the relayer's account */
export function openNetwork(
  connected: ConnectedNetwork,
  { options, db, findRoute, clock }: NetworkSurroundings,
  relayer: RelayerDependencies | undefined,
): OpenNetwork {
  const { options: network, rpc, snapshots, executor, computes, logger } = connected;
  const store = createServiceStore(db, network.name);
  const { protocols, feeTiers, wrappedNative } = network;
  const factories = { protocols, feeTiers, wrappedNative };
  const scope = scopeOf(network.chainId, factories);
  const book = openPoolBook(db, { scope, nowMs: clock.nowMs(), logger });
  const directory = createPoolDirectory(factories, clock, book);
  const transfers = createTransferChecks({ rpc, network }, { directory, snapshots, executor, clock, logger });
  const router = createRouter({ ...network, ...wayOut(network, connected) }, { directory, findRoute, transfers });
  const tokens = createTokens({ rpc, network }, clock);
  const quotes = createQuoteBook(store, clock);
  const { database } = options;
  const shared = { rpc, snapshots, router, quotes, tokens, store, clock, logger };
  const relay = startRelay({ network, database }, shared, relayer);
  const { status } = relay;
  const isComputed = (pool: Pool) => computes() && canBeComputed(network, pool);
  const quoter = createQuoter(
    { ...options, network },
    { snapshots, router, tokens, transfers, clock, executor, isComputed, relayer: status },
  );
  const tokenList = createTokenList(network, { snapshots, tokens, clock });
  const balances = createBalances(tokenList.addresses, { snapshots });
  const simulator = createSimulator(network, { snapshots, clock });
  const parts = { quoter, simulator, quotes, store, intake: relay.intake, tokenList, balances };
  return {
    served: { options: network, rpc, snapshots, ...parts },
    async stop() {
      await relay.stop();
      book.close();
    },
  };
}

/** Whether a pool's address follows from what is known of its factory. */
function canBeComputed({ protocols }: NetworkOptions, pool: Pool): boolean {
  return kindOf(pool).leg?.found === "computed" && protocols[pool.protocol]?.initCodeHash !== undefined;
}

/** Which pools routes may use, and in which form: those that the network's settlement, or a public router, trades with. */
function wayOut(
  { settlement, router, protocols }: NetworkOptions,
  { listed, routed }: Pick<ConnectedNetwork, "listed" | "routed">,
): Pick<RouterOptions, "takes" | "ways"> {
  if (settlement !== undefined) {
    return { takes: (pool) => executorKindOf(pool) !== undefined && pool.protocol < listed() };
  }
  if (router === undefined) return {};
  const ways = () =>
    [...(routed() ?? [])].map(([address, places]): PublicWay => {
      const [maker = "uniswap"] = protocols.flatMap((one, place) => {
        const own = kindOf(one).router?.maker;
        return own !== undefined && places.has(place) ? [own] : [];
      });
      return {
        router: address,
        formOf: (pool) => (places.has(pool.protocol) ? kindOf(pool).router?.form : undefined),
        splits: SPLITS[maker],
      };
    });
  return { ways, takes: (pool) => [...(routed()?.values() ?? [])].some((places) => places.has(pool.protocol)) };
}
