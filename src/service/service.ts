import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import { claimDatabase } from "../storage/claim.ts";
import { checkOptions } from "./check-options.ts";
import { openFront } from "./http/front.ts";
import { InUseError } from "./in-use.ts";
import { createKeyStore } from "./keys/key-store.ts";
import { connectNetwork, firstCheck, type OpenNetwork, openNetwork } from "./open-network.ts";
import type { ServiceOptions } from "./options.ts";
import type { RelayerDependencies } from "./relayer/relayer.ts";
import { createSearcher } from "./routing/searcher.ts";
import { createTimeSlices } from "./routing/time-slices.ts";
import { openServiceDatabase, unfollowedSwaps } from "./store/service-store.ts";
import { waitFor } from "./time-limit.ts";

/** A silent node delays no start: the check of the chain goes on in the background. */
const CHECK_WITHIN_MS = 1_000;

/** A running service. */
export interface Service {
  /** where it listens, without a path */
  readonly url: string;
  /** where its metrics are, if anywhere */
  readonly metricsUrl: string | undefined;
  /** resolves with what a person has to correct: contracts on the chain that are not the configured ones */
  readonly failed: Promise<unknown>;
  /** Stops taking requests, finishes those that it has, then closes the database. */
  stop(): Promise<void>;
}

export interface ServiceDependencies {
  readonly logger: Logger;
  readonly clock: Clock;
  /** by the network's name, for exactly those whose options have a relayer */
  readonly relayers?: ReadonlyMap<string, RelayerDependencies>;
}

/**
 * Starts the aggregation service: its networks, one database and one front for all of them. A network whose node cannot
 * be used delays none of the others.
 * @throws Error when the options contradict each other, StorageError or MigrationError when the database cannot be used
 */
export async function startService(options: ServiceOptions, dependencies: ServiceDependencies): Promise<Service> {
  const { clock, logger, relayers = new Map<string, RelayerDependencies>() } = dependencies;
  checkOptions(options, new Set(relayers.keys()));
  const connected = options.networks.map((network) => connectNetwork(network, dependencies));
  const checking = new AbortController();
  const closers: (() => unknown)[] = [() => connected.map(({ snapshots }) => snapshots.stop()), () => checking.abort()];
  const stop = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    const checks = Promise.all(connected.map((one) => firstCheck(one, { clock, signal: checking.signal })));
    const failed = new Promise<unknown>((resolve) => checks.catch(resolve));
    await waitFor(checks, CHECK_WITHIN_MS);
    const lock = lockDatabase(options.database);
    closers.push(() => lock.release());
    const db = openServiceDatabase(options.database);
    closers.push(() => db.close());
    const findRoute = createSearcher({ slices: createTimeSlices(clock), clock });
    const networks: OpenNetwork[] = [];
    closers.push(() => Promise.all(networks.map((network) => network.stop())));
    for (const one of connected) {
      networks.push(openNetwork(one, { options, db, findRoute, clock }, relayers.get(one.options.name)));
    }
    const names = connected.map((one) => one.options.name);
    for (const left of unfollowedSwaps(db, [...relayers.keys()])) {
      logger.warn(
        left,
        "gasless swaps of a network are not over, and no relayer follows them: serve it with its relayer",
      );
    }
    const served = networks.map((network) => network.served);
    const front = openFront(served, options, { keys: createKeyStore(db), clock, logger });
    closers.push(() => front.stop());
    const { url, metricsUrl } = await front.listen();
    logger.info({ url, metricsUrl, networks: names }, "the aggregation service is up");
    return { url, metricsUrl, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Two services on one database would send from one relayer's account without knowing of each other. */
function lockDatabase(database: string) {
  const claim = claimDatabase(database);
  if (claim.kind === "claimed") return claim;
  if (claim.kind === "linked") throw new Error(claim.message);
  throw new InUseError(
    `the database ${database} is in use by another service (${claim.holder ?? "unknown process"}): stop that one first`,
  );
}
