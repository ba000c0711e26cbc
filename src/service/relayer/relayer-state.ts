import type { Address } from "../../domain/money/address.ts";
import type { Lane } from "../../lane/lane.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import type { Clock } from "../../ports/clock.ts";
import type { LaneStore } from "../../ports/lane-store.ts";
import type { Logger } from "../../ports/logger.ts";
import { type ErrorName, type Refusal, refuse } from "../errors/errors.ts";
import type { RelayerOptions } from "../options.ts";
import type { ServiceStore } from "../store/service-store.ts";
import { worstDataFee } from "./gas-terms.ts";
import type { RelayBook } from "./relay-book.ts";

/** Whether the relayer takes swaps, and why not; amounts in wei. */
export interface RelayerReport {
  readonly address: Address;
  /** what gasless requests are refused with now; undefined: they are taken */
  readonly refusal: ErrorName | undefined;
  readonly balance: bigint;
  readonly minimumBalance: bigint;
  /** expected cost of swaps that were accepted and are not paid for yet */
  readonly setAside: bigint;
  /** losses of the last 24 hours */
  readonly losses: bigint;
  readonly maxDailyLoss: bigint;
  /** swaps that were accepted and have no end yet */
  readonly pending: number;
}

/** What the relayer can afford. It remembers nothing but a balance: all else is read from the rows. */
export interface RelayerState {
  /** Why no further swap is taken now; undefined: one more can be. @throws RpcError */
  refusal(): Promise<Refusal | undefined>;
  /** What may still be lost, with nothing in flight. */
  mayLose(): bigint;
  /** The same, when everything that is in flight is lost. */
  mayLoseBesideFlight(): bigint;
  /** @throws RpcError */
  report(): Promise<RelayerReport>;
  /** Logs when swaps are no longer taken, and when they are again. */
  watch(): Promise<void>;
}

export interface StateDependencies {
  readonly lane: Lane;
  readonly laneStore: LaneStore;
  readonly store: ServiceStore;
  readonly book: RelayBook;
  readonly rpc: JsonRpc;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Swaps that may wait for the relayer's one lane; more would run into their deadlines. */
const MAX_PENDING = 50;

/** How long a balance is believed: a refill is seen after this. */
const BALANCE_AGE_MS = 3_000;

const DAY_MS = 86_400_000;

export function createRelayerState(
  options: { relayer: RelayerOptions; account: Address; chainId: number },
  dependencies: StateDependencies,
): RelayerState {
  const { account, chainId } = options;
  const { minimumNativeBalance: minimumBalance, maxDailyLoss } = options.relayer;
  const { lane, laneStore, store, book, rpc, clock, logger } = dependencies;
  let known: { readonly wei: bigint; readonly atMs: number } | undefined;
  let told: ErrorName | undefined;

  async function nativeBalance(): Promise<bigint> {
    if (known !== undefined && clock.monotonicMs() - known.atMs < BALANCE_AGE_MS) return known.wei;
    const wei = BigInt(String(await rpc.call("eth_getBalance", [account, "latest"])));
    known = { wei, atMs: clock.monotonicMs() };
    return wei;
  }

  const lossesOfDay = (): bigint => book.lossesSince(clock.nowMs() - DAY_MS);

  async function report(): Promise<RelayerReport & { readonly detail: string }> {
    const balance = await nativeBalance();
    const pending = store.pendingSwaps();
    const unpaid = pending.filter(({ intentId }) => !book.isPaid(intentId));
    const setAside = unpaid.reduce((sum, { intentId }) => sum + (book.terms(intentId)?.expectedCost ?? 0n), 0n);
    const figures = { balance, minimumBalance, setAside, losses: lossesOfDay(), maxDailyLoss, pending: pending.length };
    return { address: account, ...figures, ...judge(figures, lane.halted() !== undefined) };
  }

  return {
    async refusal() {
      const { refusal, detail } = await report();
      return refusal === undefined ? undefined : refuse(refusal, { parameter: "gasless", detail });
    },
    mayLose: () => maxDailyLoss - lossesOfDay(),
    mayLoseBesideFlight() {
      const open = laneStore.openIntents(account, chainId);
      const inFlight = open.filter(({ id, nonce }) => nonce !== undefined && !book.isPaid(id));
      const dataFeeOf = (id: string) => worstDataFee(book.terms(id)?.dataFee ?? 0n);
      const atMost = inFlight.reduce(
        (sum, { id, gasLimit, maxFeePerGasCap }) => sum + gasLimit * maxFeePerGasCap + dataFeeOf(id),
        0n,
      );
      return maxDailyLoss - lossesOfDay() - atMost;
    },
    report,
    async watch() {
      try {
        const { refusal, detail } = await report();
        if (refusal === told) return;
        told = refusal;
        if (refusal === undefined) logger.info({ account }, "the relayer takes gasless swaps again");
        else logger.warn({ account, refusal, detail }, "the relayer takes no gasless swaps");
      } catch (error) {
        // The lane and every request tell of a node that does not answer.
        if (!(error instanceof RpcError)) throw error;
      }
    },
  };
}

/** Why the lane takes no further swap beside so many; undefined: it does. */
export function fullLane(pending: number): string | undefined {
  return pending < MAX_PENDING ? undefined : `${pending} swaps wait for the relayer, no more may`;
}

type Figures = Omit<RelayerReport, "address" | "refusal">;

function judge(figures: Figures, isHalted: boolean): { refusal: ErrorName | undefined; detail: string } {
  const { balance, minimumBalance, setAside, losses, maxDailyLoss, pending } = figures;
  if (isHalted) return { refusal: "GASLESS_UNAVAILABLE", detail: "the relayer's account is halted" };
  if (balance < minimumBalance + setAside) {
    const needed = `it holds ${balance} wei and needs ${minimumBalance} beside ${setAside} for accepted swaps`;
    return { refusal: "GASLESS_RELAYER_UNFUNDED", detail: needed };
  }
  if (losses >= maxDailyLoss) {
    return { refusal: "GASLESS_LOSS_LIMIT", detail: `${losses} wei lost in 24 hours, at most ${maxDailyLoss} may be` };
  }
  const full = fullLane(pending);
  return full === undefined ? { refusal: undefined, detail: "" } : { refusal: "GASLESS_UNAVAILABLE", detail: full };
}
