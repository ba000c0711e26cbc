import type { Address, Hex } from "../domain/money/address.ts";
import type { TipRule } from "../domain/money/tip.ts";
import type { DataFeeKind } from "./data-fees/data-fees.ts";
import type { Protocol } from "./pools/pool.ts";

/** Decimals of every network's native token. */
export const NATIVE_DECIMALS = 18;

/** A price feed with Chainlink's interface, in US dollars. */
export interface DollarFeed {
  readonly address: Address;
  /** an older price is not reported */
  readonly maxAgeSeconds: number;
}

/** A token that the operator vouches for. */
export interface ListedToken {
  readonly address: Address;
  readonly feed: DollarFeed | undefined;
}

/** How the relayer works; its key comes as a signer. */
export interface RelayerOptions {
  /** wei; what the relayer holds on top of the gas of accepted swaps, or it takes no more */
  readonly minimumNativeBalance: bigint;
  /** parts per million that a swap fee must be worth more than the gas of its swap */
  readonly feeMarginPpm: bigint;
  /** wei that gas may cost in 24 hours beyond what swap fees repaid */
  readonly maxDailyLoss: bigint;
  /** wei that gas may cost in 24 hours, whatever swap fees repaid */
  readonly maxDailyGas: bigint;
  /** how its lane tips, which swap fees have to repay */
  readonly tips: TipRule;
  /** blocks without it after which a transaction is replaced with a higher fee */
  readonly bumpAfterBlocks: number;
  readonly rebroadcastAfterBlocks: number;
  readonly maxReplacements: number;
  readonly maxCancellations: number;
  /** blocks after a private cancellation was first sent, until one is shown to everybody */
  readonly cancelPubliclyAfterBlocks: number;
  /** gas limit of the empty transactions that take a nonce */
  readonly emptyGasLimit: bigint;
  /** how long after a swap's deadline its transaction is cancelled */
  readonly cancelMarginSeconds: number;
}

/**
 * A router that stands for everybody: Uniswap's SwapRouter02, PancakeSwap's SmartRouter, which takes the same calls, or
 * Slipstream's or Solidly's.
 */
export interface PublicRouter {
  readonly address: Address;
  /** keccak-256 of its code; undefined: nobody has stated it */
  readonly codeHash: Hex | undefined;
}

/** A network as it is served. */
export interface NetworkOptions {
  /** lower-case name, as requests give it */
  readonly name: string;
  readonly chainId: number;
  /** at least one, in the order of preference; secrets: providers put keys into them */
  readonly rpcUrls: readonly string[];
  readonly nativeSymbol: string;
  readonly wrappedNative: Address;
  /** what lists of tokens and balances show, the native token under the zero address; others are found by address */
  readonly listedTokens: readonly ListedToken[];
  /** tokens that a path may go through */
  readonly hubTokens: readonly Address[];
  /** our contract that owners approve; undefined: the public router takes its place, for self-executed swaps */
  readonly settlement: Address | undefined;
  /** where swaps settle that owners execute themselves, if there is no settlement; absent as well: quotes are indicative */
  readonly router?: PublicRouter | undefined;
  /** further ones, each of pools of its own: a swap goes through the one that brings most; those that fail a check stay out */
  readonly furtherRouters?: readonly PublicRouter[];
  /** the settlement's executor, where it is known beforehand; undefined: the settlement is asked, which never changes it */
  readonly executor: Address | undefined;
  /** where the settlement cannot be: why */
  readonly noSettlement?: string;
  /** in the order of the executor's own list */
  readonly protocols: readonly Protocol[];
  /** fee tiers to search for where a factory has several, in parts per million */
  readonly feeTiers: readonly number[];
  /** how the network charges for a transaction's data; absent: with its gas alone */
  readonly dataFee?: DataFeeKind | undefined;
  /** blocks on top of a swap's own before it counts as done */
  readonly confirmations: number;
  /** absent: no gasless swaps on this network */
  readonly relayer?: RelayerOptions;
}

/** A network with a settlement contract of ours: it takes signed orders, affiliates and routes of any shape. */
export interface SettledNetwork extends NetworkOptions {
  readonly settlement: Address;
}

export function isSettled(network: NetworkOptions): network is SettledNetwork {
  return network.settlement !== undefined;
}

/** The contract that owners approve and call; undefined: nothing can be executed there. */
export function spenderOf(
  { settlement, router }: Pick<NetworkOptions, "settlement" | "router">,
  /** the router of the route, where there are several */
  routed?: Address,
): Address | undefined {
  return settlement ?? routed ?? router?.address;
}

/** All contracts that owners may approve and call. */
export function spendersOf({ furtherRouters = [], ...network }: NetworkOptions): readonly Address[] {
  const first = spenderOf(network);
  if (first === undefined) return [];
  return isSettled(network) ? [first] : [first, ...furtherRouters.map(({ address }) => address)];
}

export interface ServiceOptions {
  /** port 0 takes a free one */
  readonly listen: { readonly host: string; readonly port: number };
  /** at least one; each with a name and a chain of its own */
  readonly networks: readonly NetworkOptions[];
  /** how long a quote may be used */
  readonly quoteLifetimeSeconds: number;
  /** how long swap and permit signatures hold, from the quote on; not shorter than the quote's lifetime */
  readonly permitLifetimeSeconds: number;
  /** requests per second and caller */
  readonly limits: { readonly keyless: number; readonly keyed: number };
  /** besides those that the database holds */
  readonly apiKeys: readonly string[];
  /** addresses and networks whose `X-Forwarded-For` is believed; absent: none */
  readonly trustedProxies?: readonly string[];
  /** origins of web pages that may read answers, "*" for all; absent: none */
  readonly corsOrigins?: readonly string[];
  /** where metrics are served; absent: nowhere */
  readonly metrics?: { readonly host: string; readonly port: number };
  /** how long a stop waits for the requests in work; absent: 8 s */
  readonly drainMs?: number;
  /** path of the service's own SQLite file, for all networks */
  readonly database: string;
}
