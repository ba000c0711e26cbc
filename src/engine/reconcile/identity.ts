import type { Address } from "../../domain/money/address.ts";
import type { IdentityMarker, Marker } from "../../ports/identity-marker.ts";
import type { Standing } from "../../ports/reconciliation-questions.ts";
import type { DatabaseState, Finding } from "../../ports/reconciliation-store.ts";
import type { UnitOfWork } from "../../ports/unit-of-work.ts";

/** What a marker says of the database that it stands for. */
export type MarkedState = NonNullable<Marker["state"]>;

/**
 * Checks the database against the marker that stands outside of its folder: another database where the wallet's was is a
 * lost one, and one that knows of fewer signatures is an older copy.
 * @param states.seen what the wallet's marker says; undefined where there is none
 */
export function judgeMarker(
  { ours, seen }: { readonly ours: DatabaseState; readonly seen: MarkedState | undefined },
  wallet: Address,
): Finding | undefined {
  if (seen === undefined) return undefined;
  const what = { wallet, token: undefined, scope: "wallet" } as const;
  if (seen.id !== ours.id) {
    const text = `the database that traded for ${wallet} is lost: this one is another, and knows nothing of what that one signed (${seen.signatures} steps of typed data, ${seen.signings} of transactions); bring it back with \`swapd restore\`, or mount its volume`;
    return { key: lostKey(wallet, seen), ...what, kind: "lost", text, facts: { ...numbers(seen), id: seen.id } };
  }
  if (ours.signatures >= seen.signatures && ours.signings >= seen.signings) return undefined;
  const text = `the database is an older copy: for ${wallet} its marker counts ${seen.signatures} steps of signing typed data and ${seen.signings} of signing transactions, the rows know ${ours.signatures} and ${ours.signings}`;
  return { key: olderKey(wallet, seen), ...what, kind: "older", text, facts: numbers(seen) };
}

/** The keys of all differences that a marker may show of a wallet. */
function markerKeys(wallet: Address, seen: MarkedState | undefined): readonly string[] {
  return seen === undefined ? [] : [lostKey(wallet, seen), olderKey(wallet, seen)];
}

/** With its counts: the same database may be put back, sign more, and be lost once more. */
function lostKey(wallet: Address, { id, signatures, signings }: MarkedState): string {
  return `lost ${wallet} ${id} ${signatures} ${signings}`;
}

/** Without our own counts: accepting raises them, and the marker follows only with the check after it. */
function olderKey(wallet: Address, { signatures, signings }: MarkedState): string {
  return `older ${wallet} ${signatures} ${signings}`;
}

function numbers({ signatures, signings, lifetimeSeconds }: MarkedState): Record<string, string> {
  const counts = { signatures: signatures.toString(), signings: signings.toString() };
  return lifetimeSeconds === undefined ? counts : { ...counts, lifetimeSeconds: lifetimeSeconds.toString() };
}

/**
 * What the markers of all wallets say together. The counts of a database are over all its wallets, and each wallet's
 * marker is written when that wallet signs: what the furthest of them counts holds for every wallet of its database.
 */
export interface SeenMarkers {
  /** of all differences that they may show */
  readonly keys: readonly string[];
  /** What is said of a wallet to a database: another one that its own marker names, or the furthest counts of this one. */
  of(wallet: Address, database: string | undefined): MarkedState | undefined;
}

/** Reads the markers of wallets. @throws Error where one is there and cannot be read */
export function readMarkers(marker: IdentityMarker | undefined, wallets: readonly Address[]): SeenMarkers {
  const own = new Map(wallets.map((wallet) => [wallet, marker?.read(wallet)?.state]));
  const furthest = new Map<string, MarkedState>();
  for (const state of own.values()) {
    const before = state && furthest.get(state.id);
    if (state !== undefined && (before === undefined || isBehind(before, state))) furthest.set(state.id, state);
  }
  return {
    keys: wallets.flatMap((wallet) =>
      [...furthest.values(), own.get(wallet)].flatMap((one) => markerKeys(wallet, one)),
    ),
    of: (wallet, database) => {
      const state = own.get(wallet);
      const isAnother = state !== undefined && state.id !== database;
      return isAnother || database === undefined ? state : furthest.get(database);
    },
  };
}

/** Checks the database against the markers of wallets now. @returns with its rows what they do not have yet */
export async function judgeMarkers(
  store: UnitOfWork,
  marker: IdentityMarker | undefined,
  wallets: readonly Address[],
): Promise<{ readonly rows: Standing; readonly fresh: readonly Finding[] }> {
  const seen = readMarkers(marker, wallets);
  const rows = await store.read({ kind: "standing", keys: seen.keys, wallets });
  const ours = rows.database;
  const found = wallets.flatMap((wallet) => judgeMarker({ ours, seen: seen.of(wallet, ours.id) }, wallet) ?? []);
  return { rows, fresh: found.filter(({ key }) => !rows.reported.has(key)) };
}

/**
 * Writes what the database knows into the wallet's marker, unless that stands there already. Another signature may have
 * gone further since the rows were read: a marker of the database never goes back.
 * @param lifetimeSeconds how long what is signed now may be filled at most
 */
export function writeMarker(
  marker: IdentityMarker | undefined,
  wallet: Address,
  { known, database }: Pick<Standing, "known" | "database">,
  lifetimeSeconds = 0,
): void {
  const baseline = known.get(wallet)?.baseline;
  const { id, signatures, signings } = database;
  if (marker === undefined || baseline === undefined || id === undefined) return;
  const stands = marker.read(wallet)?.state;
  if (stands?.id === id && !isBehind(stands, database)) return;
  // What was signed before its time was shortened may still be out.
  const longest = Math.max(lifetimeSeconds, (stands?.id === id ? stands.lifetimeSeconds : undefined) ?? 0);
  marker.write(wallet, { state: { id, signatures, signings, lifetimeSeconds: longest }, baseline });
}

/**
 * Names the database in the wallet's marker, where that does not name it yet. How often the wallet signed stands there
 * already: its own signatures advance it, and those of other wallets stand in theirs.
 */
export function nameInMarker(
  marker: IdentityMarker | undefined,
  wallet: Address,
  rows: Pick<Standing, "known" | "database">,
  lifetimeSeconds = 0,
): void {
  if (marker?.read(wallet)?.state?.id !== rows.database.id) writeMarker(marker, wallet, rows, lifetimeSeconds);
}

/** Accepting an older copy counts its steps with typed data beyond those of the marker: they come first. */
function isBehind(stands: MarkedState, { signatures, signings }: DatabaseState): boolean {
  return stands.signatures < signatures || (stands.signatures === signatures && stands.signings < signings);
}
