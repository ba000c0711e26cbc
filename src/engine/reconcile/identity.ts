import type { Address } from "../../domain/money/address.ts";
import type { IdentityMarker, Marker } from "../../ports/identity-marker.ts";
import type { DatabaseState, Finding, ReconciliationStore } from "../../ports/reconciliation-store.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * Holds the database against the marker that stands outside of its folder: another database where the wallet's was is a
 * lost one, and one that knows of fewer signatures is an older copy.
 */
export function judgeMarker(
  {
    store,
    marker,
  }: { readonly store: Pick<ReconciliationStore, "databaseState">; readonly marker?: IdentityMarker | undefined },
  wallet: Address,
): Finding | undefined {
  return judgeState(marker?.read(wallet)?.state, store.databaseState(), wallet);
}

/** The same of what was read. @param seen what the wallet's marker says; undefined: nothing */
export function judgeState(seen: Marker["state"], ours: DatabaseState, wallet: Address): Finding | undefined {
  if (seen === undefined) return undefined;
  const what = { wallet, token: undefined, scope: "wallet" } as const;
  if (seen.id !== ours.id) {
    const text = `the database that traded for ${wallet} is lost: this one is another, and knows nothing of what that one signed (${seen.signatures} steps of typed data, ${seen.signings} of transactions); bring it back with \`swapd restore\`, or mount its volume`;
    // With its counts: the same database may be put back, sign more, and be lost once more.
    const key = `lost ${wallet} ${seen.id} ${seen.signatures} ${seen.signings}`;
    return { key, ...what, kind: "lost", text, facts: { ...numbers(seen), id: seen.id } };
  }
  if (ours.signatures >= seen.signatures && ours.signings >= seen.signings) return undefined;
  const text = `the database is an older copy: for ${wallet} its marker counts ${seen.signatures} steps of signing typed data and ${seen.signings} of signing transactions, the rows know ${ours.signatures} and ${ours.signings}`;
  // Without our own counts: accepting raises them, and the marker follows only with the look after it.
  const key = `older ${wallet} ${seen.signatures} ${seen.signings}`;
  return { key, ...what, kind: "older", text, facts: numbers(seen) };
}

function numbers({ signatures, signings }: { signatures: number; signings: number }): Record<string, string> {
  return { signatures: signatures.toString(), signings: signings.toString() };
}

/** Writes what the database knows into the wallet's marker, unless that stands there already. */
export function advanceMarker(
  { deps }: { readonly deps: Pick<EngineContext["deps"], "marker" | "store"> },
  wallet: Address,
): void {
  const { marker, store } = deps;
  const known = store.knownChain(wallet);
  const { id, signatures, signings } = store.databaseState();
  if (marker === undefined || known === undefined || id === undefined) return;
  const stands = marker.read(wallet)?.state;
  if (stands?.id === id && stands.signatures === signatures && stands.signings === signings) return;
  marker.write(wallet, { state: { id, signatures, signings }, baseline: known.baseline });
}
