import type { SimulationMethod } from "../domain/guard/simulation-method.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { FillReceipt } from "../domain/run/measure-fill.ts";
import type { AttemptRow, Visibility } from "./lane-store.ts";
import type { UnsignedTransaction } from "./signer.ts";

/** A block header; `timestamp` in Unix seconds, `baseFeePerGas` in wei. */
export interface BlockHead {
  readonly number: number;
  readonly hash: Hex;
  readonly timestamp: number;
  readonly baseFeePerGas: bigint;
}

/** An event of a contract, as a receipt carries it. */
export interface ChainLog {
  readonly address: Address;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly logIndex: number;
}

/** A node's statement that a transaction is in a block. Provisional until the block is final. */
export interface Receipt extends FillReceipt {
  /** whose key signed the transaction; absent: it is not said, or not known */
  readonly from?: Address;
  readonly logs: readonly ChainLog[];
}

/**
 * What a network charges for a transaction's data on top of its gas, in wei, at a block; undefined where it charges with gas.
 * @throws ChainReadError where the nodes do not answer, or the network does not say
 */
export type DataFee = (
  transaction: Omit<UnsignedTransaction, "chainId">,
  at: { readonly gasUsed: bigint; readonly block: number },
) => Promise<bigint | undefined>;

/** A transaction as its block lists it; `to` is undefined where it creates a contract. */
export interface BlockTransaction {
  readonly hash: Hex;
  readonly nonce: number;
  readonly to: Address | undefined;
  readonly data: Hex;
  readonly value: bigint;
  readonly gasLimit: bigint;
  /** undefined where it pays a plain gas price */
  readonly fees: { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint } | undefined;
  /** wei per gas, where it pays a plain gas price */
  readonly gasPrice?: bigint | undefined;
  /** its signed bytes, which have this hash and were signed by its sender; undefined where the node does not show them */
  readonly raw?: Hex | undefined;
}

/**
 * What a node said to a raw transaction. Only `accepted` and `known` say that it is in that node's pool; nothing here
 * proves that it is in no pool.
 */
export type BroadcastOutcome =
  | { readonly kind: "accepted" }
  | { readonly kind: "known" }
  | { readonly kind: "nonce-used" }
  | { readonly kind: "nonce-ahead" }
  | { readonly kind: "replacement-underpriced" }
  | { readonly kind: "fee-too-low" }
  | { readonly kind: "insufficient-funds" }
  | { readonly kind: "malformed"; readonly detail: string }
  | { readonly kind: "temporary"; readonly detail: string }
  | { readonly kind: "unknown"; readonly detail: string };

/** Bytes to send, and whom they may be shown to. */
export type AttemptBytes = Pick<AttemptRow, "raw" | "visibility">;

/** What a lane needs of a chain. Reads throw `ChainReadError` when the node does not answer properly. */
export interface LaneChain {
  readonly chainId: number;
  /** to whom new transactions are shown: private where there are endpoints for that */
  readonly visibility: Visibility;
  /** @param from where the first node that answers has no such block yet, the others are asked as well */
  latest(from?: number): Promise<BlockHead>;
  finalized(): Promise<BlockHead>;
  /** The canonical block at a height, undefined above the tip. */
  block(number: number): Promise<BlockHead | undefined>;
  /** How many transactions of this account are in blocks up to the given one. */
  transactionCount(address: Address, block: "latest" | number): Promise<number>;
  receipt(hash: Hex): Promise<Receipt | undefined>;
  /** What this account sent in a block; undefined when the node has no such block. */
  transactionsOf(address: Address, block: number): Promise<readonly BlockTransaction[] | undefined>;
  nativeBalance(address: Address): Promise<bigint>;
  /** Suggested priority fee in wei. */
  priorityFee(): Promise<bigint>;
  /**
   * Sends bytes to all endpoints of their class, and to no other one. Where there is none for private sending any more
   * they are sent to nobody.
   */
  broadcast(attempt: AttemptBytes): Promise<BroadcastOutcome>;
  /** Reads the chain through all endpoints at once. @throws ChainReadError when none answers */
  agreed(): Promise<AgreedReads>;
}

/**
 * Reads on which all endpoints that answer agree, for what frees money or halts an account: one node's answer is not
 * enough for that. An endpoint that is far behind the others counts as one that does not answer. Where two say
 * different things, neither is believed: `ChainReadError` with the code `disagreement`.
 */
export interface AgreedReads {
  /** the newest block that all of them have */
  readonly latest: BlockHead;
  /** The newest block that all of them call final, and which of them holds that back for long. */
  finalized(): Promise<BlockHead & { readonly heldBack?: string }>;
  transactionCount(address: Address, block: number): Promise<number>;
  receipt(hash: Hex): Promise<Receipt | undefined>;
  /** What this account sent in a block. */
  transactionsOf(address: Address, block: number): Promise<readonly BlockTransaction[]>;
}

/** The same for what the daemon reads besides what its lanes read. */
export interface AgreedChainReads extends AgreedReads, Pick<Chain, "allowance" | "balance" | "call" | "code" | "logs"> {
  /** Hosts of the configured endpoints that logs were read without so far: away, far behind, or they refused them. */
  unlistedBy(): readonly string[];
  /** The most that any of them shows of an allowance at a block; they need not agree. */
  highestAllowance(grant: { token: Address; owner: Address; spender: Address }, block: number): Promise<bigint>;
}

/**
 * What an account holds in a simulation whatever the chain says, in smallest units: `native` in wei, and tokens and their
 * spenders as far as they are named.
 */
export interface AssumedHoldings {
  readonly owner: Address;
  readonly native: bigint;
  readonly balances: readonly { readonly token: Address; readonly amount: bigint }[];
  readonly allowances: readonly { readonly token: Address; readonly spender: Address; readonly amount: bigint }[];
}

/** A call or transaction to simulate. */
export interface CallRequest {
  readonly from: Address;
  readonly to: Address;
  readonly data: Hex;
  readonly value: bigint;
}

/**
 * What a simulation that sees no logs asks about: balances of these tokens and of the native one at these accounts, and what
 * these spenders may take of them.
 */
export interface Watched {
  readonly accounts: readonly Address[];
  /** without the native one */
  readonly tokens: readonly Address[];
  readonly spenders: readonly Address[];
}

/** On which block calls are simulated, and what is assumed and watched there. */
export interface SimulationTerms {
  readonly on?: BlockHead;
  readonly watched?: Watched;
  readonly assumed?: AssumedHoldings;
  readonly seconds?: number;
}

/**
 * What calls that were simulated did with tokens; native moves are token zero. By `probe` a move is what an account has
 * more or less after a call, and its other side is the zero address; an approval is an allowance that rose.
 */
export type SimulationOutcome =
  | {
      readonly kind: "ok";
      readonly way: SimulationMethod;
      /** of all calls together */
      readonly gasUsed: bigint;
      /** in the order of the calls */
      readonly gasUsedByCall: readonly bigint[];
      readonly transfers: readonly { token: Address; from: Address; to: Address; amount: bigint }[];
      readonly approvals: readonly { token: Address; owner: Address; spender: Address; amount: bigint }[];
    }
  | { readonly kind: "reverted"; readonly way: SimulationMethod; readonly reason: string }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * What trading needs of an endpoint. A simulation method: to simulate like that, by today's rules. `finality`: to say
 * which block is final. `overrides`: to run calls with injected code. `logs`: to list events over the usual range of
 * blocks.
 */
export type Ability = SimulationMethod | "finality" | "overrides" | "logs";

/** What the probe of an ability showed; `unknown` where no proper answer came, which proves nothing. */
export interface AbilityFinding {
  readonly ability: Ability;
  readonly state: "able" | "lacking" | "unknown";
  readonly detail?: string;
}

/** What one endpoint can do. */
export interface EndpointReport {
  readonly host: string;
  readonly findings: readonly AbilityFinding[];
}

/** An endpoint for private sending; `problem` is why nothing can be sent to it now. */
export interface SubmitEndpoint {
  readonly host: string;
  readonly problem: string | undefined;
}

/** What the daemon reads of a chain, besides what its lanes read. */
export interface Chain extends LaneChain {
  /** Asks each endpoint for private sending for its chain id; there is nothing else that all of them answer. */
  submitEndpoints(): Promise<readonly SubmitEndpoint[]>;
  agreed(): Promise<AgreedChainReads>;
  /** Balance of a token (native: the zero address) at a block. */
  balance(token: Address, owner: Address, block?: number): Promise<bigint>;
  allowance(grant: { token: Address; owner: Address; spender: Address }, block?: number): Promise<bigint>;
  /** Decimals as the token says; undefined when it does not answer. */
  decimals(token: Address): Promise<number | undefined>;
  /** The code of an account, `0x` without any; default: at the newest block. */
  code(address: Address, block?: number): Promise<Hex>;
  /** A view call; undefined when it reverts. */
  call(request: { to: Address; data: Hex; from?: Address }, block?: number): Promise<Hex | undefined>;
  /** @param filter.address of one contract or of several; none named is every contract, and of an empty list there are no logs */
  logs(filter: {
    address?: Address | readonly Address[];
    topics: readonly (Hex | null)[];
    fromBlock: number;
    toBlock: number;
  }): Promise<readonly (ChainLog & { readonly transactionHash: Hex; readonly blockNumber: number })[]>;
  /**
   * Runs exactly these calls one after the other on top of a block, default: the latest one, in the best way that is
   * permitted and that some endpoint has proved to support.
   * @param about.watched what is watched where the way sees no logs; default: nothing
   * @param about.assumed what an account holds in it; default: what the chain says
   * @param about.seconds time of the block that it takes place in; default: now
   */
  simulate(calls: readonly CallRequest[], about?: SimulationTerms): Promise<SimulationOutcome>;
  /** Probes what each endpoint can do, in the configured order. From then on those that return are probed again. */
  abilities(): Promise<readonly EndpointReport[]>;
  /** Facts for building an EIP-2612 permit, undefined when the token has none that can be proved by its separator. */
  permitFacts(token: Address, owner: Address, block?: number): Promise<PermitFacts | undefined>;
  /** Whether the token takes permits of accounts that delegate to this one, which it may ask instead of the signature. */
  takesDelegatedPermit(request: {
    token: Address;
    delegate: Address;
    spender: Address;
    domain: PermitFacts["domain"];
  }): Promise<boolean>;
}

/** The proved EIP-712 domain of a token's permit and the owner's next nonce. */
export interface PermitFacts {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly nonce: bigint;
}
