import type { Address } from "../money/address.ts";
import type { Ppm } from "../money/fraction.ts";
import type { CatchUp } from "../schedule/catch-up.ts";
import type { Schedule } from "../schedule/schedule.ts";
import type { Budget } from "./budget.ts";

/** Which execution mode a strategy wants: the relayer pays (`gasless`), or our own transaction does. */
export type GaslessChoice = "prefer" | "only" | "never";

/** An operator's limits for one strategy. Never looser than the owner's policy. */
export interface StrategyLimits {
  /** largest loss between quote and fill that the signature allows */
  readonly slippage: Ppm;
  /** largest difference between execution price and spot price */
  readonly priceImpact: Ppm;
  /** largest share of the trade's value that gas and service fees may take */
  readonly maxFee: Ppm;
  /** ceiling of the fee per gas in wei, for every replacement too */
  readonly maxFeePerGas: bigint;
}

/** An affiliate of the swap and its share of the sold amount. */
export interface Affiliate {
  readonly address: Address;
  readonly fee: Ppm;
}

/** What every strategy has. `id` is the file's name and lasts for ever. */
export interface StrategyCommon {
  readonly id: string;
  /** name of the wallet in the configuration, and its address */
  readonly wallet: { readonly name: string; readonly address: Address };
  readonly schedule: Schedule;
  /** what becomes of slots that passed while they could not be run */
  readonly catchUp: CatchUp;
  readonly limits: StrategyLimits;
  readonly gasless: GaslessChoice;
  readonly recipient: Address;
  readonly affiliate: Affiliate | undefined;
  readonly enableRfq: boolean;
  /** how long after the slot an attempt that signed nothing may be repeated */
  readonly retryForSeconds: number;
  /** a swap that sells more than so many dollars (scaled by 1e18) waits for a person's approval */
  readonly approveAboveUsd?: bigint | undefined;
  /** how long an approval is waited for */
  readonly approveWithinSeconds?: number | undefined;
  /** how long before a swap people are told of it */
  readonly announceSeconds?: number | undefined;
  /** its first slot is the moment at which a daemon first sees it, and then those of its schedule */
  readonly startsNow?: true | undefined;
  /** what it may sell, and where it ends; undefined without such bounds */
  readonly budget?: Budget | undefined;
}

/** Whether two editions of a strategy trade the money of one account: a wallet's name may get another key. */
export function isSameWallet(before: StrategyCommon, after: StrategyCommon): boolean {
  return before.wallet.address === after.wallet.address;
}

/** A question that was put off is asked again every half a minute, or so often where the window is short. */
const QUESTIONS = { inWindow: 20, everyMs: 30_000 };

/** Prices move slowly compared with the cost of reading the world, and a window may be hours long. @returns Unix milliseconds */
export function nextQuestionMs({ retryForSeconds }: StrategyCommon, nowMs: number): number {
  const share = Math.floor((retryForSeconds * 1_000) / QUESTIONS.inWindow);
  return nowMs + Math.min(share, QUESTIONS.everyMs);
}
