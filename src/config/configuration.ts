import type { Policy } from "../domain/guard/policy.ts";
import type { SwapContracts } from "../domain/guard/swap-contracts.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { Ppm } from "../domain/money/fraction.ts";
import type { UsdPrice } from "../domain/money/price.ts";
import type { TipRule } from "../domain/money/tip.ts";
import type { Token } from "../domain/money/token.ts";
import type { Severity } from "../domain/run/alert.ts";
import type { WeekWindow } from "../domain/schedule/schedule.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { FactoryFacts, PriceFeed, RelayFacts, RouterFacts, SendingFacts } from "../networks/network.ts";
import type { Listen, SecretReference } from "./fields.ts";
import type { Problem } from "./problem.ts";
import type { TelegramCommands } from "./schemas/alerts-schema.ts";
import type { MainFile } from "./schemas/main-schema.ts";

/** An RPC endpoint. What is given by reference is a secret; a plain URL is an origin without a key. */
export type RpcEndpoint = SecretReference | { readonly url: string };

/** Where transactions are sent. */
export type SubmitConfiguration =
  /** to all RPC endpoints, each of which may show them to everybody */
  | { readonly kind: "public" }
  | { readonly kind: "named"; readonly endpoints: readonly RpcEndpoint[] }
  /** nothing was said, and the network book has relays */
  | { readonly kind: "book"; readonly relays: readonly RelayFacts[] };

export interface NetworkConfiguration {
  readonly name: string;
  readonly chainId: number;
  readonly rpc: readonly RpcEndpoint[];
  readonly submit: SubmitConfiguration;
  /** when a private order that comes into no block is tried once more for everybody to see; undefined: never */
  readonly fallback: { readonly afterBlocks: number; readonly slippage: Ppm } | undefined;
  /** what is paid on top of the base fee */
  readonly fees: TipRule;
  /** who sees what is sent to an RPC endpoint; undefined: it is not known */
  readonly sending: SendingFacts | undefined;
  readonly confirmations: number;
  /** gas limit of an empty transaction, which takes the nonce of another one */
  readonly emptyGasLimit: bigint;
  readonly nativeSymbol: string;
  /** where people look at transactions and addresses; undefined: it is not known */
  readonly explorer?: string | undefined;
  readonly wrappedNative: Address;
  /** the settlement contract that is named, else our own where it is known */
  readonly settlement: Address | undefined;
  /** the public router through which own swaps settle, where the service's profile says so */
  readonly router: Address | undefined;
  /** where our contracts cannot be: why */
  readonly noSettlement: string | undefined;
  /** keccak-256 of the router's code, where the network's facts state it */
  readonly routerCodeHash: Hex | undefined;
  /** further public routers, of which each swap takes the one that brings most */
  readonly furtherRouters: readonly RouterFacts[];
  /** undefined: ask the settlement contract */
  readonly executor: Address | undefined;
  readonly protocols: readonly FactoryFacts[];
  readonly feeTiers: readonly number[];
  /** how the network charges for a transaction's data; undefined: with its gas alone */
  readonly dataFee: "op-stack" | "arbitrum" | undefined;
  /** tokens that routes may pass through */
  readonly hubTokens: readonly Address[];
  /** of a rollup: the feed that says whether its sequencer is up, and how long after its return prices are not used */
  readonly sequencer: { readonly address: Address; readonly graceSeconds: number } | undefined;
}

export interface ServiceConfiguration {
  /** the name of its profile, of which there is one */
  readonly profile: string;
  readonly url: string | "embedded";
  readonly apiKey: SecretReference | undefined;
  /** the contracts to approve, to call and to sign for; undefined only where nothing is signed and one of them is not known */
  readonly contracts: SwapContracts | undefined;
  /** further ones apart from these, each for swaps whose quotes name it: all of them are pinned, and the policy allows them */
  readonly furtherContracts: readonly SwapContracts[];
  /** who signs the service's transactions, where that is another account than the profile knows */
  readonly signer: Address | undefined;
}

/** How an account's key is opened. */
export type KeySource =
  | { readonly kind: "keystore"; readonly keystore: SecretReference; readonly password: SecretReference }
  | { readonly kind: "raw"; readonly privateKey: SecretReference }
  | RemoteKeySource;

/** A key that never comes here: a signer with web3signer's interface is asked for each signature. */
export interface RemoteKeySource {
  readonly kind: "remote";
  readonly url: string;
  readonly address: Address;
  /** for what stands in front of the signer */
  readonly token: SecretReference | undefined;
  /** who we are for it, where it asks; paths are absolute */
  readonly tls:
    | { readonly certificate: string; readonly key: SecretReference; readonly authority: string | undefined }
    | undefined;
  readonly timeoutMs: number;
}

/** Where the owners of a Safe find what is proposed to them: at least one of the two. */
export interface ProposalsConfiguration {
  /** for files; an absolute path */
  readonly folder: string | undefined;
  readonly service: TransactionServiceConfiguration | undefined;
}

/** Safe's Transaction Service, or one with its interface. */
export interface TransactionServiceConfiguration {
  readonly url: string;
  readonly apiKey: SecretReference | undefined;
  /** who signs what is proposed, and has no power over the Safe */
  readonly delegate: { readonly key: KeySource; readonly address: Address };
}

export interface WalletConfiguration {
  readonly name: string;
  readonly address: Address;
  /** undefined: the account is only watched, on paper, or a Safe */
  readonly key: KeySource | undefined;
  /** what it has on paper, by token; undefined: what the account has on the chain */
  readonly paper?: ReadonlyMap<Address, bigint> | undefined;
  /** where the account is a Safe: its owners sign, and swaps are proposed to them */
  readonly proposals?: ProposalsConfiguration | undefined;
  /** to whom the account is known to delegate (EIP-7702) */
  readonly delegate: Address | undefined;
}

export interface TokenConfiguration {
  readonly token: Token;
  /** a token without feed and without pool has no reference price and is not traded */
  readonly feed: PriceFeed | undefined;
  readonly twap: TwapConfiguration | undefined;
  /** undefined: it is not stated what it should be worth */
  readonly peg: "USD" | undefined;
}

/** A pool of Uniswap V3 whose time-weighted price is a reference, in another token that has a feed. */
export interface TwapConfiguration {
  readonly pool: Address;
  readonly windowSeconds: number;
  readonly quote: Token;
  readonly minLiquidityUsd: UsdPrice;
}

/** What quotes are checked against. Every source that covers a token must answer. */
export interface ReferenceConfiguration {
  readonly sources: readonly ("feed" | "twap" | "service")[];
  /** another service than the quoting one, asked for the same swap; undefined when it is no source */
  readonly service: ServiceConfiguration | undefined;
}

/** Our own service, embedded in the daemon or alone. */
export interface ServeConfiguration extends Omit<MainFile["serve"], "relayer" | "gasless" | "database"> {
  readonly database: string;
  /** undefined: metrics are served nowhere */
  readonly metrics: Listen | undefined;
  readonly relayer: KeySource | undefined;
  /** what the relayer may cost its owner; amounts in wei */
  readonly gasless: {
    readonly minimumNativeBalance: bigint;
    readonly feeMarginPpm: Ppm;
    readonly maxDailyLoss: bigint;
    readonly maxDailyGas: bigint;
  };
}

/** Where alerts are sent. */
export interface ChannelConfiguration {
  readonly name: string;
  readonly kind: string;
  /** where it stands in the main file */
  readonly path: string;
  /** the severities that are sent; none: messages alone */
  readonly severities: readonly Severity[];
  /** it also sends the end of an alert */
  readonly sendsEnds: boolean;
  /** it also sends messages of fills, starts and digests */
  readonly sendsMessages: boolean;
  /** by the zone of `notifications`, when nothing but what is critical is sent */
  readonly quiet: WeekWindow | undefined;
  /** what of a code is on, silent or off here, whatever it is elsewhere */
  readonly events: Readonly<Record<string, "off" | "silent" | "on">>;
  /** what it is not told */
  readonly hides: readonly ("amounts" | "addresses")[];
  /** what its kind asks for: secrets by reference, and texts */
  readonly options: Readonly<Record<string, SecretReference | string>>;
}

/** A strategy as it was loaded: where from, and the SHA-256 of the file's text. */
export interface LoadedStrategy {
  readonly spec: StrategySpec;
  readonly file: string;
  readonly hash: string;
}

/**
 * How the daemon trades: `dry-run` judges each slot alone, `paper` carries simulated fills on in a database of its own, and
 * `live` signs.
 */
export type Mode = "dry-run" | "paper" | "live";

/** The configuration of the daemon and the service. Paths are absolute. */
export interface Configuration {
  readonly file: string;
  readonly mode: Mode;
  readonly network: NetworkConfiguration;
  readonly service: ServiceConfiguration;
  readonly wallets: ReadonlyMap<string, WalletConfiguration>;
  /** by symbol, the native coin included */
  readonly tokens: ReadonlyMap<string, TokenConfiguration>;
  readonly policy: Policy;
  readonly reference: ReferenceConfiguration;
  readonly strategies: readonly LoadedStrategy[];
  /** what is allowed but may be a mistake */
  readonly warnings: readonly Problem[];
  /** of mode paper another one than of the others */
  readonly database: string;
  /** how long runs that signed nothing are kept */
  readonly retentionMs: number;
  /** the folder of the markers that distinguish a lost or old database from a new one */
  readonly identity: string;
  readonly listen: Listen;
  /** names that callers of the status server may use, in lower case */
  readonly statusHosts: readonly string[];
  readonly logLevel: MainFile["log"]["level"];
  readonly logFormat: MainFile["log"]["format"];
  readonly serve: ServeConfiguration;
  /** where alerts are sent; where there is none, they are in the log only */
  readonly channels: readonly ChannelConfiguration[];
  /** messages that are no alerts, and how many slots in a row may end alike before an alert says so */
  readonly notifications: Pick<MainFile["alerts"], "fills" | "starts" | "sameEnds" | "events"> & {
    readonly digest: { readonly periods: readonly ("day" | "week")[]; readonly timezone: string };
  };
  /** where a sign of life goes, and how often; undefined: nowhere */
  readonly heartbeat: { readonly url: SecretReference; readonly everyMs: number } | undefined;
  /** who is listened to by chat; undefined: nobody */
  readonly chat: (Omit<TelegramCommands, "token"> & { readonly token: SecretReference }) | undefined;
  readonly timing: MainFile["timing"];
  readonly transactions: MainFile["transactions"] & {
    readonly bumpAfterBlocks: number;
    readonly cancelPubliclyAfterBlocks: number;
  };
  readonly maxAnswerBytes: number;
  /** where it came from: the files by name, and the folder with the strategies */
  readonly origin: { readonly files: readonly string[]; readonly strategies: string | undefined };
  /** SHA-256 of all files it was loaded from, in order */
  readonly hash: string;
  /** the same without the strategies: what a running daemon cannot take over */
  readonly settingsHash: string;
}
