import { type Address, type Hex, toAddress } from "../domain/money/address.ts";

/** A price feed in US dollars with Chainlink's interface. Older than heartbeat plus margin, its price is stale. */
export interface PriceFeed {
  readonly address: Address;
  /** the longest time between two updates while the price stands still, in seconds */
  readonly heartbeatSeconds: number;
  readonly marginSeconds: number;
}

/** A token that routes may pass through. */
export interface TokenFacts {
  readonly address: Address;
  readonly decimals: number;
  /** undefined: no feed has its price, so nothing is decided by it */
  readonly feed: PriceFeed | undefined;
  /** of a token that a bridge made: the symbol of the issuer's own one on the same network */
  readonly twinOf?: string;
}

/** Where pools of a kind are made. */
export interface FactoryFacts {
  /**
   * the number of their kind in `src/service/pools`: 1 is Uniswap V2, 2 Uniswap V3, 4 PancakeSwap V3, 5 PancakeSwap V2,
   * 6 Uniswap V4, 7 Slipstream, 8 Solidly
   */
  readonly kind: number;
  /** of Uniswap V4 the pool manager */
  readonly factory: Address;
  /** the fee of all its pools in parts per million; 0 where each pool has its own */
  readonly feePips: number;
  /**
   * keccak-256 of the code by which it creates its pools at addresses that can be computed (EIP-1014); undefined: it is
   * not known, or addresses are made otherwise there, and the factory is asked for each pool
   */
  readonly initCodeHash?: Hex | undefined;
}

/**
 * Who sees a transaction that is sent to an RPC endpoint of the network before it is in a block: everybody; everybody,
 * unless it is sent to one of the relays; the network's sequencer alone.
 */
export type SendingFacts = "public-mempool" | "private-relay" | "private-sequencer";

/** An endpoint that takes a transaction without a key and without showing it to everybody, and what is said of it. */
export interface RelayFacts {
  readonly name: string;
  readonly url: string;
  readonly says: string;
}

/** How a network's fees are met where the configuration says nothing of it. */
export interface FeeFacts {
  /** the most that is paid on top of the base fee, wei per gas, whatever nodes suggest; undefined: what they suggest */
  readonly maxPriorityFee: bigint | undefined;
  /** blocks unmined until a transaction is replaced with higher fees: half a minute at least, as fast as blocks come */
  readonly bumpAfterBlocks: number;
}

/**
 * What a transaction with nothing in it may use at most: plain transfers cost a little more than 21,000 on some chains. What
 * is not used is not paid.
 */
const EMPTY_GAS_LIMIT = 60_000n;

/**
 * The same where gas pays for data as well, however dear the layer below is: on Arbitrum 1,700 units of data and signature,
 * each worth as much gas as the price of data is above that of gas (OffchainLabs/nitro@f7645453 ArbGasInfo.sol); so far
 * a few hundred times.
 */
export const EMPTY_GAS_LIMIT_WITH_DATA = 1_000_000n;

/** What it is where nothing else is stated. */
export function emptyGasLimitOf({ dataFee }: { readonly dataFee?: Network["dataFee"] }): bigint {
  return dataFee === "arbitrum" ? EMPTY_GAS_LIMIT_WITH_DATA : EMPTY_GAS_LIMIT;
}

/** Where nothing is known of a network's fees. */
export const COMMON_FEES: FeeFacts = { maxPriorityFee: undefined, bumpAfterBlocks: 5 };

/** What daemon, service and sandbox need to know of a network. */
export interface Network {
  readonly chainId: number;
  readonly nativeSymbol: string;
  /** where people look at transactions (`/tx/<hash>`) and addresses (`/address/<address>`); undefined: it is not known */
  readonly explorer?: string | undefined;
  readonly wrappedNative: Address;
  /** undefined: no feed has the price of the native coin */
  readonly nativeFeed: PriceFeed | undefined;
  /** of a rollup: the feed that says whether its sequencer is up */
  readonly sequencerFeed: Address | undefined;
  readonly tokens: ReadonlyMap<string, TokenFacts>;
  /** in the order of the executor's own list */
  readonly protocols: readonly FactoryFacts[];
  /** fee tiers to search for where a factory has several, in parts per million */
  readonly feeTiers: readonly number[];
  /** how the network charges for a transaction's data; undefined: with its gas alone */
  readonly dataFee: "op-stack" | "arbitrum" | undefined;
  readonly fees: FeeFacts;
  /** gas limit of an empty transaction, which takes the nonce of another one */
  readonly emptyGasLimit: bigint;
  /** blocks on top of a transaction's own before it counts as confirmed */
  readonly confirmations: number;
  /** our own contracts, where they are deployed */
  readonly settlement: Address | undefined;
  readonly executor: Address | undefined;
  /** undefined: it is not known */
  readonly sending: SendingFacts | undefined;
  /** where a transaction is sent instead of the RPC endpoints, unless the configuration says otherwise */
  readonly relays: readonly RelayFacts[];
  /** where our contracts cannot be: why */
  readonly noSettlement: string | undefined;
  /** the public router through which swaps settle where no settlement is; undefined: none that swapd trades through */
  readonly router: Address | undefined;
  /** keccak-256 of the router's code; undefined: it is not known, and not compared */
  readonly routerCodeHash: Hex | undefined;
  /** further public routers, each of pools of its own: of each swap the one is taken that brings most */
  readonly furtherRouters: readonly RouterFacts[];
}

/** A router that stands for everybody. */
export interface RouterFacts {
  readonly address: Address;
  /** keccak-256 of its code; undefined: it is not known, and not compared */
  readonly codeHash?: Hex | undefined;
}

/** A network of the book, with what only a built-in one has. */
export interface BookedNetwork extends Network {
  readonly nativeFeed: PriceFeed;
  /** contracts that stand there for everybody, by which swaps can be sent, by name */
  readonly routers: ReadonlyMap<string, Address>;
  readonly sending: SendingFacts;
  /** what a first policy may begin with: native coins that stay in the wallet for gas, and the highest gas price */
  readonly first: { readonly gasReserve: string; readonly maxGasPrice: string };
}

/** in wei */
export const GWEI = 10n ** 9n;
/** in seconds */
export const MINUTE = 60;
export const HOUR = 3_600;
export const DAY = 86_400;

/** Source: Uniswap/sdks@024bf18e sdks/v3-sdk/src/constants.ts */
const FEE_TIERS = [100, 500, 3_000, 10_000];
/** Nearly everywhere. Source: mds1/multicall@19da7a56 deployments.json */
export const MULTICALL3 = toAddress("0xcA11bde05977b3631167028862bE2a173976CA11");
const CONFIRMATIONS = 3;
/** Public routers whose calls are pinned, by their names in the files; the first one is traded through where a file names none. */
type TradedThrough = "Uniswap SwapRouter02" | "PancakeSwap SmartRouter";
const TRADED_THROUGH: TradedThrough = "Uniswap SwapRouter02";
/** What is traded through beside it, wherever a file names it. */
const TRADED_BESIDE = [
  "Slipstream SwapRouter",
  "later Slipstream SwapRouter",
  "Aerodrome v1 router",
  "Velodrome v2 router",
];

/** A network as its file states it: addresses as text, with their checksums. */
interface Stated extends Pick<BookedNetwork, "chainId" | "nativeSymbol" | "first"> {
  readonly explorer?: string;
  /** the token that wraps the native coin, which routes pass through most, with the coin's own feed */
  readonly wrapped: { readonly symbol: string; readonly address: string; readonly feed: PriceFeed };
  readonly tokens: Readonly<Record<string, TokenFacts>>;
  readonly protocols: readonly (Omit<FactoryFacts, "factory"> & { readonly factory: string })[];
  readonly sequencerFeed?: string;
  readonly dataFee?: Network["dataFee"];
  readonly fees?: FeeFacts;
  readonly emptyGasLimit?: bigint;
  readonly noSettlement?: string;
  readonly routers: Readonly<Record<string, string>>;
  readonly tradedThrough?: TradedThrough;
  readonly sending: SendingFacts;
  readonly relays?: readonly RelayFacts[];
}

/** A network of the book from what its file states. */
export function network(stated: Stated): BookedNetwork {
  const { wrapped, sequencerFeed, chainId, nativeSymbol, explorer, first } = stated;
  const wrappedNative = toAddress(wrapped.address);
  const routers = new Map(Object.entries(stated.routers).map(([name, address]) => [name, toAddress(address)]));
  const coin = { address: wrappedNative, decimals: 18, feed: wrapped.feed };
  return {
    ...{ chainId, nativeSymbol, explorer, wrappedNative, first, nativeFeed: wrapped.feed },
    tokens: new Map([[wrapped.symbol, coin], ...Object.entries(stated.tokens)]),
    protocols: stated.protocols.map((protocol) => ({ ...protocol, factory: toAddress(protocol.factory) })),
    feeTiers: FEE_TIERS,
    sequencerFeed: sequencerFeed === undefined ? undefined : toAddress(sequencerFeed),
    dataFee: stated.dataFee,
    fees: stated.fees ?? COMMON_FEES,
    emptyGasLimit: stated.emptyGasLimit ?? emptyGasLimitOf(stated),
    confirmations: CONFIRMATIONS,
    ...{ settlement: undefined, executor: undefined, noSettlement: stated.noSettlement },
    routers,
    router: stated.noSettlement === undefined ? routers.get(stated.tradedThrough ?? TRADED_THROUGH) : undefined,
    // No live code was seen by those who wrote the book.
    routerCodeHash: undefined,
    furtherRouters: TRADED_BESIDE.flatMap((name) => {
      const address = routers.get(name);
      return address === undefined ? [] : [{ address }];
    }),
    relays: stated.relays ?? [],
    sending: stated.sending,
  };
}

/** Tokens that routes may pass through: the wrapped coin first. */
export function hubTokensOf(network: Network): readonly Address[] {
  return [...new Set([network.wrappedNative, ...[...network.tokens.values()].map(({ address }) => address)])];
}

/**
 * A feed by its address and heartbeat in seconds. Updates arrive up to a minute after their heartbeat, and one that is a
 * little late is no reason to stop: the margin is as long as the heartbeat, from five minutes to half an hour.
 */
export function feed(address: string, heartbeatSeconds: number): PriceFeed {
  const marginSeconds = Math.min(Math.max(heartbeatSeconds, 5 * MINUTE), 30 * MINUTE);
  return { address: toAddress(address), heartbeatSeconds, marginSeconds };
}

/** A token by its address and decimals; a bridged twin has no feed here, because none sees it lose its worth. */
export function token(address: string, decimals: number, more: { feed?: PriceFeed; twinOf?: string }): TokenFacts {
  return { address: toAddress(address), decimals, feed: undefined, ...more };
}
