import type { LosslessJson } from "../../../net/parse-json.ts";
import type { CallPriority } from "../../../ports/rate-limiter.ts";
import type {
  ServiceProfile,
  ServiceRefusal,
  Submission,
  SubmissionOutcome,
  SwapService,
} from "../../../ports/swap-service.ts";
import {
  createServiceCalls,
  NOT_SENT,
  readAnswer,
  type ServiceCallDependencies,
  type ServiceCalls,
} from "../service-calls.ts";
import type { ServiceOptions } from "../service-kind.ts";
import { canonicalJson, isProblem, type WireProblem } from "../wire-reader.ts";
import { type Dialect, quoteIdQuery, quoteQuery } from "./dialect.ts";
import {
  readAcceptance,
  readQuote,
  readRoute,
  readStatusCounts,
  readSwapRecord,
  readTransaction,
} from "./read-answers.ts";

/** What differs between the services that speak the service interface. */
export interface WireService {
  readonly profile: ServiceProfile;
  /** names that are sent; default: those of working clients on the wire */
  readonly dialect?: Dialect;
  /** it takes how long a quote may take, and answers with the best that it has by then */
  readonly takesTimeLimit: boolean;
  /** it finds the record of a swap by exactly one name, and refuses two */
  readonly recordsByQuoteAlone: boolean;
}

/** What a service takes as the time for a quote; a tenth of ours is for the way. */
const SERVICE_TIMEOUT_MS = { least: 10, most: 30_000 };
const SERVICE_SHARE = 0.9;

/** Creates the client of a service that speaks the service interface over HTTP. */
export function createWireClient(
  { profile, dialect = "wire", takesTimeLimit, recordsByQuoteAlone }: WireService,
  options: ServiceOptions,
  dependencies: ServiceCallDependencies,
): SwapService {
  const { network } = options;
  const calls = createServiceCalls(options, dependencies);
  const read = createRead(calls);
  return {
    profile,
    quote: (request) => {
      const query = quoteQuery(request, network, dialect);
      // Shortly before we hang up the best route so far, or the reason why there is none, is better than nothing.
      if (takesTimeLimit) query.set("timeoutMs", String(serviceTimeoutMs(options.timeoutMs)));
      return read("/aggregator/quote", query, "quote", (json) => readQuote(json, dependencies.clock.nowMs()));
    },
    transaction: (quoteId) => {
      const query = quoteIdQuery(quoteId, "quoteId");
      // Our own simulation measures the gas; an estimate of the service would fail before the approval.
      query.set("estimateGas", "false");
      return read("/aggregator/transaction", query, "quote", readTransaction);
    },
    orderRoute: (quoteId) => read("/aggregator/transaction", quoteIdQuery(quoteId, "quoteId"), "quote", readRoute),
    executeSwap: (submission, heldBack) => executeSwap(calls, { network, submission, heldBack }),
    swapRecord: ({ quoteId, hash }) => {
      const query = new URLSearchParams({ networkName: network, quoteId });
      if (hash !== undefined && !recordsByQuoteAlone) query.set("hash", hash);
      return read("/user-manager/swap", query, "status", readSwapRecord);
    },
    statusCounts: (wallet) => {
      const query = new URLSearchParams({ walletAddress: wallet, networkName: network });
      return read("/user-manager/status-counts", query, "background", readStatusCounts);
    },
    distributions: (quoteId) => {
      const query = quoteIdQuery(quoteId, dialect === "wire" ? "quoteId" : "quote-id");
      return read("/aggregator/distributions", query, "background", canonicalJson);
    },
  };
}

function serviceTimeoutMs(timeoutMs: number): number {
  const { least, most } = SERVICE_TIMEOUT_MS;
  return Math.min(Math.max(Math.floor(timeoutMs * SERVICE_SHARE), least), most);
}

function createRead(calls: ServiceCalls) {
  return async function read<T>(
    path: string,
    query: URLSearchParams,
    priority: CallPriority,
    parse: (json: LosslessJson) => T | WireProblem,
  ): Promise<T | ServiceRefusal> {
    return readAnswer(calls, await calls.get(path, query, priority), parse);
  };
}

/**
 * Hands a gasless swap over, once. Only a 2xx with a proper body, for this quote, is an acceptance. Everything else is
 * `unknown`, a clear refusal too: a holder of the signatures can still use them.
 */
async function executeSwap(
  calls: ServiceCalls,
  sent: { network: string; submission: Submission; heldBack: () => Promise<string | undefined> },
): Promise<SubmissionOutcome> {
  const { network, submission, heldBack } = sent;
  const body = {
    networkName: network,
    quoteId: submission.quoteId,
    swapSignature: submission.swapSignature,
    ...(submission.permitSignature === undefined ? {} : { permitSignature: submission.permitSignature }),
    ...(submission.permitDeadlineSeconds === undefined ? {} : { permitDeadline: submission.permitDeadlineSeconds }),
  };
  const answer = await calls.post("/user-manager/execute-swap", body, heldBack);
  if (answer.kind === "refused") {
    // With a status it is a word of the service, whatever its code.
    const isHeldBack = answer.code === NOT_SENT && answer.status === undefined;
    if (isHeldBack) return { kind: "not-sent", detail: answer.message };
    return { kind: "unknown", detail: `${answer.code}: ${answer.message}` };
  }
  const acceptance = readAcceptance(answer.json);
  if (isProblem(acceptance)) return { kind: "unknown", detail: calls.presentable(acceptance.problem) };
  if (acceptance.quoteId !== undefined && acceptance.quoteId !== submission.quoteId) {
    return { kind: "unknown", detail: "the answer is about another quote" };
  }
  return { kind: "accepted", serviceSwapId: acceptance.serviceSwapId, hash: acceptance.hash };
}
