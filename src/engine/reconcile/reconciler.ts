import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import { SUBJECT } from "../../domain/run/alert.ts";
import type { BootInstant, Clock } from "../../ports/clock.ts";
import type { DifferenceKind, Finding, KnownChain } from "../../ports/reconciliation-store.ts";
import { raiseAlerts, tellAlerts } from "../alerts.ts";
import type { EngineContext } from "../engine-context.ts";
import { baselineNow, countNow } from "./baseline.ts";
import { advanceMarker, judgeMarker } from "./identity.ts";
import { type Look, lookAtChain, refusalOf } from "./look.ts";
import { type LookContext, withPatience } from "./patient-chain.ts";
import { type ReadSoFar, readTrades } from "./read-back.ts";
import { keepTelling } from "./tell-unchecked.ts";

/** Holds the database against its marker and the chain. */
export interface Reconciler {
  /** Before anything else of a start: every wallet is unchecked from here on, and signs nothing. */
  begin(): void;
  /** Looks at every wallet when one is unchecked, or the last look is long ago for what is open; a lost answer ends it. */
  look(): Promise<void>;
  /**
   * Looks again and again until the signal aborts: soon while a wallet is unchecked, each minute while something is open
   * that the chain may settle by now, else by the hour.
   */
  keepLooking(signal: AbortSignal): Promise<void>;
  /** Tells of wallets that stay unchecked: their slots wait, and no row would say that nothing is traded. */
  keepTelling(signal: AbortSignal): Promise<void>;
}

const OF_MARKERS: ReadonlySet<DifferenceKind> = new Set(["lost", "older"]);
const ENDS_BY_ITSELF: readonly DifferenceKind[] = ["cannot-prove", "allowance"];
const LOOK_AGAIN_MS = 2_000;
const PROVE_EVERY_MS = 60_000;
const LOOK_EVERY_MS = 3_600_000;
/** Where the chain is no longer than this, a wallet that never traded here can be told by the chain alone. */
const PROVABLE_BLOCKS = 100_000;

/** Makes the watch. In a dry run nothing is signed, and so there is nothing to hold back. */
export function createReconciler(context: EngineContext): Reconciler {
  const { settings, deps } = context;
  const { store, clock, logger } = deps;
  const wallets = [...deps.signers.keys()];
  const soFar: ReadSoFar = new Map();
  let lastMs: number | undefined;
  const isOpen = (wanted: DifferenceKind): boolean => store.openDifferences().some(({ kind }) => kind === wanted);
  const isDue = (): boolean => {
    if (lastMs === undefined || isOpen("unchecked")) return true;
    return clock.monotonicMs() - lastMs >= (ENDS_BY_ITSELF.some(isOpen) ? PROVE_EVERY_MS : LOOK_EVERY_MS);
  };
  let fault: string | undefined;
  const lookOnce = async (reading: LookContext): Promise<void> => {
    forgetOthers(context, settings.live ? wallets : []);
    if (!settings.live || !isDue()) return;
    let isFinished = true;
    let found: string | undefined;
    // What keeps one wallet from being looked at keeps no other one.
    for (const wallet of wallets) {
      try {
        isFinished = (await lookAt(reading, soFar, wallet)) && isFinished;
      } catch (error) {
        if (!(error instanceof ChainReadError)) throw error;
        found = `${wallet}: ${error.message}`;
        logger.warn({ error: found }, "the rows could not be held against the chain yet");
      }
    }
    if (!isFinished) lastMs = undefined;
    else if (found === undefined) lastMs = clock.monotonicMs();
    fault = found;
  };
  let inFlight: Promise<void> | undefined;
  const look = (reading: LookContext): Promise<void> => {
    inFlight ??= lookOnce(reading).finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
  return {
    begin: () => {
      if (settings.live) begin(context, wallets);
    },
    look: () => look(context),
    keepLooking: async (signal) => {
      const patient = withPatience(context, signal);
      while (!signal.aborted) {
        await clock.sleep(LOOK_AGAIN_MS, signal);
        if (!signal.aborted) await look(patient);
      }
    },
    keepTelling: (signal) =>
      keepTelling(context, { isUnchecked: () => isOpen("unchecked"), fault: () => fault }, signal),
  };
}

/** Nobody looks in a dry run, nor at a wallet that is configured no more: what was unchecked then would be so for ever. */
function forgetOthers({ deps: { store } }: EngineContext, wallets: readonly Address[]): void {
  for (const { kind, wallet } of store.openDifferences()) {
    if (kind === "unchecked" && !wallets.includes(wallet)) store.removeUnchecked(wallet);
  }
}

function begin(context: EngineContext, wallets: readonly Address[]): void {
  const { store, ids } = context.deps;
  if (store.databaseState().id === undefined) store.nameDatabase(ids.newId("database"));
  for (const wallet of wallets) {
    const identity = judgeMarker(context.deps, wallet);
    if (identity === undefined) settleIdentity(context, wallet);
    else if (!isTold(context, identity)) refuseOldRequests(context);
    write(context, wallet, identity === undefined ? [] : [identity]);
    addUnchecked(context, wallet);
  }
}

function isTold({ deps: { store } }: EngineContext, { key }: Finding): boolean {
  return store.wasAccepted(key) || store.openDifferences().some((one) => one.key === key);
}

/** What another marker told, as that of another installation whose volume was mounted here, is over with the right one. */
function settleIdentity(context: EngineContext, wallet: Address): void {
  const { store, clock, marker } = context.deps;
  if (marker?.read(wallet)?.state === undefined) return;
  const told = store.openDifferences().filter((one) => one.wallet === wallet && OF_MARKERS.has(one.kind));
  if (told.length === 0) return;
  store.transaction(() => {
    for (const { id } of told) store.settleDifference(id, { by: "chain", atMs: clock.nowMs() });
    endAlertIfNothingIsOpen(context, wallet);
  });
}

/** What was asked before a copy was made, and stands in it, is no word on what the copy lacks. */
function refuseOldRequests({ deps: { store, clock } }: EngineContext): void {
  const answer = "refused: it was asked before this copy of the database was put back; ask again";
  for (const { id } of store.openRequests()) store.answerRequest(id, answer, clock.nowMs());
}

interface Writing {
  readonly deps: Pick<LookContext["deps"], "store" | "clock">;
}

/** Until the chain was held against the rows nothing is signed for a wallet. */
export function addUnchecked({ deps }: Writing, wallet: Address): void {
  const text = `${wallet} signs nothing until its rows were held against the chain`;
  const what = { wallet, token: undefined, kind: "unchecked", scope: "wallet", facts: {} } as const;
  deps.store.addDifference({ key: `unchecked ${wallet}`, ...what, text }, instantOf(deps.clock));
}

function instantOf(clock: Clock): { readonly ms: number; readonly sinceBoot: BootInstant } {
  return { ms: clock.nowMs(), sinceBoot: clock.sinceBoot() };
}

/** @returns false where the time was up before all was read: the next look goes on soon */
async function lookAt(context: LookContext, soFar: ReadSoFar, wallet: Address): Promise<boolean> {
  const { store } = context.deps;
  const known = await whereToBegin(context, wallet);
  if (known === undefined) {
    // A database that does not know the wallet: a person decides, and nothing more can be said until then.
    store.transaction(() => store.removeUnchecked(wallet));
    return true;
  }
  const before = uncheckedOf(store, wallet);
  const seen = await lookAtChain(context, soFar, known);
  write(context, wallet, seen.findings, { ...seen, isOfNow: uncheckedOf(store, wallet) === before });
  const open = store.openDifferences().filter((difference) => difference.wallet === wallet);
  if (open.every(({ kind }) => kind === "cannot-prove")) advanceMarker(context, wallet);
  return !seen.isUnfinished;
}

/** Which note it is that a wallet is unchecked: one that came while a look was under way is none of that look's. */
function uncheckedOf(store: LookContext["deps"]["store"], wallet: Address): string | undefined {
  const note = store.openDifferences().find((one) => one.wallet === wallet && one.kind === "unchecked");
  return note === undefined ? undefined : `${note.id} ${note.foundAtMs}`;
}

/** The block that the rows know, as it is written down; for a wallet without one, where it begins. */
async function whereToBegin(context: LookContext, wallet: Address): Promise<KnownChain | undefined> {
  const { store, marker, clock, chain, laneStore } = context.deps;
  const known = store.knownChain(wallet);
  if (known !== undefined) return known;
  const save = (row: KnownChain): KnownChain => {
    store.saveKnownChain(row, clock.nowMs());
    return row;
  };
  const seen = marker?.read(wallet);
  if (seen?.baseline !== undefined) {
    const { baseline } = seen;
    return save({ wallet, ...baseline, balances: new Map(), baseline });
  }
  const { hasSigned, lastBlock } = store.signedHistory(wallet);
  if (hasSigned) {
    const highest = laneStore.highestNonce(wallet, context.settings.chainId);
    const transactionCount =
      highest === undefined ? await countNow(context, wallet, await chain.agreed()) : highest + 1;
    const baseline = { block: lastBlock, transactionCount };
    return save({ wallet, ...baseline, balances: new Map(), baseline });
  }
  const isAccepted = seen !== undefined || store.wasAccepted(newKey(wallet));
  if (isAccepted || (await isUnused(context, wallet))) return save(await baselineNow(context, wallet));
  return undefined;
}

function newKey(wallet: Address): string {
  return `new ${wallet}`;
}

/**
 * Whether the chain itself shows that the wallet never traded here: no fill of it in our settlement and no allowance to
 * it, since the first block. Else the wallet may have had a database that is lost, and a person has to say.
 */
async function isUnused(context: LookContext, wallet: Address): Promise<boolean> {
  const { chain, store } = context.deps;
  const { number } = await chain.latest();
  const spender = context.settings.contracts.spender;
  let why: string | undefined;
  if (number > PROVABLE_BLOCKS) why = `nobody reads all ${number} blocks back`;
  else {
    const trades = await readTrades(context, wallet, { fromBlock: 0, toBlock: number }).catch(refusalOf);
    if (typeof trades === "string") why = `its logs are refused: ${trades}`;
    else if (trades[0] !== undefined)
      why = `the chain knows ${trades.length} fills of it, the first in block ${trades[0].blockNumber}`;
  }
  for (const { address: token } of context.settings.tokens) {
    if (why !== undefined || token === context.settings.native.address) continue;
    if (store.hasGrant({ wallet, token, spender })) continue;
    const amount = await chain.allowance({ token, owner: wallet, spender }).catch(refusalOf);
    if (typeof amount === "string") why = `its allowance of ${token} is refused: ${amount}`;
    else if (amount > 0n) why = `it allows ${spender} to take ${amount} of ${token}`;
  }
  if (why === undefined) return true;
  const text = `this database knows nothing of ${wallet}, which may have traded before (${why}): if there was another database, bring it back with \`swapd restore\`; accepted, budgets, caps and memories begin at nothing`;
  const what = { wallet, token: undefined, kind: "new", scope: "wallet", facts: {} } as const;
  write(context, wallet, [{ key: newKey(wallet), ...what, text }]);
  return false;
}

interface Timely {
  /** whether nobody asked for another look since it began */
  readonly isOfNow: boolean;
}

/** Writes down what is new, and tells it once; with it what a look at the chain has settled. */
function write(context: LookContext, wallet: Address, findings: readonly Finding[], look?: Look & Timely): void {
  const { deps } = context;
  const { store, clock, logger } = deps;
  const added: Finding[] = [];
  const alerts = store.transaction(() => {
    const at = instantOf(clock);
    added.push(...findings.filter((finding) => store.addDifference(finding, at)));
    if (look !== undefined) settle(context, wallet, look);
    if (look?.isOfNow !== false && (findings.length > 0 || look?.known !== undefined)) store.removeUnchecked(wallet);
    const [first, ...more] = added;
    if (first === undefined) return [];
    const others = more.length === 0 ? "" : ` (and ${more.length} more)`;
    const text = `${first.text}${others}; nothing that it touches is signed. See: swapd db check; accept: swapd db accept`;
    return raiseAlerts(deps, [
      { severity: "critical", code: "DATABASE_BEHIND", subject: SUBJECT.database(wallet), text },
    ]);
  });
  for (const { kind, text } of added) logger.error({ wallet, kind }, text);
  tellAlerts(deps, alerts);
}

/** How far the chain is known, where that was proved; what could not be proved before and can be now, or is gone for good. */
function settle(context: LookContext, wallet: Address, { known, findings, withoutAllowance }: Look): void {
  const { store, clock } = context.deps;
  const atMs = clock.nowMs();
  if (known !== undefined) store.saveKnownChain(known, atMs);
  const found = new Set(findings.map(({ key }) => key));
  for (const { id, key, kind, scope, token, ...open } of store.openDifferences()) {
    if (open.wallet !== wallet || found.has(key)) continue;
    // An allowance is read by itself. That it is gone says something where the logs tell whether it was used up.
    const isProved = kind === "cannot-prove" && (known !== undefined || scope === "token");
    const isGone = kind === "allowance" && known !== undefined && token !== undefined && withoutAllowance.has(token);
    if (isProved || isGone) store.settleDifference(id, { by: "chain", atMs });
  }
  endAlertIfNothingIsOpen(context, wallet);
}

/** What was said about the wallet's database is over once nothing of it is open. */
export function endAlertIfNothingIsOpen({ deps }: Writing, wallet: Address): void {
  const { store, clock } = deps;
  const isOpen = store.openDifferences().some((one) => one.wallet === wallet && one.kind !== "unchecked");
  if (!isOpen) store.endAlerts(SUBJECT.database(wallet), clock.nowMs());
}
