import type { RpcError } from "./json-rpc.ts";

/**
 * What an answer of a node that is no result means.
 * - `reverted`: the node ran the call, and the contract refused or broke: every node says so
 * - `out-of-gas`: the call used more gas or memory than this node grants; a smaller one, or another node, may do
 * - `too-much`: more blocks, results or bytes than this node grants
 * - `not-available`: the method is missing, forbidden or broken at this endpoint; another one may have it
 * - `exhausted`: the plan's calls are used up until they are reset
 * - `slow-down`: too many calls at once
 * - `refused`: anything else that the node says of the request
 * - `no-answer`: no proper answer came
 */
export type NodeErrorClass =
  | "reverted"
  | "out-of-gas"
  | "too-much"
  | "not-available"
  | "exhausted"
  | "slow-down"
  | "refused"
  | "no-answer";

interface Row {
  readonly class: NodeErrorClass;
  /** JSON-RPC error codes */
  readonly codes?: readonly number[];
  /** HTTP statuses */
  readonly statuses?: readonly number[];
  readonly words?: RegExp;
}

/**
 * The only table of nodes' errors: the first row that matches counts. A revert stands first, because its words are the
 * contract's and may be anything. Words and codes of Geth, Reth, Erigon, Nethermind, Besu, Nitro, OpenEthereum, anvil and
 * of hosted endpoints.
 */
const TABLE: readonly Row[] = [
  { class: "reverted", codes: [3], words: /revert/i },
  { class: "out-of-gas", words: /out ?of ?gas|OOG\b|gas uint64 overflow|gas required exceeds/i },
  { class: "reverted", codes: [-32015], words: /VM execution error|EVM error|stack (underflow|overflow)/i },
  { class: "reverted", words: /(invalid|undefined|bad) (opcode|instruction|jump)|opcode \S+ not defined/i },
  { class: "exhausted", statuses: [402], codes: [402], words: /payment required|\bquota\b|used up|credits/i },
  { class: "exhausted", words: /\b(daily|monthly|per day|per month|plan) .*(limit|count|capacity|requests|exceeded)/i },
  {
    class: "slow-down",
    statuses: [429],
    codes: [429],
    words: /rate.?limit|too many requests|(request )?rate exceeded/i,
  },
  { class: "slow-down", words: /per second|throughput|capacity exceeded/i },
  { class: "not-available", statuses: [403, 404, 405], codes: [-32601, -32004, -32075] },
  { class: "not-available", words: /method .*(not|n't|un)[ -]?(found|supported|available|exist|allowed|enabled)/i },
  { class: "not-available", words: /method .*(disabled|forbidden|restricted|blocked|whitelist)|handler crashed/i },
  { class: "not-available", words: /(unsupported|unknown|disabled|forbidden) method|access denied|forbidden/i },
  { class: "refused", words: /insufficient funds|nonce too|fee cap|max fee per gas|intrinsic gas/i },
  { class: "too-much", statuses: [413], codes: [-32005, -32062, -32614, -38026] },
  { class: "too-much", words: /gas|too (large|many|big|wide)|limit|exceed|size|more than|block range|query timeout/i },
];

/** What an HTTP error without a proper answer may still say of the endpoint itself; of the request it says nothing. */
const OF_ENDPOINT: ReadonlySet<NodeErrorClass> = new Set(["exhausted", "slow-down", "not-available"]);

/** What the error means, by the table. */
export function classOf(error: RpcError): NodeErrorClass {
  const { code, status, nodeMessage = "" } = error;
  const isMet = ({ codes = [], statuses = [], words }: Row): boolean =>
    (code !== undefined && codes.includes(code)) ||
    (status !== undefined && statuses.includes(status)) ||
    words?.test(nodeMessage) === true;
  const found = TABLE.find(isMet)?.class;
  if (error.kind === "rpc") return found ?? "refused";
  const isRefusal = status !== undefined && status >= 400 && status < 500;
  if (isRefusal && found !== undefined && OF_ENDPOINT.has(found)) return found;
  return status === 413 ? "too-much" : "no-answer";
}

/** Whether the contract that was called refused or broke: the only error that every node would give. */
export function isRevert(error: RpcError): boolean {
  return classOf(error) === "reverted";
}

/** Whether a call that travelled alone failed by its own doing: it reverted, or used up what it was given. */
export function isFailedCall(error: RpcError): boolean {
  const kind = classOf(error);
  return kind === "reverted" || kind === "out-of-gas";
}

/** Whether less at once may do where this did not. */
export function isTooMuch(error: RpcError): boolean {
  const kind = classOf(error);
  return kind === "out-of-gas" || kind === "too-much";
}
