import type { Policy } from "../domain/guard/policy.ts";
import type { SwapContracts } from "../domain/guard/swap-contracts.ts";
import type { TypedData } from "../domain/guard/typed-data.ts";
import type { Address, Hex } from "../domain/money/address.ts";
import type { Ppm } from "../domain/money/fraction.ts";
import type { Token } from "../domain/money/token.ts";
import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { Lane } from "../lane/lane.ts";
import type { Chain, DataFee } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import type { IdentityMarker } from "../ports/identity-marker.ts";
import type { IdSource } from "../ports/ids.ts";
import type { Logger } from "../ports/logger.ts";
import type { Meter } from "../ports/meter.ts";
import type { Notifier } from "../ports/notifier.ts";
import type { OutputSource, PriceSource } from "../ports/price-source.ts";
import type { Signer } from "../ports/signer.ts";
import type { Store } from "../ports/store.ts";
import type { SwapService } from "../ports/swap-service.ts";
import type { Treasury } from "../ports/treasury.ts";

/** A strategy as it was loaded; `specHash` tells one edition of its file from another. */
export interface LoadedStrategy {
  readonly spec: StrategySpec;
  readonly specHash: string;
}

/** Everything the engine is set to. Durations in milliseconds unless the name says otherwise. */
export interface EngineSettings {
  /** false: each slot is judged alone, and ends before anything is signed */
  readonly live: boolean;
  /** it is as live, with fills on paper: nothing is signed, and nothing of it is on the chain. Default: false */
  readonly onPaper?: boolean;
  /** wei that a wallet on paper is lent for gas: its chain shows them beside what it has */
  readonly lentGas?: ReadonlyMap<Address, bigint>;
  readonly network: string;
  readonly chainId: number;
  readonly wrappedNative: Address;
  readonly native: Token;
  /** the pinned contracts of the service that quotes */
  readonly contracts: SwapContracts;
  /** further ones of it, apart from the first: a swap goes through those that its quote names */
  readonly furtherContracts?: readonly SwapContracts[];
  /** who signs the service's transactions, where the configuration names one */
  readonly signer?: Address | undefined;
  /** to whom wallets are known to delegate (EIP-7702), as the configuration names it */
  readonly delegates?: ReadonlyMap<Address, Address>;
  /** accounts that are Safes, which are contracts: their code is read with each proposal */
  readonly safes?: ReadonlySet<Address>;
  readonly confirmations: number;
  /** when a private order that comes into no block is tried once more for everybody to see, and how little it may lose then */
  readonly fallback?: { readonly afterBlocks: number; readonly slippage: Ppm } | undefined;
  readonly policy: Policy;
  readonly tokens: readonly Token[];
  readonly strategies: readonly LoadedStrategy[];
  /**
   * what people are notified of besides what needs them, and after how many slots in a row with one reason they are
   * warned
   */
  readonly notifications: {
    readonly fills: boolean;
    readonly starts: boolean;
    readonly sameEnds: number;
    /** the periods of a zone's calendar after which a digest is written; undefined: none is */
    readonly digest?: { readonly periods: readonly ("day" | "week")[]; readonly timezone: string };
  };
  /** how long runs that signed nothing are kept, and what the steps of all runs saw */
  readonly retentionMs: number;
  readonly pace: {
    /** how often lanes and due effects are checked when nothing wakes the engine */
    readonly pollMs: number;
    readonly retryMs: number;
    readonly longestRetryMs: number;
    readonly watchMs: number;
    readonly longestWatchMs: number;
    readonly maxLifetimeSeconds: number;
    readonly submitMarginSeconds: number;
    /** this machine's clock and the latest block may differ by this much where something is to be signed */
    readonly maxClockSkewSeconds: number;
    /** this machine's clock and the chain's may differ by this much where slots are run or passed over */
    readonly slotClockSkewSeconds: number;
    /** effects performed at the same time; a few times as many checks come on top where they ask the chain alone */
    readonly concurrency: number;
    /** how often leftover allowances are searched for */
    readonly janitorMs: number;
    /** how often the prices that strategies look back at are sampled */
    readonly samplePricesMs: number;
  };
}

/** What the engine works with. One signer and one lane for each wallet. */
export interface EngineDeps {
  readonly store: Store;
  readonly chain: Chain;
  readonly service: SwapService;
  readonly prices: PriceSource;
  readonly dataFee: DataFee;
  /** another service than the quoting one, asked for each swap; undefined where none is configured */
  readonly secondService?: OutputSource | undefined;
  readonly lanes: ReadonlyMap<Address, Lane>;
  readonly signers: ReadonlyMap<Address, Signer>;
  /** the wallets that are Safes: their owners sign, and no lane sends anything for them */
  readonly treasuries?: ReadonlyMap<Address, Treasury> | undefined;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly zones: ZoneOffsets;
  readonly logger: Logger;
  readonly notifier: Notifier;
  /** what is kept of the database outside of its folder; undefined: nothing is */
  readonly marker?: IdentityMarker | undefined;
  /** undefined: nobody watches from outside */
  readonly meter?: Meter | undefined;
  /** EIP-712 digest of typed data */
  digest(typedData: TypedData): Hex;
  /** named places where a test may stop the process; does nothing in production */
  crashPoint(label: string): void;
}

/** Settings and dependencies together, as every part of the engine takes them. */
export interface EngineContext {
  readonly settings: EngineSettings;
  readonly deps: EngineDeps;
}

/** Whether the wallets' acts are on the chain, so that the rows can be checked against it. */
export function isOnChain({ live, onPaper }: EngineSettings): boolean {
  return live && onPaper !== true;
}

/** How the daemon trades, in the word of its configuration. */
export function modeName({ live, onPaper }: EngineSettings): "dry-run" | "paper" | "live" {
  if (!live) return "dry-run";
  return onPaper === true ? "paper" : "live";
}

/** The lane of a wallet. @throws Error when the wallet has none: a broken invariant */
export function laneOf(context: EngineContext, wallet: Address): Lane {
  const lane = context.deps.lanes.get(wallet);
  if (lane === undefined) throw new Error(`wallet ${wallet} has no lane`);
  return lane;
}

/** The loaded strategy with this id, undefined when its file is gone. */
export function strategyOf({ settings }: EngineContext, strategyId: string): LoadedStrategy | undefined {
  const { strategies } = settings;
  const index = indexes.get(strategies) ?? new Map(strategies.map((strategy) => [strategy.spec.id, strategy]));
  indexes.set(strategies, index);
  return index.get(strategyId);
}

/** Thousands of strategies are asked for by their ids with every step. */
const indexes = new WeakMap<readonly LoadedStrategy[], ReadonlyMap<string, LoadedStrategy>>();
