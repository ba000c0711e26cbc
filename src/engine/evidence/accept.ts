import { type Address, toAddress } from "../../domain/money/address.ts";
import { tradedSides } from "../../domain/strategy/strategy.ts";
import type { Difference } from "../../ports/evidence-store.ts";
import type { EngineContext } from "../engine-context.ts";
import { addUnchecked, endAlertIfNothingIsOpen } from "./evidence.ts";

/**
 * A person accepts what the chain or the marker knows and the rows do not. Accepted fills count in the budget of every
 * strategy that may have made them, so that nobody sells above it; foreign allowances are taken back; then the wallet is
 * held against the chain once more before it signs. To be called inside the transaction that answers.
 * @returns what was accepted, for the person
 */
export function acceptDifferences(context: EngineContext, by: string): string {
  const { store, clock } = context.deps;
  const open = store.openDifferences().filter(({ kind }) => kind !== "unchecked");
  if (open.length === 0) return "refused: nothing is open that could be accepted; see: swapd db check";
  const atMs = clock.nowMs();
  const said = open.map((difference) => {
    store.settleDifference(difference.id, { by, atMs });
    return `${difference.text}${carryOver(context, difference)}`;
  });
  for (const wallet of new Set(open.map((difference) => difference.wallet))) {
    addUnchecked(context, wallet);
    endAlertIfNothingIsOpen(context, wallet);
  }
  return [`accepted ${open.length}:`, ...said].join("\n  ");
}

/** What follows from accepting one. @returns what is to be said of that */
function carryOver(context: EngineContext, difference: Difference): string {
  const { store, clock } = context.deps;
  const { wallet, facts, kind } = difference;
  const known = store.knownChain(wallet);
  if (kind === "nonce" && known !== undefined) {
    store.saveKnownChain({ ...known, transactionCount: Number(facts.count) }, clock.nowMs());
  }
  // What could not be proved is accepted up to here: balances of before prove nothing any more.
  if (kind === "cannot-prove" && known !== undefined) {
    const block = Math.max(known.block, Number(facts.toBlock ?? known.block));
    store.saveKnownChain({ ...known, block, balances: new Map() }, clock.nowMs());
  }
  if (kind === "allowance") {
    store.adoptGrant(
      { wallet, token: toAddress(facts.token ?? ""), spender: toAddress(facts.spender ?? "") },
      clock.nowMs(),
    );
    return "; it is taken back";
  }
  return kind === "fill" ? countFill(context, difference) : "";
}

function countFill(context: EngineContext, { id, wallet, facts }: Difference): string {
  const [sell, buy] = [facts.sell, facts.buy].map((text) => toAddress(text ?? "")) as [Address, Address];
  const mayHave = context.settings.strategies.filter(({ spec }) => {
    const { sells, buys } = tradedSides(spec);
    const has = (tokens: readonly { address: Address }[], token: Address): boolean =>
      tokens.some(({ address }) => address === token);
    return spec.wallet.address === wallet && has(sells, sell) && has(buys, buy);
  });
  for (const { spec } of mayHave) {
    const sale = { differenceId: id, strategy: spec.id, token: sell, amount: BigInt(facts.sold ?? "0") };
    context.deps.store.countSale(sale);
  }
  const names = mayHave.map(({ spec }) => spec.id).join(", ");
  return names === "" ? "; no strategy sells this, it counts in no budget" : `; it counts in the budget of ${names}`;
}
