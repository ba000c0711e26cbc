import { ChainReadError } from "../../domain/chain-read-error.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Change, Decided } from "../../ports/changes.ts";
import type { Standing } from "../../ports/reconciliation-questions.ts";
import type { Difference, DifferenceKind, Finding } from "../../ports/reconciliation-store.ts";
import { commitAndNotify, writeAndNotify } from "../alerts.ts";
import { type EngineContext, isOnChain } from "../engine-context.ts";
import { balancesNow, baselineNow } from "./baseline.ts";
import { advanceMarker, beginUnchecked, claimMarker } from "./begin.ts";
import {
  acceptedSince,
  alertOfNew,
  asksAll,
  foundChange,
  newOnes,
  overIfNothingIsOpen,
  uncheckedOf,
} from "./findings.ts";
import { knownFillsUpTo, newKey, whereToBegin } from "./first-scan.ts";
import { type ScanContext, withPatience } from "./patient-chain.ts";
import type { ReadSoFar } from "./read-back.ts";
import { type Failing, keepReporting } from "./report-unchecked.ts";
import { type ChainScan, scanChain } from "./scan.ts";

/** Checks the database against its marker and the chain. */
export interface Reconciler {
  /** Before anything else of a start: every wallet is unchecked from here on, and signs nothing. */
  begin(): Promise<void>;
  /**
   * Checks every wallet when one is unchecked, or the last check is long ago for what is open; a lost answer ends it.
   */
  scan(): Promise<void>;
  /**
   * Checks again and again until the signal aborts: soon while a wallet is unchecked, each minute while something is
   * open that the chain may settle by now, else by the hour.
   */
  keepChecking(signal: AbortSignal): Promise<void>;
  /**
   * Reports wallets that stay unchecked: their slots wait, and no row would say that nothing is traded. And checks that
   * come to nothing for an hour: a loss would be noticed by nobody.
   */
  keepReporting(signal: AbortSignal): Promise<void>;
}

const ENDS_BY_ITSELF: readonly DifferenceKind[] = ["cannot-prove", "allowance"];
const SCAN_AGAIN_MS = 2_000;
/**
 * What several wallets ask of the chain in the same turn travels together. More at once make each one's answers late, and
 * who waits for seconds asks for fewer blocks: a node of limited throughput would be asked ever more.
 */
const SCANS_AT_ONCE = 16;
const PROVE_EVERY_MS = 60_000;
const POLL_EVERY_MS = 3_600_000;

/** Makes the watch. In a dry run and on paper nothing is signed, and so there is nothing to hold back. */
export function createReconciler(context: EngineContext): Reconciler {
  const { settings, deps } = context;
  const { clock, logger } = deps;
  const wallets = [...deps.signers.keys()];
  const soFar: ReadSoFar = new Map();
  let lastMs: number | undefined;
  const isDue = (open: readonly Difference[]): boolean => {
    const isOpen = (wanted: DifferenceKind): boolean => open.some(({ kind }) => kind === wanted);
    if (lastMs === undefined || isOpen("unchecked")) return true;
    return clock.monotonicMs() - lastMs >= (ENDS_BY_ITSELF.some(isOpen) ? PROVE_EVERY_MS : POLL_EVERY_MS);
  };
  let failing: Failing | undefined;
  /** What keeps one wallet from being checked keeps no other one. @returns what kept it, or as {@link scanWallet} */
  const tryToLook = async (scanContext: ScanContext, wallet: Address): Promise<boolean | { fault: string }> => {
    try {
      return await scanWallet(scanContext, soFar, wallet);
    } catch (error) {
      if (!(error instanceof ChainReadError)) throw error;
      const fault = `${wallet}: ${error.message}`;
      logger.warn({ error: fault }, "the rows could not be checked against the chain yet");
      return { fault };
    }
  };
  const scanOnce = async (scanContext: ScanContext): Promise<void> => {
    const open = await forgetOthers(context, isOnChain(settings) ? wallets : []);
    if (!isOnChain(settings) || !isDue(open)) return;
    const ends: (boolean | { fault: string })[] = [];
    for (let start = 0; start < wallets.length; start += SCANS_AT_ONCE) {
      const some = wallets.slice(start, start + SCANS_AT_ONCE);
      ends.push(...(await Promise.all(some.map((wallet) => tryToLook(scanContext, wallet)))));
    }
    const fault = ends.filter((end) => typeof end === "object").at(-1)?.fault;
    failing = fault === undefined ? undefined : { fault, sinceMs: failing?.sinceMs ?? clock.monotonicMs() };
    if (ends.includes(false)) lastMs = undefined;
    else if (fault === undefined) lastMs = clock.monotonicMs();
  };
  let inFlight: Promise<void> | undefined;
  const scan = (scanContext: ScanContext): Promise<void> => {
    inFlight ??= scanOnce(scanContext).finally(() => {
      inFlight = undefined;
    });
    return inFlight;
  };
  return {
    begin: async () => {
      if (isOnChain(settings)) await beginUnchecked(context, wallets);
    },
    scan: () => scan(context),
    keepChecking: async (signal) => {
      const patient = withPatience(context, signal);
      while (!signal.aborted) {
        await clock.sleep(SCAN_AGAIN_MS, signal);
        if (!signal.aborted) await scan(patient);
      }
    },
    keepReporting: (signal) => keepReporting(context, () => failing, signal),
  };
}

/**
 * Nothing is checked in a dry run or on paper, nor a wallet that is no longer configured: it would stay unchecked for ever.
 * @returns what else is open
 */
async function forgetOthers({ deps }: EngineContext, wallets: readonly Address[]): Promise<readonly Difference[]> {
  const { open } = await deps.store.read({ kind: "standing", keys: [], wallets: [] });
  const others = open.filter(({ kind, wallet }) => kind === "unchecked" && !wallets.includes(wallet));
  if (others.length > 0) {
    await writeAndNotify(
      deps,
      others.map(({ wallet }) => ({ kind: "checked", wallet })),
    );
  }
  return open.filter((one) => !others.includes(one));
}

/** @returns false where the time was up before all was read: the next check goes on soon */
async function scanWallet(context: ScanContext, soFar: ReadSoFar, wallet: Address): Promise<boolean> {
  if (context.deps.treasuries?.has(wallet) === true) return await checkTreasury(context, wallet);
  const { store } = context.deps;
  const rows = await store.read({ kind: "standing", keys: [newKey(wallet)], wallets: [wallet] });
  const known = await whereToBegin(context, wallet, rows);
  if (known === undefined) return true;
  const asked = { isOfAll: asksAll(rows.open, wallet), sinceMs: acceptedSince(rows.open, wallet, context.deps.clock) };
  const seen = await scanChain(context, soFar, { known, fillsSince: knownFillsUpTo(known, rows), ...asked });
  await write(context, wallet, { ...seen, begunBy: uncheckedOf(rows.open, wallet) });
  const after = await store.read({ kind: "standing", keys: [], wallets: [wallet] });
  if (isOurs(after, wallet)) await claimMarker(context, wallet);
  return !seen.isUnfinished;
}

/** Whether nothing speaks against this database as the one that trades for the wallet. */
function isOurs({ open }: Standing, wallet: Address): boolean {
  return open.every((difference) => difference.wallet !== wallet || difference.kind === "cannot-prove");
}

/**
 * The owners of a Safe move its tokens as they like, and no row explains that. What was proposed to them is followed by its
 * hash and nonce; whether the database is the one that proposed it, the marker says. What it has is for people to read.
 */
async function checkTreasury(context: ScanContext, wallet: Address): Promise<boolean> {
  const rows = await context.deps.store.read({ kind: "standing", keys: [], wallets: [wallet] });
  const before = rows.known.get(wallet);
  const known = before === undefined ? await baselineNow(context, wallet) : await balancesNow(context, before);
  const nothing = { findings: [], isUnfinished: false, withoutAllowance: new Set<Address>() };
  await write(context, wallet, { ...nothing, known, begunBy: uncheckedOf(rows.open, wallet) });
  const after = await context.deps.store.read({ kind: "standing", keys: [], wallets: [wallet] });
  if (after.open.every((difference) => difference.wallet !== wallet)) await advanceMarker(context, wallet);
  return true;
}

interface WalletScan extends ChainScan {
  /** the note that the wallet was unchecked when the check began */
  readonly begunBy: string | undefined;
}

/** Writes down what is new, and reports it once; with it what a check of the chain has settled. */
async function write(context: ScanContext, wallet: Address, scan: WalletScan): Promise<void> {
  const { deps } = context;
  const added = await commitAndNotify(deps, {
    question: { kind: "standing", keys: scan.findings.map(({ key }) => key), wallets: [] },
    decide: (rows) => decideScan(context, wallet, { scan, rows }),
  });
  for (const { kind, text } of added) deps.logger.error({ wallet, kind }, text);
}

/**
 * What was unknown is written down in any case. What the rows know, and that the wallet was checked, is not where a
 * person asked for another check while this one was under way: that began with what they accepted, and this one did
 * not.
 */
function decideScan(
  { deps }: ScanContext,
  wallet: Address,
  { scan, rows }: { readonly scan: WalletScan; readonly rows: Standing },
): Decided<readonly Finding[]> {
  const added = newOnes(scan.findings, rows);
  const isOfNow = uncheckedOf(rows.open, wallet) === scan.begunBy;
  const isChecked = isOfNow && (scan.findings.length > 0 || scan.known !== undefined);
  const over = isOfNow ? provedBy(scan, wallet, rows.open) : [];
  const left = rows.open.filter((one) => !over.includes(one));
  const changes: readonly Change[] = [
    ...added.map((finding) => foundChange(deps.clock, finding)),
    ...(isOfNow ? settle(wallet, scan, { over, left: [...left, ...added] }) : []),
    ...(isChecked ? [{ kind: "checked", wallet } as const] : []),
    ...alertOfNew(deps, { wallet, added, open: left }),
  ];
  return { changes, atMs: deps.clock.nowMs(), value: added };
}

/** What could not be proved before and can be now, or is gone for good. */
function provedBy(
  { known, findings, withoutAllowance }: ChainScan,
  wallet: Address,
  open: readonly Difference[],
): readonly Difference[] {
  const found = new Set(findings.map(({ key }) => key));
  return open.filter(({ key, kind, scope, token, facts, wallet: of }) => {
    if (of !== wallet || found.has(key)) return false;
    // An allowance is read by itself. That it is gone says something where the logs show whether it was used up.
    const isAllowance = scope === "token" && facts.spender !== undefined;
    // What is refused since, or reads well to its end, is no more being read; nothing could be accepted beside it.
    const isProved = kind === "cannot-prove" && (known !== undefined || isAllowance || facts.readUpTo !== undefined);
    const isGone = kind === "allowance" && known !== undefined && token !== undefined && withoutAllowance.has(token);
    return isProved || isGone;
  });
}

/** How far the chain is known, where that was proved, and what is over with it. */
function settle(
  wallet: Address,
  { known }: ChainScan,
  { over, left }: { readonly over: readonly Difference[]; readonly left: readonly Finding[] },
): readonly Change[] {
  return [
    ...(known === undefined ? [] : [{ kind: "known-chain", known } as const]),
    ...over.map(({ id }) => ({ kind: "difference-settled", id, by: "chain" }) as const),
    ...overIfNothingIsOpen(wallet, left),
  ];
}
