import type { Address } from "../../domain/money/address.ts";
import { SigningError } from "../../domain/signing-error.ts";
import type { Change, Decided } from "../../ports/changes.ts";
import type { Standing } from "../../ports/reconciliation-questions.ts";
import type { Finding } from "../../ports/reconciliation-store.ts";
import { commitAndNotify } from "../alerts.ts";
import type { EngineContext } from "../engine-context.ts";
import { alertOfNew, foundChange, noteOfAll, OF_MARKERS, overIfNothingIsOpen, uncheckedChange } from "./findings.ts";
import {
  judgeMarker,
  judgeMarkers,
  type MarkedState,
  nameInMarker,
  readMarkers,
  type SeenMarkers,
  writeMarker,
} from "./identity.ts";

/** What it reads of the chain is no matter here. */
interface BeginContext {
  readonly settings: { readonly pace: Pick<EngineContext["settings"]["pace"], "maxLifetimeSeconds"> };
  readonly deps: Omit<EngineContext["deps"], "chain">;
}

/** Checks the database against the markers of all wallets, which are unchecked from here on, all in one commit. */
export async function beginUnchecked(context: BeginContext, wallets: readonly Address[]): Promise<void> {
  const { deps } = context;
  const seen = readMarkers(deps.marker, wallets);
  const added = await commitAndNotify(deps, {
    question: { kind: "standing", keys: seen.keys, wallets: [] },
    decide: (rows) => decideBegin(context, { wallets, seen }, rows),
  });
  for (const { wallet, kind, text } of added) deps.logger.error({ wallet, kind }, text);
}

/**
 * Writes what the database knows now into the wallet's marker: something of the wallet's is to leave. Not where the marker
 * says that another database trades for the wallet by now, or a newer state of this one: that halts the wallet, as at a
 * start. Where that is known already nothing comes so far.
 * @returns why nothing may leave
 */
export async function advanceMarker(context: BeginContext, wallet: Address): Promise<string | undefined> {
  return await markUnlessOther(context, wallet, writeMarker);
}

/** The same before a signature. @throws SigningError where nothing may be signed */
export async function markBeforeSigning(context: BeginContext, wallet: Address): Promise<void> {
  const other = await advanceMarker(context, wallet);
  if (other !== undefined) throw new SigningError("held back", other);
}

/** Names the database in the wallet's marker, likewise. */
export async function claimMarker(context: BeginContext, wallet: Address): Promise<void> {
  await markUnlessOther(context, wallet, nameInMarker);
}

async function markUnlessOther(
  context: BeginContext,
  wallet: Address,
  mark: typeof writeMarker,
): Promise<string | undefined> {
  const { marker, store } = context.deps;
  const { maxLifetimeSeconds } = context.settings.pace;
  if (marker === undefined) return undefined;
  const { rows, fresh } = await judgeMarkers(store, marker, [wallet]);
  const [other] = fresh;
  if (other === undefined) mark(marker, wallet, rows, maxLifetimeSeconds);
  else await beginUnchecked(context, [wallet]);
  return other?.text;
}

function decideBegin(
  { deps }: BeginContext,
  { wallets, seen }: { readonly wallets: readonly Address[]; readonly seen: SeenMarkers },
  rows: Standing,
): Decided<readonly Finding[]> {
  const { ids, clock } = deps;
  const id = rows.database.id ?? ids.newId("database");
  const ours = { ...rows.database, id };
  const added: Finding[] = [];
  const changes: Change[] = rows.database.id === undefined ? [{ kind: "database-named", id }] : [];
  for (const wallet of wallets) {
    const state = seen.of(wallet, id);
    const identity = judgeMarker({ ours, seen: state }, wallet);
    if (identity === undefined) changes.push(...settleIdentity(wallet, state, rows));
    else if (!rows.reported.has(identity.key)) {
      added.push(identity);
      const alert = alertOfNew(deps, { wallet, added: [identity], open: rows.open });
      changes.push(refuseOldRequests(), foundChange(clock, identity), ...alert);
    }
    // Anew: what was found at an earlier start is checked against the chain once more.
    if (identity !== undefined) changes.push({ kind: "checked", wallet });
    // The check after an acceptance is still to come: the marker names the other database until then, and a dry run, which
    // checks nothing, took the note away.
    const isAccepted = noteOfAll(rows.open, wallet) !== undefined || rows.acceptedUnproved.has(wallet);
    changes.push(uncheckedChange(clock, wallet, isAccepted ? "all" : "one"));
  }
  return { changes, atMs: clock.nowMs(), value: added };
}

/**
 * What another marker showed, as that of another installation whose volume was mounted here, is over with the right
 * one.
 */
function settleIdentity(wallet: Address, state: MarkedState | undefined, { open }: Standing): readonly Change[] {
  if (state === undefined) return [];
  const reported = open.filter((one) => one.wallet === wallet && OF_MARKERS.has(one.kind));
  if (reported.length === 0) return [];
  const settled = reported.map(({ id }) => ({ kind: "difference-settled", id, by: "chain" }) as const);
  const left = open.filter((one) => !reported.includes(one));
  return [...settled, ...overIfNothingIsOpen(wallet, left)];
}

/** What was asked before a copy was made, and stands in it, is no word on what the copy lacks. */
function refuseOldRequests(): Change {
  const answer = "refused: it was asked before this copy of the database was put back; ask again";
  return { kind: "requests-refused", answer };
}
