import { type Head, parseQuantity } from "../../chain/at-block/head.ts";
import { type JsonRpc, RpcError } from "../../chain/json-rpc.ts";
import type { Address } from "../../domain/money/address.ts";
import { DAY_MS } from "../../domain/time/durations.ts";
import type { Lane } from "../../lane/lane.ts";
import type { Clock } from "../../ports/clock.ts";
import type { IntentRow } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";
import { type ErrorName, type Refusal, refuse } from "../errors/errors.ts";
import { tooOld } from "../old-block.ts";
import type { RelayerOptions } from "../options.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { coins, feeCapOf, firstCost, worstCost } from "./gas-terms.ts";
import type { PlaceRequest, Places } from "./places.ts";
import type { RelayBook } from "./relay-book.ts";

/** Whether the relayer takes swaps, and why not; amounts in wei. */
export interface RelayerReport {
  readonly address: Address;
  /** what gasless requests are refused with now; undefined: they are taken */
  readonly refusal: ErrorName | undefined;
  readonly balance: bigint;
  readonly minimumBalance: bigint;
  /**
   * expected cost of swaps that were accepted, would work, and are not paid for yet: what stopped working reserves
   * nothing
   */
  readonly setAside: bigint;
  /** losses of the last 24 hours */
  readonly losses: bigint;
  readonly maxDailyLoss: bigint;
  /** what transactions of the last 24 hours cost, whatever was earned with them */
  readonly spent: bigint;
  readonly maxDailyGas: bigint;
  /** swaps that were accepted and have no end yet */
  readonly pending: number;
  /** whether the signer elsewhere signs; undefined: the key is here */
  readonly signerReady: boolean | undefined;
}

/** A signer elsewhere, as far as it is known. */
export interface RelayerSignerState {
  /** why it could sign nothing when it was looked at; undefined: it could */
  absence(): string | undefined;
  /** that, or why it did not sign what it was asked for: one that can is told from one that does by asking it again */
  trouble(): string | undefined;
}

/** What the relayer can afford. It remembers nothing but a balance: all else is what the rows say. */
export interface RelayerState {
  /**
   * Why no further swap is taken now, without figures; undefined: one more can be.
   * @param newest by which it would be quoted, where it is at hand: nothing is asked for it
   * @throws RpcError
   */
  refusal(newest?: Head): Promise<Refusal | undefined>;
  /**
   * The most that is ever paid per gas for a swap, with nothing in flight, else why there is no room for it: in the balance
   * that the last refusal was judged by, or in a limit of the day.
   * @param place undefined: it is not known yet whose it is
   */
  feeCap(swap: SwapCost, place: PlaceRequest | undefined): bigint | Refusal;
  /** What a transaction may cost, when everything that is in flight costs as much as it may and is lost. */
  maySpendBesideFlight(): bigint;
  /** @param newest as for a refusal @throws RpcError */
  report(newest?: Head): Promise<RelayerReport>;
  /** Logs when swaps are no longer taken, and when they are again. */
  watch(): Promise<void>;
}

/** What a swap's cost is reckoned from: wei per gas, gas, and wei for its data. */
type SwapCost = Omit<Parameters<typeof feeCapOf>[0], "maySpend">;

export interface StateDependencies {
  readonly lane: Lane;
  /** what has a nonce and is not paid for yet */
  readonly inFlight: () => readonly IntentRow[];
  readonly store: ServiceStore;
  readonly book: RelayBook;
  readonly places: Pick<Places, "full" | "working" | "maySpend">;
  readonly rpc: JsonRpc;
  readonly clock: Clock;
  readonly logger: Logger;
  /** why nothing else would be sent: what is in flight bars it, or the lane fails; undefined: it would */
  readonly barring: () => string | undefined;
  /** undefined: the key is here */
  readonly signer?: RelayerSignerState | undefined;
}

/** How long what was seen is believed: a refill is seen after this. */
const SEEN_FOR_MS = 3_000;

export function createRelayerState(
  options: { relayer: RelayerOptions; account: Address },
  dependencies: StateDependencies,
): RelayerState {
  const { account } = options;
  const { minimumNativeBalance: minimumBalance, maxDailyLoss, maxDailyGas } = options.relayer;
  const { lane, inFlight, store, book, places, rpc, clock, logger, barring, signer } = dependencies;
  let known: Seen | undefined;
  let reported: ErrorName | undefined;
  const funds = createFunds(account, dependencies);

  async function look(): Promise<Seen> {
    if (known !== undefined && clock.monotonicMs() - known.atMs < SEEN_FOR_MS) return known;
    const balance = parseQuantity(rpc.host, await rpc.call("eth_getBalance", [account, "latest"]));
    known = { balance, blindness: await lane.blindness(), atMs: clock.monotonicMs() };
    return known;
  }

  const costsOfDay = () => book.costsSince(clock.nowMs() - DAY_MS);

  const maySpend = () => leftOf(options.relayer, costsOfDay());

  async function report(newest?: Head): Promise<RelayerReport & { readonly detail: string }> {
    const { balance, blindness } = await look();
    const isHalted = (await lane.halted()) !== undefined;
    const pending = store.pendingCount();
    const setAside = funds.setAside();
    const { paid: spent, lost: losses } = costsOfDay();
    const figures = { minimumBalance, maxDailyLoss, maxDailyGas, balance, setAside, losses, spent, pending };
    const signerReady = signer && signer.trouble() === undefined;
    const standing = newest && tooOld(newest, clock.nowMs());
    const stops = { absence: signer?.absence(), blindness: blindness ?? standing, bar: barring() };
    const facts = { isHalted, isFull: places.full() !== undefined, ...stops };
    return { address: account, ...figures, signerReady, ...judge(figures, facts) };
  }

  return {
    async refusal(newest) {
      const { refusal } = await report(newest);
      return refusal === undefined ? undefined : refuse(refusal, { parameter: "gasless" });
    },
    feeCap(swap, place) {
      const short = known && funds.shortage(known.balance, swap);
      if (short !== undefined) return short;
      const ofAll = maySpend();
      const ofShares = place === undefined ? ofAll.wei : places.maySpend(place);
      const { wei, limit } = ofShares < ofAll.wei ? { wei: ofShares, limit: "GASLESS_LOSS_LIMIT" as const } : ofAll;
      return (
        feeCapOf({ ...swap, maySpend: wei }) ?? refuse(limit, { detail: "this swap could cost more than is left" })
      );
    },
    maySpendBesideFlight() {
      const costOf = (intent: IntentRow) => worstCost(intent, book.terms(intent.id)?.dataFee ?? 0n);
      return inFlight().reduce((left, intent) => left - costOf(intent), maySpend().wei);
    },
    report,
    async watch() {
      try {
        const { refusal, detail } = await report();
        if (refusal === reported) return;
        reported = refusal;
        if (refusal === undefined) logger.info({ account }, "the relayer takes gasless swaps again");
        else logger.warn({ account, refusal, detail }, "the relayer takes no gasless swaps");
      } catch (error) {
        // The lane and every request report a node that does not answer.
        if (!(error instanceof RpcError)) throw error;
      }
    },
  };
}

/** What of a balance is spoken for, and whether the rest pays for one more swap. */
function createFunds(account: Address, { places, book, logger }: StateDependencies) {
  let toldOf: bigint | undefined;
  const setAside = (): bigint =>
    places
      .working()
      .filter(({ intentId }) => !book.isPaid(intentId))
      .reduce((sum, { intentId }) => sum + (book.terms(intentId)?.expectedCost ?? 0n), 0n);
  return {
    setAside,
    /** The lane signs nothing that it cannot pay for: what is taken all the same would wait until it runs out. */
    shortage(balance: bigint, swap: SwapCost): Refusal | undefined {
      const [others, needed] = [setAside(), firstCost(swap)];
      if (balance - others >= needed) return undefined;
      // Anybody may ask for dear swaps, as often as he likes.
      if (toldOf !== balance) {
        const detail = `it holds ${coins(balance)}, and needs ${coins(needed)} in addition to ${coins(others)} for accepted swaps`;
        logger.warn({ account, detail }, "the relayer cannot pay for a swap at today's gas price: refill it");
      }
      toldOf = balance;
      return refuse("GASLESS_RELAYER_UNFUNDED", { detail: "at today's gas price this swap needs more than it holds" });
    },
  };
}

interface Seen {
  /** wei */
  readonly balance: bigint;
  readonly blindness: string | undefined;
  readonly atMs: number;
}

/** What may still be spent of a day's limits, and which of them leaves no more. */
function leftOf(
  { maxDailyLoss, maxDailyGas }: RelayerOptions,
  { paid, lost }: ReturnType<RelayBook["costsSince"]>,
): { wei: bigint; limit: ErrorName } {
  const [mayLose, mayPay] = [maxDailyLoss - lost, maxDailyGas - paid];
  return mayLose < mayPay ? { wei: mayLose, limit: "GASLESS_LOSS_LIMIT" } : { wei: mayPay, limit: "GASLESS_GAS_LIMIT" };
}

interface Facts {
  readonly isHalted: boolean;
  readonly isFull: boolean;
  readonly absence: string | undefined;
  readonly blindness: string | undefined;
  readonly bar: string | undefined;
}

type Figures = Omit<RelayerReport, "address" | "refusal" | "signerReady">;

/** @returns the detail with figures, for the operator alone */
function judge(
  figures: Figures,
  { isHalted, isFull, absence, blindness, bar }: Facts,
): { refusal: ErrorName | undefined; detail: string } {
  const { balance, minimumBalance, setAside, losses, maxDailyLoss, spent, maxDailyGas, pending } = figures;
  if (isHalted) return { refusal: "GASLESS_UNAVAILABLE", detail: "the relayer's account is halted" };
  if (blindness !== undefined)
    return { refusal: "GASLESS_UNAVAILABLE", detail: `the chain cannot be followed: ${blindness}` };
  if (absence !== undefined) return { refusal: "GASLESS_UNAVAILABLE", detail: `nothing is signed: ${absence}` };
  if (bar !== undefined) return { refusal: "GASLESS_UNAVAILABLE", detail: `nothing else is sent: ${bar}` };
  if (balance < minimumBalance + setAside) {
    const needed = `it holds ${coins(balance)} and needs ${coins(minimumBalance)} in addition to ${coins(setAside)} for accepted swaps`;
    return { refusal: "GASLESS_RELAYER_UNFUNDED", detail: needed };
  }
  if (losses >= maxDailyLoss) {
    return {
      refusal: "GASLESS_LOSS_LIMIT",
      detail: `${coins(losses)} lost in 24 hours, at most ${coins(maxDailyLoss)} may be`,
    };
  }
  if (spent >= maxDailyGas) {
    return {
      refusal: "GASLESS_GAS_LIMIT",
      detail: `${coins(spent)} paid in 24 hours, at most ${coins(maxDailyGas)} may be`,
    };
  }
  if (isFull) return { refusal: "GASLESS_UNAVAILABLE", detail: `all places are taken, ${pending} swaps are not over` };
  return { refusal: undefined, detail: "" };
}
