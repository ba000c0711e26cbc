import { createHealth, type EndpointHealth } from "../chain/endpoint-health.ts";
import { inOrder } from "../chain/in-turn.ts";
import { joinRpcs } from "../chain/joined-rpc.ts";
import { type JsonRpc, RpcError } from "../chain/json-rpc.ts";
import { isOfCall } from "../chain/node-errors.ts";
import { UnusableChainError } from "../chain/unusable-chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { Logger } from "../ports/logger.ts";
import type { Snapshot, Snapshots } from "./pools/snapshots.ts";
import { WrongContractsError } from "./settlement/views.ts";
import { soon } from "./soon.ts";

/** What is asked of a network's chain, whichever endpoint answers. */
export interface ChainAccess {
  /** Single questions: each goes to the endpoint in use, and where that one does not answer to the next. */
  readonly rpc: JsonRpc;
  /** A snapshot is of one endpoint: all reads through it go there. */
  readonly snapshots: Snapshots;
}

/** Opens what is read of one endpoint. @param onTrouble is to be called when reads of a block failed for good */
export type OpenSnapshots = (rpc: JsonRpc, onTrouble: (error: RpcError) => void) => Snapshots;

/** So long an endpoint is waited for while there are others. */
const PATIENCE_MS = 5_000;
/** A newest block that is older is checked against those of the other endpoints, so often: a chain may be quiet. */
const OLD_MS = 30_000;
const COMPARE_EVERY_MS = 10_000;

/**
 * Several endpoints of one chain. The first that is well is used for everything, so that what is remembered of its
 * pools serves the next quote. One that had trouble is checked again in the background, and used again once that goes
 * well.
 */
export function joinEndpoints(
  rpcs: readonly JsonRpc[],
  open: OpenSnapshots,
  surroundings: { readonly clock: Clock; readonly logger: Logger },
): ChainAccess {
  const [only, ...more] = rpcs;
  if (only !== undefined && more.length === 0) return { rpc: only, snapshots: open(only, () => undefined) };
  const endpoints = rpcs.map((rpc) => createEndpoint(rpc, open, surroundings));
  const [first] = endpoints;
  if (first === undefined) throw new Error("a network needs at least one RPC endpoint");
  const choice: Choice = { endpoints, clock: surroundings.clock, inUse: first, comparedAtMs: undefined };
  let asking: Promise<Snapshot> | undefined;
  return {
    rpc: joinRpcs(endpoints, { host: () => choice.inUse.rpc.host, prove: (endpoint) => prove(choice, endpoint) }),
    snapshots: {
      current: () => {
        asking ??= currentOf(choice).finally(() => {
          asking = undefined;
        });
        return asking;
      },
      mode: () => choice.inUse.snapshots.mode(),
      stop: () => {
        for (const { snapshots } of endpoints) snapshots.stop();
      },
    },
  };
}

interface Choice {
  readonly endpoints: readonly Endpoint[];
  readonly clock: Clock;
  /** the one that gave the last snapshot */
  inUse: Endpoint;
  comparedAtMs: number | undefined;
}

interface Endpoint extends ChainAccess, EndpointHealth {}

function createEndpoint(
  rpc: JsonRpc,
  open: OpenSnapshots,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Endpoint {
  const health = createHealth(rpc.host, clock, {
    onTrouble: ({ message: error }) =>
      logger.warn({ rpcHost: rpc.host, error }, "an endpoint cannot be used now; the next one is asked before it"),
    onReturn: () => logger.info({ rpcHost: rpc.host }, "an endpoint can be used again"),
  });
  const snapshots = open(rpc, (error) => {
    if (!isOfCall(error)) health.distrust(error);
  });
  return { ...health, rpc, snapshots };
}

const isWell = (endpoint: Endpoint): boolean => endpoint.rank() === 0;

async function currentOf(choice: Choice): Promise<Snapshot> {
  for (const endpoint of choice.endpoints) if (endpoint.takeCheck()) void checkAgain(choice, endpoint);
  const failures: Error[] = [];
  for (const endpoint of inOrder(choice.endpoints)) {
    const snapshot = await snapshotOf(endpoint);
    if (snapshot instanceof Error) {
      failures.push(snapshot);
      continue;
    }
    endpoint.answered();
    choice.inUse = endpoint;
    return await newestOf(choice, snapshot);
  }
  // What an endpoint says of the chain tells more than the silence of another one.
  const isSaid = (failure: Error) => !(failure instanceof RpcError) || failure instanceof UnusableChainError;
  throw failures.find(isSaid) ?? failures[0];
}

/** An endpoint's snapshot, or why it has none; then the others are asked before it. @throws what is a fault of our own */
async function snapshotOf(endpoint: Endpoint): Promise<Snapshot | Error> {
  try {
    return await soon(endpoint.rpc.host, endpoint.snapshots.current(), PATIENCE_MS);
  } catch (error) {
    if (!(error instanceof RpcError || error instanceof WrongContractsError)) throw error;
    endpoint.distrust(error);
    return error;
  }
}

async function checkAgain({ inUse }: Choice, endpoint: Endpoint): Promise<void> {
  const [snapshot, other] = await Promise.all([snapshotOf(endpoint), snapshotOf(inUse)]);
  if (snapshot instanceof Error) return;
  if (other instanceof Error || snapshot.head.timestamp * 1_000 + OLD_MS >= other.head.timestamp * 1_000) {
    endpoint.answered();
  }
}

/** Where the newest block of the endpoint in use is old, the newest of all that are well. */
async function newestOf(choice: Choice, own: Snapshot): Promise<Snapshot> {
  const { clock, inUse, comparedAtMs = Number.NEGATIVE_INFINITY } = choice;
  const ageMs = clock.nowMs() - own.head.timestamp * 1_000;
  if (ageMs <= OLD_MS || clock.monotonicMs() - comparedAtMs < COMPARE_EVERY_MS) return own;
  choice.comparedAtMs = clock.monotonicMs();
  const others = choice.endpoints.filter((one) => one !== inUse && isWell(one));
  const seen = await Promise.all(others.map(async (endpoint) => ({ endpoint, snapshot: await snapshotOf(endpoint) })));
  let newest = own;
  for (const { endpoint, snapshot } of seen) {
    if (snapshot instanceof Error || snapshot.head.timestamp <= newest.head.timestamp) continue;
    newest = snapshot;
    choice.inUse = endpoint;
  }
  if (newest !== own) {
    const { number } = newest.head;
    inUse.distrust(new Error(`its newest block is ${own.head.number}, ${choice.inUse.rpc.host} has block ${number}`));
  }
  return newest;
}

/** One that was not just in use may serve another chain: its block and its contracts are checked before it is asked. */
async function prove(choice: Choice, endpoint: Endpoint): Promise<void> {
  if (endpoint === choice.inUse && isWell(endpoint)) return;
  const snapshot = await snapshotOf(endpoint);
  if (!(snapshot instanceof Error)) return;
  const { host } = endpoint.rpc;
  throw snapshot instanceof RpcError
    ? snapshot
    : new RpcError({ kind: "transport", host, message: `${host}: ${snapshot.message}` });
}
