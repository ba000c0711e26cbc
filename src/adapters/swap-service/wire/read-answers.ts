import type { ProposedTransaction, RouteLeg } from "../../../domain/guard/decoded-swap.ts";
import type { Hex } from "../../../domain/money/address.ts";
import type { LosslessJson } from "../../../net/parse-json.ts";
import type { Quote, ServiceSwapRecord } from "../../../ports/swap-service.ts";
import { readTypedData } from "../typed-data.ts";
import { asObject, createReader, toPlain, type WireProblem, type WireReader } from "../wire-reader.ts";

const HASH_LENGTH = 66;

/** Reads a quote in the names of either dialect. Fields that are not needed are ignored, and gas and block where they are unreadable. */
export function readQuote(json: LosslessJson, receivedAtMs: number): Quote | WireProblem {
  const reader = createReader(json, "quote");
  const id = reader.text("id", "quote-id");
  const amountOut = reader.amount("amountOut", "toTokenAmount");
  const targetAddress = reader.address("targetAddress");
  const typedData = readTypedData(reader, "typedData");
  const fees = readFees(reader.value("fees"));
  const gasLimit = createReader(reader.value("resourceEstimate"), "gas").amount("gasLimit");
  const blockNumber = createReader(json, "block").count("blockNumber");
  const priceImpact = reader.fraction("priceImpact");
  const expiresAtSeconds = reader.count("expiresAt");
  const problem = reader.problem();
  if (problem !== undefined) return { problem };
  if (id === undefined || id === "") return { problem: "quote.id is missing" };
  if (amountOut === undefined) return { problem: "quote.amountOut is missing" };
  if (targetAddress === undefined) return { problem: "quote.targetAddress is missing" };
  return {
    id,
    amountOut,
    targetAddress,
    typedData,
    fees,
    gasLimit,
    priceImpact,
    expiresAtSeconds,
    blockNumber,
    receivedAtMs,
  };
}

/** Reads a transaction. Of its gas and fees, on which nothing rests, only the gas limit is kept, where it can be read. */
export function readTransaction(json: LosslessJson): ProposedTransaction | WireProblem {
  const reader = createReader(json, "transaction");
  const from = reader.address("from");
  const to = reader.address("to");
  const data = reader.hex("data");
  const value = reader.amount("value");
  const chainId = reader.count("chainId");
  const gasLimit = createReader(json, "gas").amount("gasLimit");
  const problem = reader.problem();
  if (problem !== undefined) return { problem };
  if (to === undefined) return { problem: "transaction.to is missing" };
  if (data === undefined) return { problem: "transaction.data is missing" };
  if (value === undefined) return { problem: "transaction.value is missing" };
  if (chainId === undefined) return { problem: "transaction.chainId is missing" };
  return { from, to, data, value, chainId, gasLimit };
}

/** More hops than any route has; a longer list is no route. */
const MAX_LEGS = 100;
const MAX_UINT8 = 2n ** 8n - 1n;
const MAX_UINT24 = 2n ** 24n - 1n;
const MAX_UINT64 = 2n ** 64n - 1n;

/** Reads the route of a gasless quote. Its numbers must fit the contract's words, or nothing could be encoded of them. */
export function readRoute(json: LosslessJson): readonly RouteLeg[] | WireProblem {
  const list = createReader(json, "route").value("legs");
  if (!Array.isArray(list)) return { problem: "route.legs is missing" };
  if (list.length > MAX_LEGS) return { problem: `route.legs has ${list.length} entries, at most ${MAX_LEGS} are read` };
  const legs: RouteLeg[] = [];
  for (const [index, entry] of (list as readonly LosslessJson[]).entries()) {
    const leg = readLeg(entry, `route.legs[${index}]`);
    if ("problem" in leg) return leg;
    legs.push(leg);
  }
  return legs;
}

function readLeg(json: LosslessJson, place: string): RouteLeg | WireProblem {
  const reader = createReader(json, place);
  const [pool, tokenIn, tokenOut] = [reader.address("pool"), reader.address("tokenIn"), reader.address("tokenOut")];
  const [protocol, fee, portion] = [reader.amount("protocol"), reader.amount("fee"), reader.amount("portion")];
  const problem = reader.problem();
  if (problem !== undefined) return { problem };
  const isWhole = pool !== undefined && tokenIn !== undefined && tokenOut !== undefined;
  if (!isWhole || protocol === undefined || fee === undefined || portion === undefined) {
    return { problem: `${place} lacks pool, tokenIn, tokenOut, protocol, fee or portion` };
  }
  if (protocol > MAX_UINT8 || fee > MAX_UINT24 || portion > MAX_UINT64) {
    return { problem: `${place} has a protocol, fee or portion that the contract cannot read` };
  }
  return { protocol, pool, tokenIn, tokenOut, fee, portion };
}

/** Reads the service's record of a swap: a status, perhaps a hash, and everything else as it came. */
export function readSwapRecord(json: LosslessJson): ServiceSwapRecord | WireProblem {
  const reader = createReader(json, "swap");
  const status = reader.text("status");
  const hash = readHash(reader);
  const problem = reader.problem();
  if (problem !== undefined) return { problem };
  if (status === undefined) return { problem: "swap.status is missing" };
  return { status: status.toLowerCase(), hash, raw: toPlain(json) as Readonly<Record<string, unknown>> };
}

/** Reads the counts of swaps by status. */
export function readStatusCounts(json: LosslessJson): Readonly<Record<string, number>> | WireProblem {
  const reader = createReader(json, "status counts");
  const counts: Record<string, number> = {};
  for (const status of Object.keys(asObject(json) ?? {})) {
    const count = reader.count(status);
    if (count !== undefined) counts[status] = count;
  }
  const problem = reader.problem();
  return problem === undefined ? counts : { problem };
}

/** What the acceptance of a gasless swap names; what names nothing, or an error, is none, whatever its HTTP status. */
export function readAcceptance(
  json: LosslessJson,
): { serviceSwapId: string | undefined; hash: Hex | undefined; quoteId: string | undefined } | WireProblem {
  const reader = createReader(json, "answer");
  const serviceSwapId = reader.text("id", "swapId");
  const hash = readHash(reader);
  const quoteId = reader.text("quoteId", "quote-id");
  const problem = reader.problem();
  if (problem !== undefined) return { problem };
  const [status, error] = [reader.value("status"), reader.value("error")];
  if ((error ?? false) !== false || (typeof status === "string" && status.toLowerCase() === "error"))
    return { problem: "the answer is of a swap that failed" };
  if ((serviceSwapId ?? hash ?? quoteId) === undefined) return { problem: "the answer names no swap" };
  return { serviceSwapId, hash, quoteId };
}

/** An empty text stands for no hash. */
function readHash(reader: WireReader): Hex | undefined {
  const names = ["hash", "transactionHash"].filter((name) => reader.value(name) !== "");
  const hash = reader.hex(...names);
  return hash?.length === HASH_LENGTH ? hash : undefined;
}

/** Fees are shown, never trusted; an entry that is not a type with a value is left out. */
function readFees(json: LosslessJson | undefined): Quote["fees"] {
  if (!Array.isArray(json)) return [];
  return (json as readonly LosslessJson[]).flatMap((entry) => {
    const { type, value } = asObject(entry) ?? {};
    const text = value === undefined ? undefined : toPlain(value);
    return typeof type === "string" && typeof text === "string" ? [{ type, value: text }] : [];
  });
}
