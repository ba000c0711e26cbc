import { join } from "node:path";
import { TypedDataEncoder } from "ethers";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { createIntlZones } from "../../src/adapters/zones/intl-zones.ts";
import { oneContract } from "../../src/domain/guard/swap-contracts.ts";
import type { TypedData } from "../../src/domain/guard/typed-data.ts";
import type { Address, Hex } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { createEngine } from "../../src/engine/engine.ts";
import type { EngineContext, EngineSettings } from "../../src/engine/engine-context.ts";
import { laneRules } from "../../src/engine/lane-rules.ts";
import { markBeforeSigning } from "../../src/engine/reconcile/begin.ts";
import { createLane, type Lane } from "../../src/lane/lane.ts";
import { Secret } from "../../src/net/secret.ts";
import type { IdentityMarker } from "../../src/ports/identity-marker.ts";
import type { LaneStore } from "../../src/ports/lane-unit-of-work.ts";
import type { Meter } from "../../src/ports/meter.ts";
import type { Signer, UnsignedTransaction } from "../../src/ports/signer.ts";
import type { Treasury } from "../../src/ports/treasury.ts";
import { dcaSpec, ETH, policySample, priceOf, ROUTER, USDC, WBTC, WETH } from "./builders.ts";
import { type DaemonDatabase, openDaemonDatabase } from "./daemon-database.ts";
import { FakeChain } from "./fake-chain.ts";
import { FakeClock, quiet } from "./fake-clock.ts";
import { FakeService } from "./fake-service.ts";
import { remembered } from "./remembered.ts";
import { silentLogger } from "./silent-logger.ts";
import { memoryDirectory } from "./temporary-directory.ts";

const KEY = `0x${"07".repeat(32)}`;
const signer = createSigner(new Secret(KEY));

/** The account that every engine of these tests trades for. */
export const ACCOUNT = signer.address;

/** Half of the time between two blocks: each block is looked at more than once, and a life of minutes stays cheap. */
const POLL_MS = 500;

/** The same transaction is always signed to the same bytes, and each life on a file signs it anew. */
const signTransaction = remembered(
  (transaction: UnsignedTransaction) => signer.signTransaction(transaction),
  (transaction) => JSON.stringify(transaction, (_name, value) => (typeof value === "bigint" ? `${value}` : value)),
);

/** Everything outside the process, and the file: what is still there when the process is killed. */
export interface Outside {
  readonly clock: FakeClock;
  readonly chain: FakeChain;
  readonly service: FakeService;
  readonly spec: StrategySpec;
  readonly signed: { readonly kind: "transaction" | "typed data"; readonly text: string }[];
  readonly reported: { severity: string; code: string; text: string }[];
  readonly file: string;
}

/** A world at a whole minute, with 1000 USDC, 3 WETH and 10 ETH in the account. */
export function createOutside(
  nowMs: number,
  change: Partial<StrategySpec> = {},
  makeChain: (clock: FakeClock) => FakeChain = (clock) => new FakeChain(clock),
): Outside {
  const clock = new FakeClock(nowMs);
  const chain = makeChain(clock);
  chain.ledger.credit(USDC.address, ACCOUNT, 1_000_000_000n);
  chain.ledger.credit(WETH.address, ACCOUNT, 3n * 10n ** 18n);
  chain.ledger.credit(ETH.address, ACCOUNT, 10n ** 19n);
  const owner = { wallet: { name: "main", address: ACCOUNT }, recipient: ACCOUNT };
  const spec = { ...dcaSpec(), ...owner, ...change } as StrategySpec;
  return {
    clock,
    chain,
    service: new FakeService(clock, chain),
    spec,
    signed: [],
    reported: [],
    file: join(memoryDirectory(), "daemon.db"),
  };
}

function settingsFor(spec: StrategySpec, change: Partial<EngineSettings> = {}): EngineSettings {
  return {
    ...{
      live: true,
      network: "sandbox",
      chainId: 31_337,
      wrappedNative: WETH.address,
      native: ETH,
      contracts: oneContract(ROUTER),
    },
    ...{ confirmations: 2, policy: policySample({ recipients: [ACCOUNT] }), tokens: [USDC, WETH, WBTC] },
    strategies: [{ spec, specHash: "spec" }],
    notifications: { fills: false, starts: false, sameEnds: 3 },
    retentionMs: 90 * 86_400_000,
    pace: {
      ...{
        pollMs: POLL_MS,
        retryMs: 2_000,
        longestRetryMs: 60_000,
        watchMs: 1_000,
        longestWatchMs: 15_000,
        maxLifetimeSeconds: 300,
        submitMarginSeconds: 2,
      },
      ...{
        maxClockSkewSeconds: 30,
        slotClockSkewSeconds: 120,
        concurrency: 4,
        janitorMs: 5_000,
        samplePricesMs: 60_000,
      },
    },
    ...change,
  };
}

/** The process was stopped at a named place. */
export class Killed extends Error {}

/** One life of the process on the file: an engine with its lane, until it stops or is killed. */
export interface Life extends DaemonDatabase {
  readonly context: EngineContext;
  readonly engine: Engine;
  readonly lane: Lane;
  /** broken invariants that the process would have died of */
  readonly errors: unknown[];
  /** places that were passed, in order */
  readonly passed: string[];
  isDead(): boolean;
  /** Ends the process here and now; nothing it still does has any effect. */
  kill(): void;
}

/** Opens the file and builds everything, without starting. `killAt` ends the process at its n-th passing of a place. */
export function openLife(
  outside: Outside,
  options: {
    settings?: Partial<EngineSettings>;
    killAt?: (label: string, passed: readonly string[]) => boolean;
    marker?: IdentityMarker | undefined;
    meter?: Meter;
    /** in place of the wallet's own */
    signer?: Signer;
    /** where the account is a Safe */
    treasury?: Treasury;
    /** told of each commit */
    onCommit?: () => void;
    /** what a rollup charges for data; by default nothing */
    dataFee?: EngineContext["deps"]["dataFee"];
    /** chain and service in place of the world's own */
    seenBy?: (db: DaemonDatabase["db"]) => Pick<EngineContext["deps"], "chain" | "service">;
  } = {},
): Life {
  const database = openDaemonDatabase(outside.file);
  const { mortal, state } = createMortality();
  const errors: unknown[] = [];
  const passed: string[] = [];
  const crashPoint = (label: string): void => {
    if (state.isDead) throw new Killed("the process is dead");
    passed.push(label);
    if (options.killAt?.(label, passed) !== true) return;
    state.isDead = true;
    throw new Killed(label);
  };
  const seen = options.seenBy?.(database.db) ?? outside;
  const lanes = new Map<Address, Lane>();
  const alerts = {
    ...{
      store: mortal(signalling(database.store, options.onCommit)),
      clock: mortal(outside.clock),
      ids: countingIds(outside, database),
    },
    notifier: { notify: (message: Outside["reported"][number]) => void outside.reported.push(message) },
  };
  const context: EngineContext = {
    settings: settingsFor(outside.spec, options.settings),
    deps: {
      ...alerts,
      ...{ lanes, crashPoint },
      ...{ chain: mortal(seen.chain), service: mortal(seen.service) },
      prices: { price: async (token) => ({ ...priceOf(token), atSeconds: outside.clock.nowMs() / 1_000 }) },
      signers: new Map([
        [ACCOUNT, options.signer ?? mortal(countingSigner(outside, () => markBeforeSigning(context, ACCOUNT)))],
      ]),
      ...(options.treasury !== undefined && { treasuries: new Map([[ACCOUNT, mortal(options.treasury)]]) }),
      ...{ marker: options.marker, meter: options.meter },
      ...{ zones: createIntlZones(), logger: silentLogger() },
      digest: digestOf,
      dataFee: options.dataFee ?? (async () => undefined),
    },
  };
  const engine = createEngine(context, (error) => {
    if (!(error instanceof Killed)) errors.push(error);
    state.isDead = true;
  });
  const lane = openLane(context, engine.committer.laneStore);
  lanes.set(ACCOUNT, lane);
  const kill = (): void => {
    state.isDead = true;
  };
  return { ...database, context, engine, lane, errors, passed, isDead: () => state.isDead, kill };
}

function openLane(context: EngineContext, store: LaneStore): Lane {
  const { chain, clock, logger, crashPoint, signers } = context.deps;
  const owner = signers.get(ACCOUNT);
  if (owner === undefined) throw new Error("the account has no signer");
  const options = {
    ...{ account: ACCOUNT, chainId: 31_337, confirmations: 2, bumpAfterBlocks: 5, rebroadcastAfterBlocks: 3 },
    ...{
      maxReplacements: 3,
      maxCancellations: 3,
      cancelPubliclyAfterBlocks: 5,
      cancelMarginSeconds: 2,
      emptyGasLimit: 60_000n,
    },
    ...laneRules(context),
    visibility: chain.visibility,
  };
  return createLane(options, { store, chain, signer: owner, clock, logger, crashPoint });
}

/** The same rows, for one who wants to hear of each commit. */
function signalling(store: DaemonDatabase["store"], onCommit: (() => void) | undefined): DaemonDatabase["store"] {
  if (onCommit === undefined) return store;
  return {
    ...store,
    commit: async (units) => {
      const written = await store.commit(units);
      onCommit();
      return written;
    },
  };
}

/** What a dead process calls has no effect: every method of what it holds throws. */
function createMortality(): { mortal<T extends object>(held: T): T; state: { isDead: boolean } } {
  const state = { isDead: false };
  const mortal = <T extends object>(held: T): T =>
    new Proxy(held, {
      get: (target, name) => {
        const part: unknown = Reflect.get(target, name, target);
        if (typeof part !== "function") return part;
        return (...args: unknown[]): unknown => {
          if (state.isDead) throw new Killed("the process is dead");
          return Reflect.apply(part, target, args);
        };
      },
    });
  return { mortal, state };
}

function countingSigner(outside: Outside, beforeSigning: () => Promise<void>): Signer {
  return {
    address: signer.address,
    signTransaction: async (transaction) => {
      await beforeSigning();
      const signed = await signTransaction(transaction);
      outside.signed.push({ kind: "transaction", text: signed.raw });
      return signed;
    },
    signTypedData: async (typedData) => {
      await beforeSigning();
      outside.signed.push({ kind: "typed data", text: JSON.stringify(typedData) });
      return await signer.signTypedData(typedData);
    },
  };
}

const lastIds = new WeakMap<Outside, number>();

/** Ids that go on counting over restarts of the process. */
function countingIds(outside: Outside, { db }: DaemonDatabase): EngineContext["deps"]["ids"] {
  const known = db.prepare<[], number>("SELECT count(*) FROM transitions").pluck().get() ?? 0;
  lastIds.set(outside, Math.max(known, lastIds.get(outside) ?? 0));
  const last = (): number => lastIds.get(outside) ?? 0;
  return {
    newId: (prefix) => {
      lastIds.set(outside, last() + 1);
      return `${prefix}_${last()}`;
    },
    randomUint256: () => BigInt(last()),
  };
}

function digestOf({ domain, types, message }: TypedData): Hex {
  const fields = Object.fromEntries(
    Object.entries(types).map(([name, list]) => [name, list.map((one) => ({ ...one }))]),
  );
  return TypedDataEncoder.hash({ ...domain }, fields, { ...message }) as Hex;
}

/** Whether the lane may sign for an intent now. */
export async function maySign({ engine }: Life, id: string): Promise<boolean> {
  return (await engine.committer.laneStore.readToSign({ account: ACCOUNT, chainId: 31_337, intent: { id } })).maySign;
}

/** Lets the world turn, with a block and a tick each second, until the time or the process is over. */
export async function turn(outside: Outside, life: Life, seconds: number): Promise<void> {
  await turnUntil(outside, life, { maxSeconds: seconds, isDone: () => false });
}

/** Lets the world turn until something is true. @returns whether it became true before the time was over */
export async function turnUntil(
  outside: Outside,
  life: Life,
  end: { maxSeconds: number; isDone(): boolean },
): Promise<boolean> {
  for (let passedMs = 0; passedMs < end.maxSeconds * 1_000 && !life.isDead(); passedMs += POLL_MS) {
    await outside.clock.advance(POLL_MS);
    if (passedMs % 1_000 !== 1_000 - POLL_MS) continue;
    outside.chain.mine();
    if (!life.isDead()) await tick(life);
    await quiet();
    if (end.isDone()) return true;
  }
  return end.isDone();
}

async function tick(life: Life): Promise<void> {
  try {
    await life.engine.tick();
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
  }
}
