import { type Address, toAddress } from "../../domain/money/address.ts";
import { tradedSides } from "../../domain/strategy/strategy.ts";
import type { LaneRowStore } from "../../ports/lane-row-store.ts";
import type { Difference } from "../../ports/reconciliation-store.ts";
import type { EngineContext, LoadedStrategy } from "../engine-context.ts";
import { addUnchecked, endAlertIfNothingIsOpen } from "./reconciler.ts";

/** What accepting needs: the running daemon has it, and a command that took the daemon's place. */
export interface AcceptContext {
  readonly settings: {
    readonly chainId: number;
    readonly strategies: readonly LoadedStrategy[];
    readonly pace: Pick<EngineContext["settings"]["pace"], "maxLifetimeSeconds">;
  };
  readonly deps: Pick<EngineContext["deps"], "store" | "clock"> & {
    readonly laneStore: Pick<LaneRowStore, "acceptCount">;
  };
}

/** What another database signed is behind these, and nobody knows what of it is still to be filled. */
const OF_ANOTHER_DATABASE: ReadonlySet<Difference["kind"]> = new Set(["new", "lost", "older"]);

/**
 * A person accepts what the chain or the marker knows and the rows do not. Accepted fills count in the budget of every
 * strategy that may have made them, so that nobody sells above it; foreign allowances are taken back; then the wallet is
 * held against the chain once more before it signs. To be called inside the transaction that answers.
 * @returns what was accepted, for the person
 */
export function acceptDifferences(context: AcceptContext, by: string): string {
  const { store, clock } = context.deps;
  const atMs = clock.nowMs();
  store.capFindings(atMs);
  const open = store.openDifferences().filter(({ kind }) => kind !== "unchecked");
  if (open.length === 0) return "refused: nothing is open that could be accepted; see: swapd db check";
  const youngMs = stillToBeFilled(context, open);
  if (youngMs !== undefined) {
    const instant = new Date(youngMs).toISOString();
    return `refused: what another database signed may be filled until its deadline, at the latest ${instant}; accepted before that, such a fill would count in no budget. Ask again then`;
  }
  const said = open.map((difference) => {
    store.settleDifference(difference.id, { by, atMs });
    return `${difference.text}${carryOver(context, difference, by)}`;
  });
  // All else may be the trade of a run that is still open here, and that would trade once more.
  if (open.some(({ kind }) => kind !== "allowance")) store.barOpenRuns();
  for (const wallet of new Set(open.map((difference) => difference.wallet))) {
    // Anew: a look that has begun already is not the one that comes after this.
    store.removeUnchecked(wallet);
    addUnchecked(context, wallet);
    endAlertIfNothingIsOpen(context, wallet);
  }
  return [`accepted ${open.length}:`, ...said].join("\n  ");
}

/**
 * Until when an order that is in nobody's rows may still be filled: whoever signed it did so before this database was
 * looked at. The wall clock may have been set since; only after a boot of the machine there is no better one.
 * @returns undefined when every such order has expired
 */
function stillToBeFilled({ settings, deps }: AcceptContext, open: readonly Difference[]): number | undefined {
  const [nowMs, now] = [deps.clock.nowMs(), deps.clock.sinceBoot()];
  const ages = open
    .filter(({ kind }) => OF_ANOTHER_DATABASE.has(kind))
    .map(({ foundAtMs, foundSinceBoot }) =>
      foundSinceBoot?.id === now.id ? now.ms - foundSinceBoot.ms : nowMs - foundAtMs,
    );
  const leftMs = settings.pace.maxLifetimeSeconds * 1_000 - Math.min(...ages);
  return leftMs > 0 ? nowMs + leftMs : undefined;
}

/** What follows from accepting one. @returns what is to be said of that */
function carryOver(context: AcceptContext, difference: Difference, by: string): string {
  const { store, clock } = context.deps;
  const { wallet, facts, kind, scope } = difference;
  const known = store.knownChain(wallet);
  if (kind === "nonce" && known !== undefined) {
    const transactionCount = Number(facts.count);
    store.saveKnownChain({ ...known, transactionCount }, clock.nowMs());
    const account = { account: wallet, chainId: context.settings.chainId, transactionCount };
    context.deps.laneStore.acceptCount(account, { by, atMs: clock.nowMs() });
  }
  // What could not be proved is accepted up to here: balances of before prove nothing any more.
  if (kind === "cannot-prove" && scope !== "token" && known !== undefined) {
    const block = Math.max(known.block, Number(facts.toBlock ?? known.block));
    store.saveKnownChain({ ...known, block, balances: new Map() }, clock.nowMs());
  }
  // From here on the other database is the one that knows less, should it come back.
  if (kind === "older" || kind === "lost") store.countBeyond(Number(facts.signatures ?? 0));
  if (kind === "allowance") {
    const grant = { wallet, token: toAddress(facts.token ?? ""), spender: toAddress(facts.spender ?? "") };
    // An older release did not write the block down.
    store.adoptGrant(grant, { block: Number(facts.block ?? 0), atMs: clock.nowMs() });
    return "; it is taken back";
  }
  if (kind === "fill") return countSale(context, difference, { sell: facts.sell, buy: facts.buy, sold: facts.sold });
  if (kind === "outflow") return countSale(context, difference, { sell: facts.token, sold: facts.amount });
  return "";
}

interface Sale {
  readonly sell: string | undefined;
  /** undefined where only the sold token is known */
  readonly buy?: string | undefined;
  readonly sold: string | undefined;
}

/** A sale counts in the budget of every strategy that may have made it: rather too much than too little. */
function countSale(context: AcceptContext, { id, wallet }: Difference, { sell, buy, sold }: Sale): string {
  const soldToken = toAddress(sell ?? "");
  const boughtToken = buy === undefined ? undefined : toAddress(buy);
  const mayHave = context.settings.strategies.filter(({ spec }) => {
    const { sells, buys } = tradedSides(spec);
    const has = (tokens: readonly { address: Address }[], token: Address): boolean =>
      tokens.some(({ address }) => address === token);
    const buysIt = boughtToken === undefined || has(buys, boughtToken);
    return spec.wallet.address === wallet && has(sells, soldToken) && buysIt;
  });
  for (const { spec } of mayHave) {
    const sale = { differenceId: id, strategy: spec.id, token: soldToken, amount: BigInt(sold ?? "0") };
    context.deps.store.countSale(sale);
  }
  const names = mayHave.map(({ spec }) => spec.id).join(", ");
  return names === "" ? "; no strategy sells this, it counts in no budget" : `; it counts in the budget of ${names}`;
}
