import { keccak256 } from "ethers";
import { ChainReadError } from "../domain/chain-read-error.ts";
import { DEFAULT_SIMULATION_METHODS, type SimulationMethod } from "../domain/guard/simulation-method.ts";
import { type TipRule, tipOf } from "../domain/money/tip.ts";
import type { BoundedFetch } from "../net/bounded-fetch.ts";
import type { Secret } from "../net/secret.ts";
import type { BlockHead, Chain, EndpointReport, SubmitEndpoint, Watched } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import { createAbilityProbes } from "./ability-probes.ts";
import { agreedReads } from "./agreed-reads.ts";
import { DEFAULT_LOG_BLOCKS, type ReadOptions, readsOver } from "./chain-reads.ts";
import { classifyBroadcast, combineBroadcasts } from "./classify-broadcast.ts";
import type { DataFeeKind } from "./data-fee.ts";
import { takesDelegatedPermit } from "./delegated-permit.ts";
import type { Endpoint } from "./endpoint.ts";
import { RpcError } from "./json-rpc.ts";
import { readPermitFacts } from "./permit-facts.ts";
import { toQuantity } from "./quantity.ts";
import { createRpcPool, type RpcPool } from "./rpc-pool.ts";
import { lendHoldings } from "./simulation/assumed-state.ts";
import type { SimulationRun } from "./simulation/method.ts";
import { createSimulator } from "./simulation/simulator.ts";
import { createTokenStorage } from "./storage/token-storage.ts";

export interface ChainOptions extends ReadOptions {
  /** what is paid on top of the base fee; default: what nodes suggest */
  readonly tips?: TipRule;
  /** in the order in which they are asked */
  readonly rpcUrls: readonly Secret[];
  /** endpoints that transactions are sent to without showing them to everybody, and that nothing is read from */
  readonly submitUrls?: readonly Secret[];
  readonly chainId: number;
  /** for one request; default 10 s */
  readonly timeoutMs?: number;
  /** of one answer; default 16 MiB */
  readonly maxBytes?: number;
  /** how the network charges for a transaction's data */
  readonly dataFee?: DataFeeKind;
  /** how transactions may be simulated; default: in a way that shows every transfer and allowance */
  readonly trialWays?: readonly SimulationMethod[] | undefined;
}

const AS_SUGGESTED: TipRule = { urgency: "normal", maxPriorityFee: undefined };

export interface ChainDeps {
  readonly clock: Clock;
  /** default: over HTTP */
  readonly fetch?: BoundedFetch | undefined;
  /** called with what the endpoints can do, after each probe */
  readonly onAbilities?: ((reports: readonly EndpointReport[]) => Promise<void>) | undefined;
  /** called with faults of our own in background work */
  readonly onFault?: ((error: unknown) => void) | undefined;
}

const NOBODY = "it was private, and there is no endpoint for private sending any more: it was sent to nobody";
const NOTHING_WATCHED: Watched = { accounts: [], tokens: [], spenders: [] };
const DEFAULT_TIMEOUT_MS = 10_000;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/**
 * Creates the chain over one or more RPC endpoints. Reads fall over to the next endpoint, raw transactions go to all of
 * their class, and each endpoint's chain id is checked. No read is cached, and none is tried again on the same endpoint but what
 * a batch of many left open.
 */
export function createChain(options: ChainOptions, deps: ChainDeps): Chain {
  const { clock, fetch } = deps;
  const terms = {
    chainId: options.chainId,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: options.maxBytes ?? DEFAULT_MAX_BYTES,
    fetch,
  };
  const { submitUrls = [] } = options;
  const submitPool = submitUrls.length === 0 ? undefined : createRpcPool({ ...terms, urls: submitUrls }, clock);
  const pool = createRpcPool(
    {
      ...terms,
      urls: options.rpcUrls,
      onReturn: (endpoint) => {
        simulator.forget(endpoint);
        probes.returned(endpoint);
      },
    },
    clock,
  );
  const probes = createAbilityProbes(
    pool.endpoints,
    { ...options, maxLogBlocks: options.maxLogBlocks ?? DEFAULT_LOG_BLOCKS },
    {
      monotonicMs: clock.monotonicMs,
      onReports: async (reports) => {
        for (const [index, report] of reports.entries()) simulator.note(index, report);
        await deps.onAbilities?.(reports);
      },
      onFault: (error) => deps.onFault?.(error),
    },
  );
  const simulator = createSimulator({
    ...{ pool, monotonicMs: clock.monotonicMs, onNone: probes.again },
    ways: options.trialWays ?? DEFAULT_SIMULATION_METHODS,
    addsDataGas: options.dataFee === "arbitrum",
  });
  const storage = createTokenStorage(clock);
  const reads = readsOver(pool, options);
  const nowSeconds = () => Math.floor(clock.nowMs() / 1_000);
  return {
    ...reads,
    priorityFee: async () => tipOf(options.tips ?? AS_SUGGESTED, await reads.priorityFee()),
    chainId: options.chainId,
    visibility: submitPool === undefined ? "public" : "private",
    submitEndpoints: async () => (submitPool === undefined ? [] : await reachOf(submitPool)),
    abilities: probes.all,
    agreed: () => agreedReads(pool, options, nowSeconds()),
    async broadcast({ raw, visibility }) {
      const hash = keccak256(raw);
      const endpoints = visibility === "private" ? submitPool : pool;
      if (endpoints === undefined) return { kind: "unknown", detail: NOBODY };
      const answers = await endpoints.sendToAll("eth_sendRawTransaction", [raw]);
      return combineBroadcasts(answers.map((answer) => classifyBroadcast(answer, hash)));
    },
    simulate: async (calls, about = {}) => {
      const { on = await reads.latest(), watched = NOTHING_WATCHED, assumed, seconds = nowSeconds() } = about;
      const at = blockAfter(on, seconds);
      if (assumed === undefined) return simulator.run({ calls, watched, lent: {}, ...at });
      const lending = await lendHoldings({ pool, storage }, assumed, toQuantity(on.number));
      if (lending.kind === "unavailable") return lending;
      return simulator.run({ calls, watched, lent: lending.lent, ...at });
    },
    takesDelegatedPermit: (request) => takesDelegatedPermit(pool, request),
    permitFacts: (token, owner, block) =>
      readPermitFacts({ token, owner, chainId: options.chainId }, (data) => reads.call({ to: token, data }, block)),
  };
}

async function reachOf({ endpoints }: RpcPool): Promise<readonly SubmitEndpoint[]> {
  const reach = async ({ host, askNow }: Endpoint): Promise<SubmitEndpoint> => {
    try {
      await askNow("eth_chainId", []);
      return { host, problem: undefined };
    } catch (error) {
      if (!(error instanceof RpcError || error instanceof ChainReadError)) throw error;
      return { host, problem: error.message };
    }
  };
  return await Promise.all(endpoints.map(reach));
}

/** Height and time of the block that is simulated in are stated, because nodes differ in what they assume. */
function blockAfter(head: BlockHead, nowSeconds: number): Pick<SimulationRun, "block" | "next"> {
  const time = Math.max(head.timestamp + 1, nowSeconds);
  return { block: toQuantity(head.number), next: { number: toQuantity(head.number + 1), time: toQuantity(time) } };
}
