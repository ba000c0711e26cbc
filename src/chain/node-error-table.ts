import type { BroadcastOutcome } from "../ports/chain.ts";

/**
 * What an answer of a node that is no result means for a read.
 * - `reverted`: the node ran the call, and the contract refused or broke: every node says so
 * - `out-of-gas`: the call used more gas or memory than this node grants; a smaller one, or another node, may do
 * - `too-much`: more blocks, results or bytes than this node grants
 * - `not-available`: the method is missing, forbidden or broken at this endpoint; another one may have it
 * - `exhausted`: the plan's calls are used up until they are reset
 * - `slow-down`: too many calls at once
 * - `no-block`: this node does not have the block: it lags, or the block was replaced
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
  | "no-block"
  | "refused"
  | "no-answer";

/** A form of error, how it is reported, and what it means for whom. */
export interface NodeErrorRow {
  /** what happened there */
  readonly form: string;
  /** JSON-RPC error codes */
  readonly codes?: readonly number[];
  /** the numbers that one provider gives with the code */
  readonly events?: readonly number[];
  /** HTTP statuses */
  readonly statuses?: readonly number[];
  readonly words?: RegExp;
  readonly read: Exclude<NodeErrorClass, "no-answer">;
  /** of a call that travelled alone: it failed by its own doing, or was not run */
  readonly call: "failed" | "not run";
  /** of a raw transaction; `unknown` where it may be in that node's pool */
  readonly broadcast: Exclude<BroadcastOutcome["kind"], "accepted">;
}

/** A contract's own doing. Its words may be anything, also those of a node that knows a transaction. */
const OF_CONTRACTS: readonly NodeErrorRow[] = [
  { form: "reverted", codes: [3], words: /revert/i, read: "reverted", call: "failed", broadcast: "unknown" },
  {
    form: "used all gas",
    words: /out ?of ?gas|OOG\b|gas uint64 overflow|gas required exceeds/i,
    ...{ read: "out-of-gas", call: "failed", broadcast: "unknown" },
  },
  {
    form: "broke in the machine",
    codes: [-32015],
    words: /VM execution error|EVM error|stack (underflow|overflow)/i,
    ...{ read: "reverted", call: "failed", broadcast: "unknown" },
  },
  {
    form: "ran what is no code",
    words: /(invalid|undefined|bad) (opcode|instruction|jump)|opcode \S+ not defined/i,
    ...{ read: "reverted", call: "failed", broadcast: "unknown" },
  },
];

/** What a gateway says before any node hears of the request. */
const OF_ENDPOINTS: readonly NodeErrorRow[] = [
  {
    form: "plan used up",
    statuses: [402],
    codes: [402],
    events: [-33_000, -33_300],
    words: /payment required|\bquota\b|used up|credits/i,
    ...{ read: "exhausted", call: "not run", broadcast: "temporary" },
  },
  {
    form: "day or month used up",
    words: /\b(daily|monthly|per day|per month|plan) .*(limit|count|capacity|requests|exceeded)/i,
    ...{ read: "exhausted", call: "not run", broadcast: "temporary" },
  },
  {
    form: "too many requests",
    statuses: [429],
    codes: [429, -32_017],
    words: /rate.?limit|too many requests|(request )?rate exceeded/i,
    ...{ read: "slow-down", call: "not run", broadcast: "temporary" },
  },
  {
    form: "too much a second",
    words: /per second|throughput|capacity exceeded/i,
    ...{ read: "slow-down", call: "not run", broadcast: "temporary" },
  },
  {
    form: "no such method here",
    statuses: [403, 404, 405],
    codes: [-32601, -32004, -32075],
    ...{ read: "not-available", call: "not run", broadcast: "unknown" },
  },
  {
    form: "method is missing",
    words: /method .*(not|n't|un)[ -]?(found|supported|available|exist|allowed|enabled)/i,
    ...{ read: "not-available", call: "not run", broadcast: "unknown" },
  },
  {
    form: "method is forbidden or broken",
    words: /method .*(disabled|forbidden|restricted|blocked|whitelist)|handler crashed/i,
    ...{ read: "not-available", call: "not run", broadcast: "unknown" },
  },
  {
    form: "no access",
    words: /(unsupported|unknown|disabled|forbidden) method|access denied|forbidden/i,
    ...{ read: "not-available", call: "not run", broadcast: "unknown" },
  },
  {
    form: "no state so old",
    codes: [-32_061],
    ...{ read: "refused", call: "not run", broadcast: "unknown" },
  },
];

/** A node that stands behind the same address may have had the block a moment ago, and another one may have it. */
const OF_BLOCKS: readonly NodeErrorRow[] = [
  {
    form: "no such block here",
    words: /(header|block)( for hash| #?\w+)? not found|unknown block|BlockOutOfRange/i,
    ...{ read: "no-block", call: "not run", broadcast: "unknown" },
  },
  {
    form: "block was replaced",
    words: /not (currently )?canonical/i,
    ...{ read: "no-block", call: "not run", broadcast: "unknown" },
  },
  {
    form: "block still to come here",
    words: /unfinalized data|after last accepted block|beyond current head/i,
    ...{ read: "no-block", call: "not run", broadcast: "unknown" },
  },
];

/** What nodes say of a transaction, or of a call that is made out like one. */
const OF_TRANSACTIONS: readonly NodeErrorRow[] = [
  {
    form: "known",
    // "unknown transaction" must not count as known.
    words: /already known|AlreadyKnown|(?<!un)known transaction/i,
    ...{ read: "refused", call: "not run", broadcast: "known" },
  },
  {
    form: "imported",
    words: /same hash was already imported|transaction already imported|already exists in cache/i,
    ...{ read: "refused", call: "not run", broadcast: "known" },
  },
  {
    // Another transaction holds this nonce in that pool. It may be an older attempt of ours, or a stranger's.
    form: "nonce taken in the pool",
    words: /replacement transaction underpriced|OwnNonceAlreadyUsed/i,
    ...{ read: "refused", call: "not run", broadcast: "replacement-underpriced" },
  },
  {
    form: "nonce taken, not to be replaced",
    words: /another tx which has the same nonce|ReplacementNotAllowed/i,
    ...{ read: "refused", call: "not run", broadcast: "replacement-underpriced" },
  },
  {
    form: "nonce used",
    codes: [-38_010],
    words: /nonce too low|OldNonce|invalid transaction nonce|Pool\(Stale\)/i,
    ...{ read: "refused", call: "not run", broadcast: "nonce-used" },
  },
  {
    form: "nonce ahead",
    codes: [-38_011],
    words: /nonce too high|NonceGap|future nonce|allowed nonce range/i,
    ...{ read: "refused", call: "not run", broadcast: "nonce-ahead" },
  },
  {
    form: "fee too low",
    words: /transaction underpriced|gas price below minimum|FeeTooLow|gas price too low/i,
    ...{ read: "refused", call: "not run", broadcast: "fee-too-low" },
  },
  {
    form: "fee below the base fee",
    codes: [-38_012],
    words: /less than block base fee|pubdata price too high/i,
    ...{ read: "refused", call: "not run", broadcast: "fee-too-low" },
  },
  {
    // One node's own ceiling: others may have accepted.
    form: "fee above the node's ceiling",
    words: /exceeds the configured cap/i,
    ...{ read: "refused", call: "not run", broadcast: "unknown" },
  },
  {
    form: "too little money",
    codes: [-38_014],
    words: /insufficient funds|InsufficientFunds|not enough funds|upfront cost exceeds account balance/i,
    ...{ read: "refused", call: "not run", broadcast: "insufficient-funds" },
  },
  {
    form: "more gas than a block has",
    codes: [-38_015],
    words: /exceeds block gas limit|exceeds maximum per-transaction gas/i,
    ...{ read: "too-much", call: "not run", broadcast: "malformed" },
  },
  {
    form: "gas below the least",
    codes: [-38_013],
    words: /intrinsic gas/i,
    ...{ read: "refused", call: "not run", broadcast: "malformed" },
  },
  {
    form: "no such sender or chain",
    codes: [-38_024, -38_025],
    words: /invalid sender|invalid chain id|address already reserved|account limit exceeded/i,
    ...{ read: "refused", call: "not run", broadcast: "malformed" },
  },
  {
    form: "not to be read",
    words: /invalid signature|transaction type not supported|failed to decode|rlp:/i,
    ...{ read: "refused", call: "not run", broadcast: "malformed" },
  },
  {
    form: "tip above the fee",
    words: /priority fee.* higher than max fee/i,
    ...{ read: "refused", call: "not run", broadcast: "malformed" },
  },
  {
    form: "pool is full",
    words: /txpool is full|pool full|queue full|try again|in-flight transaction limit/i,
    ...{ read: "refused", call: "not run", broadcast: "temporary" },
  },
  {
    form: "sent, and not seen mined",
    codes: [4],
    ...{ read: "refused", call: "not run", broadcast: "unknown" },
  },
  {
    form: "fee out of its range",
    words: /fee cap|max fee per gas/i,
    ...{ read: "refused", call: "not run", broadcast: "unknown" },
  },
];

/** What was asked for is more than this node gives at once. */
const OF_SIZES: readonly NodeErrorRow[] = [
  {
    form: "beyond a limit",
    statuses: [413],
    codes: [-32005, -32062, -32614, -38026],
    ...{ read: "too-much", call: "not run", broadcast: "unknown" },
  },
  {
    form: "larger than the node likes",
    words: /gas|too (large|many|big|wide)|limit|exceed|size|more than|block range|query timeout/i,
    ...{ read: "too-much", call: "not run", broadcast: "unknown" },
  },
];

/**
 * The only table of nodes' errors: the first row that matches counts, and what none knows is `refused`, not run and
 * `unknown`. Words and codes of Geth, Reth, Erigon, Nethermind, Besu, Nitro, OpenEthereum, anvil, of the clients of
 * Arbitrum, zkSync and Sei, and of hosted endpoints.
 */
export const NODE_ERRORS: readonly NodeErrorRow[] = [
  ...OF_CONTRACTS,
  ...OF_ENDPOINTS,
  ...OF_BLOCKS,
  ...OF_TRANSACTIONS,
  ...OF_SIZES,
];
