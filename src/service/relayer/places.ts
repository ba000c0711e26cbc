import type { Address } from "../../domain/money/address.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import { createFixedWindows } from "../limits/fixed-windows.ts";
import type { ServiceStore, SwapRow } from "../store/service-store.ts";
import type { LossShares } from "./loss-shares.ts";
import type { RelayBook } from "./relay-book.ts";

/** Who hands a swap over, as the interface counts callers. */
export interface Sender {
  readonly name: string;
  readonly isKeyed: boolean;
}

/** What a place is asked for. */
export interface PlaceRequest {
  readonly owner: Address;
  readonly toToken: Address;
  readonly sender: Sender;
}

/**
 * The places of swaps that wait for the relayer. A swap holds one while it would work: each block shows whether it
 * still does. So that none takes all of them, a wallet, a caller and a token that the operator does not list have
 * shares, of what is submitted as of what works again; and one that made the relayer lose too much gets none.
 */
export interface Places {
  /** Why there is none; undefined: there is one. */
  refusal(request: PlaceRequest): Refusal | undefined;
  /** Why there is none for a swap that works again, whose wallet has so much of what it sells; undefined: it has one again. */
  refusalAgain(swap: SwapRow, balance: bigint): Refusal | undefined;
  /** Why a wallet's balance does not cover one more swap besides those that wait and would work; undefined: it does. */
  tooLittle(sale: Pick<SwapRow, "wallet" | "fromToken" | "sellAmount">, balance: bigint): Refusal | undefined;
  /** Wei that the transaction of a swap that gets one may cost at worst. */
  maySpend(request: PlaceRequest): bigint;
  /** Why there are none at all; undefined: there are some. */
  full(): Refusal | undefined;
  /** Swaps that wait and would work, as far as checks showed. */
  working(): readonly SwapRow[];
}

/** Swaps that may wait for the relayer's one lane; more would run into their deadlines. */
const MAX_WAITING = 50;
const SHARES = { wallet: 5, revertedWallet: 1, unlistedToken: 5, address: 10, key: 25 };

/**
 * Signatures are recovered in the loop of everybody, forged ones too: as often in a second as swaps of a caller may wait.
 * It is no limit of requests: a client that takes it for one would hold back all its calls.
 * @returns why a caller's are not checked now; undefined: they are
 */
export function boundSignatures(clock: Clock): (sender: Sender) => Refusal | undefined {
  const take = createFixedWindows(clock);
  return ({ name, isKeyed }) => {
    const most = isKeyed ? SHARES.key : SHARES.address;
    return take(name, most).allowed
      ? undefined
      : unavailable(`${most} signatures of a caller are checked in a second: ask again`);
  };
}

export function createPlaces(
  listed: ReadonlySet<Address>,
  dependencies: {
    readonly store: Pick<ServiceStore, "unminedSwaps">;
    readonly book: Pick<RelayBook, "terms" | "hasReverted">;
    readonly losses: Pick<LossShares, "refusal" | "maySpend">;
    /** whether a swap that waits would not work, by the last check of it */
    readonly isIdle: (intentId: string) => boolean;
    /** Unix seconds of the newest block: an order whose deadline is before it can only revert. */
    readonly chainSeconds: () => number;
    readonly clock: Pick<Clock, "nowMs">;
  },
): Places {
  const { store, book, losses, isIdle, chainSeconds, clock } = dependencies;
  const working = () =>
    store
      .unminedSwaps()
      .filter(({ intentId, deadlineSeconds }) => deadlineSeconds >= chainSeconds() && !isIdle(intentId));

  function full(waiting = working()): Refusal | undefined {
    if (waiting.length < MAX_WAITING) return undefined;
    return unavailable("as many swaps wait for the relayer as may");
  }

  function beyondShare({ owner, toToken, sender }: PlaceRequest, waiting: readonly SwapRow[]): Refusal | undefined {
    const count = (isOne: (row: SwapRow) => boolean) => waiting.filter(isOne).length;
    const share = book.hasReverted(owner, clock.nowMs() - DAY_MS) ? SHARES.revertedWallet : SHARES.wallet;
    if (count(({ wallet }) => wallet === owner) >= share) {
      return unavailable(`${share} swaps of this wallet wait, no more may`);
    }
    if (!listed.has(toToken) && count((row) => row.toToken === toToken) >= SHARES.unlistedToken) {
      return unavailable(`${SHARES.unlistedToken} swaps for this token wait, no more may`);
    }
    const ofCaller = sender.isKeyed ? SHARES.key : SHARES.address;
    if (count(({ intentId }) => book.terms(intentId)?.caller === sender.name) < ofCaller) return undefined;
    return unavailable(`${ofCaller} swaps that came from you wait, no more may`);
  }

  /** What a wallet's swaps that wait and would work sell of a token, smallest unit. */
  const promised = ({ wallet, fromToken }: Pick<SwapRow, "wallet" | "fromToken">): bigint =>
    working()
      .filter((row) => row.wallet === wallet && row.fromToken === fromToken)
      .reduce((sum, { sellAmount }) => sum + BigInt(sellAmount), 0n);

  // One balance does not cover several places.
  const tooLittle: Places["tooLittle"] = (sale, balance) => {
    const sold = promised(sale);
    if (sold === 0n || balance >= sold + BigInt(sale.sellAmount)) return undefined;
    const detail = `the wallet has ${balance}, and its swaps that wait sell ${sold} of it`;
    return refuse("SIMULATION_REVERTED", { parameter: "quoteId", detail });
  };

  return {
    working,
    full,
    tooLittle,
    maySpend: losses.maySpend,
    refusal(request) {
      const waiting = working();
      return losses.refusal(request) ?? full(waiting) ?? beyondShare(request, waiting);
    },
    refusalAgain(swap, balance) {
      const waiting = working();
      const { caller: name = "", isKeyed = false } = book.terms(swap.intentId) ?? {};
      const request = { owner: swap.wallet, toToken: swap.toToken, sender: { name, isKeyed } };
      return full(waiting) ?? beyondShare(request, waiting) ?? tooLittle(swap, balance);
    },
  };
}

function unavailable(detail: string): Refusal {
  return refuse("GASLESS_UNAVAILABLE", { detail });
}
