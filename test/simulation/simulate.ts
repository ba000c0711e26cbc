import type { Configuration } from "../../src/config/configuration.ts";
import { toPpm } from "../../src/domain/money/fraction.ts";
import { replayAll } from "../support/replays.ts";
import { silentLogger } from "../support/silent-logger.ts";
import type { Chance } from "./chance.ts";
import { openStates } from "./daemon/aim.ts";
import { createFiles } from "./daemon/files.ts";
import { createLives } from "./daemon/lives.ts";
import { createOperator } from "./daemon/operator.ts";
import { askOnce } from "./daemon/other-process.ts";
import { createStrategies } from "./daemon/strategies.ts";
import { CATALOGUE, drawStrategies, type SimStrategy } from "./daemon/workload.ts";
import { createFaults, type FaultName, type Faults } from "./faults.ts";
import { checkProgress, checkRest } from "./oracle/liveness.ts";
import { createPaceOracle } from "./oracle/pace.ts";
import { createPrivacyOracle } from "./oracle/privacy.ts";
import type { Rows } from "./oracle/rows.ts";
import { checkFills, checkSafety } from "./oracle/safety.ts";
import { createSigningOracle, type Report } from "./oracle/signing.ts";
import { createTrace, type Trace } from "./trace.ts";
import { SpinError, VirtualTime } from "./virtual-time.ts";
import { SimChain } from "./world/chain.ts";
import { createNetwork } from "./world/network.ts";
import { ETH, POOL, STRANGER, TOKENS, units } from "./world/places.ts";
import { drawProfile } from "./world/profile.ts";
import { createReceivers } from "./world/receivers.ts";
import { createRelays } from "./world/relays.ts";
import { createSimService } from "./world/service.ts";
import { createSignatureBook } from "./world/signatures.ts";
import { clockOffsetMs, mineNext } from "./world/weather.ts";

/** What one seed is run with; what is left out is drawn from the seed. */
export interface SeedTerms {
  readonly seed: number;
  readonly strategies?: readonly string[] | undefined;
  readonly faults?: readonly string[] | undefined;
  /** at each death of the daemon the power fails, and the log is cut at a byte that was not synced for sure */
  readonly cutsLog?: boolean | undefined;
  /** what a seed did is reported although nothing broke */
  readonly tells?: boolean | undefined;
}

/** What the process that simulates has ready. */
export interface Bench {
  readonly configuration: Configuration;
  /** the same strategies after somebody edited their files */
  readonly edited: Configuration["strategies"];
  /** an empty database of the daemon, with all its tables */
  readonly emptyDatabase: string;
  readonly folder: string;
  /** the world whose time is the process's */
  enter(time: VirtualTime): void;
}

export interface Violation {
  readonly invariant: string;
  readonly what: string;
  readonly atMs: number;
}

export interface SeedResult {
  readonly seed: number;
  readonly strategies: readonly string[];
  readonly faults: readonly FaultName[];
  readonly violations: readonly Violation[];
  readonly traceHash: string;
  readonly trace: readonly string[];
  readonly lives: number;
  readonly cuts: number;
  readonly fills: number;
  /** transactions that were sent to private endpoints */
  readonly hidden: number;
  /** how often each named instant of the program was passed */
  readonly passed: ReadonlyMap<string, number>;
  /** how often each fault struck, by its name and where */
  readonly struck: ReadonlyMap<string, number>;
  /** how often each fault struck while a swap was in each state: `<fault> | <state>` */
  readonly hits: ReadonlyMap<string, number>;
}

const START_MS = Date.UTC(2027, 2, 1, 9, 0, 0);
const MIDNIGHT_MS = Date.UTC(2027, 2, 2);
/** Within so long after the last fault everything goes on again; after so long it is looked for. */
const PROGRESS = { leastMs: 30_000, mostMs: 300_000, everyMs: 15_000 };
/** Within so long after nothing new begins everything has its end. */
const REST = { leastMs: 20_000, mostMs: 300_000, everyMs: 20_000 };
/** In so many worlds transactions are sent privately. */
const PRIVATELY = 0.5;
/** In so many of those a private order that comes into no block is tried once more for everybody. */
const FALLS_BACK = 0.4;
const SHOWN_SLIPPAGE = toPpm(1_500);
const MOST_VIOLATIONS = 5;
/** A machine that was off for long meets faults when it is on again. */
const AFTER_OUTAGE_MS = 30_000;

/** Runs one seed to its end, or to its first violation. */
export async function simulate(bench: Bench, terms: SeedTerms): Promise<SeedResult> {
  const faults = createFaults(terms.seed, [], terms.faults);
  const { chance } = faults;
  const strategies = chosen(terms, drawStrategies(chance, faults.aimsAtRare));
  const time = new VirtualTime(startOf(strategies, chance));
  bench.enter(time);
  const trace = createTrace(() => time.monotonicMs);
  const violations: Violation[] = [];
  const report = (invariant: string, what: string): void => {
    trace.note("ORACLE", `${invariant}: ${what}`);
    violations.push({ invariant, what, atMs: time.monotonicMs });
  };
  const [wallet] = [...bench.configuration.wallets.values()].map(({ address }) => address);
  if (wallet === undefined) throw new Error("the configuration names no wallet");
  const book = createSignatureBook(wallet);
  const chain = new SimChain({
    ...{ chance, book, seconds: Math.floor(time.trueMs / 1_000), finality: chance.between(2, 6, "finality") },
    funds: fundsOf(wallet),
  });
  const profile = drawProfile(chance);
  // A seed that aims at private endpoints has some.
  const isPrivate = faults.aimed?.startsWith("private: ") === true || chance.of("sends privately") < PRIVATELY;
  const fallback =
    isPrivate && chance.of("falls back") < FALLS_BACK
      ? { afterBlocks: chance.between(3, 12, "falls back after"), slippage: SHOWN_SLIPPAGE }
      : undefined;
  const configuration = withFallback(profile.configured(bench.configuration), fallback);
  /** what the operator's file says now: he may take the private endpoints out of it for a while */
  const isShownNow = (): boolean => !isPrivate || faults.lasts("operator: shows", "submit", time.monotonicMs);
  const service = createSimService({ chain, book, faults, profile, nowMs: () => time.trueMs });
  const waitsMs = chance.pick([0, 60_000, 150_000], "operator waits");
  const operator = createOperator({ time, faults, trace, waitsMs, rows: () => rows, nowMs: () => time.trueMs });
  let calmSinceMs: number | undefined;
  const files = createFiles({
    ...{ folder: bench.folder, emptyDatabase: bench.emptyDatabase, faults, trace },
    exchanged: (before, after) => {
      const knowsLess = oracle.exchanged(before, after);
      receivers.exchanged();
      privacy.exchanged();
      operator.heardOfExchange();
      if (knowsLess) trace.note("world", `the rows know ${after.signed} of ${before.signed} signatures`);
    },
    paceSpoiled: () => {
      pace.forget();
      network.forgetLimit();
    },
  });
  const { rows, paceFile } = files;
  const pace = createPaceOracle({ time, file: paceFile, report });
  const isChainSteady = !faults.on.includes("chain: reorg");
  const oracle = createSigningOracle({
    ...{ chain, rows, wallet, isChainSteady, report, nowMs: () => time.trueMs },
    ...{ isIdempotent: profile.isIdempotent, calmSinceMs: () => calmSinceMs, isDry: () => lives.isDry() },
    isClockSteady: !faults.on.includes("clock: jumps"),
  });
  const overLimit = (calls: number, limit: number): void =>
    report("S14", `${calls} calls of the service within a second that allows ${limit}`);
  const receivers = createReceivers({ time, faults, report });
  const relays = createRelays({ chain, faults, time, transactionOf: (raw) => book.transactions.get(raw) });
  const isAlwaysPrivate = isPrivate && !faults.on.includes("operator: shows");
  const privacy = createPrivacyOracle({
    ...{ book, rows, wallet, isAlwaysPrivate, report, mostShown: fallback?.slippage },
  });
  const network = createNetwork({
    ...{ time, chain, service, relays, faults, receivers },
    listener: {
      sent: (raw, host) => {
        oracle.sent(raw);
        privacy.sent(raw, host);
      },
      ...{ arrived: oracle.arrived },
      handedOver: oracle.handedOver,
      called: (host) => checkHost(host, report),
      ...{ overLimit, asked: pace.left, answered: pace.ended },
    },
  });
  const drawn = createStrategies({
    ...{ time, faults, ids: strategies.map(({ id }) => id) },
    ...{ first: bench.configuration.strategies, edited: bench.edited },
  });
  const lives = createLives({
    ...{ time, network, faults, trace, report, files, strategies: drawn, cutsLog: terms.cutsLog === true },
    configuration: () => ({
      ...sendingBy(configuration, isShownNow()),
      database: files.file,
      strategies: drawn.configured(),
    }),
    signer: book.signer((signed) => ("raw" in signed ? oracle.transaction(signed) : oracle.message(signed))),
    offsetMs: () => clockOffsetMs(faults, time.monotonicMs),
  });
  const hits = countHits(faults, rows);
  const check = { chain, rows, wallet, strategies, oracle, report };
  const onStep = (): boolean => {
    pace.check();
    if (lives.settle()) {
      oracle.died();
      operator.heardOfDeath();
      checkSafety(check);
    }
    return violations.length < MOST_VIOLATIONS;
  };
  const turn = async (untilMs: number): Promise<boolean> => {
    await time.runUntil(untilMs, onStep);
    return violations.length === 0;
  };
  /** Lets the world turn until a check finds nothing wrong; what it finds at the end of the time is reported. */
  const within = async (bound: typeof REST, check: (report: Report) => void): Promise<void> => {
    const sinceMs = time.monotonicMs;
    for (let afterMs = bound.leastMs; await turn(sinceMs + afterMs); afterMs += bound.everyMs) {
      const found: [string, string][] = [];
      check((invariant, what) => found.push([invariant, what]));
      if (found.length === 0) return;
      if (afterMs < bound.mostMs) continue;
      for (const [invariant, what] of found) report(invariant, what);
      noteUndone(rows, trace, time.trueMs);
      return;
    }
  };
  const blockMs = chance.pick([2_000, 4_000, 6_000], "block time");
  const mine = (): void => {
    service.relayer.beforeBlock();
    relays.beforeBlock();
    trace.note("chain", mineNext(chain, faults, time));
    relays.afterBlock();
    time.after(blockMs, mine);
  };
  time.after(blockMs, mine);
  trace.note("world", `the service is of the profile ${profile.name}`);
  lives.begin();
  operator.begin();
  const chaosMs = chance.between(60, 200, "chaos") * 1_000;
  try {
    let goesOn = await turn(chaosMs);
    while (goesOn && lives.offUntilMs() > time.monotonicMs) goesOn = await turn(lives.offUntilMs() + AFTER_OUTAGE_MS);
    if (goesOn) {
      faults.end();
      calmSinceMs = time.trueMs;
      if (lives.isDry() || chance.of("killed once more") < 0.5) lives.killOnceMore();
      trace.note("world", "nothing goes wrong any more");
      pace.awaitCall();
      void askOnce({ time, network, file: paceFile, logger: silentLogger() });
      const quietSinceMs = time.trueMs;
      await within(PROGRESS, (report) =>
        checkProgress({ ...check, report: report, askedAtMs: service.askedAtMs, quietSinceMs, nowMs: time.trueMs }),
      );
    }
    if (violations.length === 0) {
      operator.pauseAll();
      trace.note("world", "the operator pauses everything");
      await within(REST, (report) => {
        checkRest({ ...check, report: report });
        receivers.checkReported(rows, report);
      });
      checkSafety(check);
      checkFills(check);
      files.checkSecrecy(report);
      rows.close();
      for (const problem of replayAll(files.file).problems) report("S16", problem);
    }
  } catch (error) {
    if (!(error instanceof SpinError)) throw error;
    report("L1", `the daemon spins: ${error.message}`);
  } finally {
    lives.endAll();
    time.end();
    pace.close();
    rows.close();
    files.remove();
  }
  return {
    ...{ seed: terms.seed, strategies: strategies.map(({ id }) => id), faults: faults.on, violations },
    ...{
      traceHash: trace.hash(),
      trace: violations.length > 0 || terms.tells === true ? trace.lines(2_000) : [],
      lives: lives.count(),
      cuts: files.cuts,
      passed: lives.passed,
      struck: faults.struck,
      hits,
    },
    hidden: privacy.count,
    fills: chain.allReceipts().filter(({ logs }) => logs.length > 2).length,
  };
}

/** A world with a budget of a day begins shortly before midnight, so that the day ends while things go wrong. */
function startOf(strategies: readonly SimStrategy[], chance: Chance): number {
  const isOfDay = strategies.some(({ budget }) => budget?.isOfDay === true);
  if (isOfDay) return MIDNIGHT_MS - chance.between(20, 150, "start before midnight") * 1_000;
  return START_MS + chance.between(0, 86_399, "start") * 1_000;
}

function chosen(terms: SeedTerms, drawn: readonly SimStrategy[]): readonly SimStrategy[] {
  const { strategies } = terms;
  return strategies === undefined ? drawn : CATALOGUE.filter(({ id }) => strategies.includes(id));
}

/** In which states swaps are when something goes wrong. */
function countHits(faults: Faults, rows: Rows): ReadonlyMap<string, number> {
  const hits = new Map<string, number>();
  let states: readonly string[] = [];
  faults.watch((name) => {
    // The daemon may read the clock, which jumps, in the middle of a transaction: what counts is what is committed.
    if (!rows.connection().inTransaction) states = openStates(rows);
    for (const state of states) {
      hits.set(`${name} | ${state}`, (hits.get(`${name} | ${state}`) ?? 0) + 1);
    }
  });
  return hits;
}

function withFallback(configuration: Configuration, fallback: Configuration["network"]["fallback"]): Configuration {
  return { ...configuration, network: { ...configuration.network, fallback } };
}

function sendingBy(configuration: Configuration, isShown: boolean): Configuration {
  if (!isShown) return configuration;
  return { ...configuration, network: { ...configuration.network, submit: { kind: "public" } } };
}

function fundsOf(wallet: string): ReadonlyMap<string, bigint> {
  const funds = new Map<string, bigint>();
  for (const token of [...TOKENS, ETH]) {
    funds.set(`balance ${token.address} ${wallet}`, units(token, token.start));
    for (const place of [POOL, STRANGER]) funds.set(`balance ${token.address} ${place}`, units(token, 1_000_000));
  }
  return funds;
}

function checkHost(host: string, report: Report): void {
  if (!/^(rpc[0-2]|relay[01]|service|hook|push)\.sim$/.test(host)) report("S13", `${host} was called`);
}

/** What is still to be done says most about why nothing happens. */
function noteUndone(rows: Rows, trace: Trace, nowMs: number): void {
  for (const { kind, run_id, not_before_ms } of rows.all<{ kind: string; run_id: string; not_before_ms: number }>(
    "SELECT kind, run_id, not_before_ms FROM effects",
  ))
    trace.note("ORACLE", `not done: ${kind} of ${run_id}, due in ${((not_before_ms - nowMs) / 1_000).toFixed(0)} s`);
  for (const { scope, mode, reason } of rows.all<Record<string, string>>("SELECT scope, mode, reason FROM modes"))
    trace.note("ORACLE", `${scope} is ${mode}: ${reason}`);
}
