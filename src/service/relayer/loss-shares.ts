import type { Address } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { worstCost } from "./gas-terms.ts";
import type { Loser, RelayBook } from "./relay-book.ts";

/** Whose a swap is, as losses are counted. */
export interface Parties {
  readonly owner: Address;
  readonly toToken: Address;
  readonly sender: { readonly name: string; readonly isKeyed: boolean };
}

/**
 * What each may lose of the relayer's money within a day, so that none uses up the loss limit of all. Reverts are not
 * counted: one may cost a hundred times what another does, and who has thousands of fills has some.
 */
export interface LossShares {
  /** Why no such swap is taken; undefined: one may be. */
  refusal(swap: Parties): Refusal | undefined;
  /** Wei that the transaction of such a swap may cost at worst. */
  maySpend(swap: Parties): bigint;
  /** Why an accepted swap is not sent while these others are in flight, if all of what they may cost is lost. */
  against(intent: IntentRow, inFlight?: readonly IntentRow[]): Refusal | undefined;
}

/**
 * Parts of the loss limit. A wallet or a caller is refused once it lost its own. All callers without a key together, and
 * all swaps into a token that the operator does not list, stay within theirs whatever the next transaction costs: strangers
 * and tokens cost nothing, and such a token decides itself how much gas is used.
 */
const PARTS = { wallet: 20n, address: 10n, key: 2n, keyless: 2n, unlistedToken: 10n };

interface Bound {
  readonly loser: Loser;
  readonly part: bigint;
  readonly refusal: Refusal;
  /** whether what the next transaction may cost has to fit in too */
  readonly isStrict: boolean;
}

export function createLossShares(
  options: { readonly listed: ReadonlySet<Address>; readonly maxDailyLoss: bigint },
  dependencies: {
    readonly book: Pick<RelayBook, "lostSince" | "terms">;
    readonly store: Pick<ServiceStore, "swapBy">;
    readonly clock: Pick<Clock, "nowMs">;
  },
): LossShares {
  const { listed, maxDailyLoss } = options;
  const { book, store, clock } = dependencies;
  const left = ({ loser, part }: Bound) => maxDailyLoss / part - book.lostSince(loser, clock.nowMs() - DAY_MS);
  const costOf = (intent: IntentRow) => worstCost(intent, book.terms(intent.id)?.dataFee ?? 0n);

  function partiesOf({ id }: IntentRow): Parties | undefined {
    const row = store.swapBy("intent_id", id);
    if (row === undefined) return undefined;
    const { caller: name = "", isKeyed = false } = book.terms(id) ?? {};
    return { owner: row.wallet, toToken: row.toToken, sender: { name, isKeyed } };
  }

  function boundsOf(swap: Parties): readonly Bound[] {
    const { owner, toToken, sender } = swap;
    const strangers = sender.isKeyed ? [] : [boundOfKeyless()];
    const strange = listed.has(toToken) ? [] : [boundOfToken(toToken)];
    return [boundOfWallet(owner), boundOfCaller(sender), ...strangers, ...strange];
  }

  return {
    refusal: (swap) => boundsOf(swap).find((bound) => left(bound) <= 0n)?.refusal,
    maySpend(swap) {
      const strict = boundsOf(swap).filter(({ isStrict }) => isStrict);
      return strict.map(left).reduce(smaller, maxDailyLoss);
    },
    against(intent, inFlight = []) {
      const swap = partiesOf(intent);
      if (swap === undefined) return undefined;
      const flying = inFlight.map((one) => ({ parties: partiesOf(one), cost: costOf(one) }));
      return boundsOf(swap).find((bound) => {
        const own = flying.filter(({ parties }) => parties !== undefined && isOf(bound.loser, parties));
        const room = own.reduce((sum, { cost }) => sum - cost, left(bound));
        return room <= 0n || (bound.isStrict && room < costOf(intent));
      })?.refusal;
    },
  };
}

function isOf(loser: Loser, { owner, toToken, sender }: Parties): boolean {
  if (loser.kind === "keyless") return !sender.isKeyed;
  return loser.name === { wallet: owner, caller: sender.name, token: toToken }[loser.kind];
}

function boundOfWallet(name: Address): Bound {
  const refusal = refuse("GASLESS_STANDING", { detail: "swaps of this wallet cost the relayer too much within a day" });
  return { loser: { kind: "wallet", name }, part: PARTS.wallet, refusal, isStrict: false };
}

function boundOfCaller({ name, isKeyed }: Parties["sender"]): Bound {
  const detail = "swaps that came from you cost the relayer too much within a day";
  const refusal = refuse("GASLESS_STANDING", { detail });
  return { loser: { kind: "caller", name }, part: isKeyed ? PARTS.key : PARTS.address, refusal, isStrict: false };
}

function boundOfKeyless(): Bound {
  const refusal = refuse("GASLESS_LOSS_LIMIT", { detail: "callers without a key have a part of it" });
  return { loser: { kind: "keyless" }, part: PARTS.keyless, refusal, isStrict: true };
}

function boundOfToken(name: Address): Bound {
  const refusal = refuse("GASLESS_LOSS_LIMIT", { detail: "swaps into this token have a part of it" });
  return { loser: { kind: "token", name }, part: PARTS.unlistedToken, refusal, isStrict: true };
}
