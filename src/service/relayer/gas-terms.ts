import type { Head } from "../../chain/at-block/head.ts";
import { formatUnits, mulDivDown, mulDivUp } from "../../domain/money/amount.ts";
import { larger, smaller } from "../../domain/money/bigint.ts";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { type TipRule, tipOf } from "../../domain/money/tip.ts";
import { paidGas } from "../gas/evm-gas.ts";

/** What a gasless swap costs its relayer and what it brings; wei of the native token, or wei per gas. */

/** The relayer pays at most this much more for gas and data than at acceptance, replacements included. */
const FEE_CAP_FACTOR = 4n;

/** A first attempt leaves room for the base fee to double; with less, a swap could be stuck from its first block on. */
const LEAST_FEE_CAP_FACTOR = 2n;

/** What a relayer's transaction pays per gas if it is mined next: its lane tips by rules of its own. */
export function relayGasPrice(
  { baseFeePerGas, priorityFeePerGas, gasPrice }: Pick<Head, "baseFeePerGas" | "priorityFeePerGas" | "gasPrice">,
  tips: TipRule | undefined,
): bigint {
  if (tips === undefined || baseFeePerGas === undefined) return gasPrice;
  return baseFeePerGas + tipOf(tips, priorityFeePerGas);
}

/**
 * What a receipt will say of a transaction that a node says needs so much gas: an estimate counts what the transaction
 * needs on its way, before the chain gives back what its quote expects; it gives back a fifth at most.
 */
export function gasAfterRefund(estimate: bigint, refund: bigint): bigint {
  return paidGas({ used: estimate, refund });
}

/** The least that a swap fee must be worth to repay gas and data with a margin on top; rounded up. */
export function leastFeeWorth({ cost, marginPpm }: { cost: bigint; marginPpm: bigint }): bigint {
  return mulDivUp(cost, ONE_PPM + marginPpm, ONE_PPM);
}

/** The swap fee covers this much of the expected cost: gas prices and the token's price move until the swap is mined. */
const SWAP_FEE_PERCENT = 125n;
/** What a swap fee must be worth may be more than that. With a usual margin this leaves as much room as that does. */
const ROOM_PERCENT = 119n;

/** What the swap fee of a quote is to be worth, by what the swap is expected to cost; rounded up. */
export function quotedFeeWorth(terms: { cost: bigint; marginPpm: bigint }): bigint {
  const usual = mulDivUp(terms.cost, SWAP_FEE_PERCENT, 100n);
  return larger(usual, mulDivUp(leastFeeWorth(terms), ROOM_PERCENT, 100n));
}

/** What the data of a swap may come to cost, by what it costs now. No transaction can cap it: it is what it is when mined. */
function worstDataFee(dataFee: bigint): bigint {
  return dataFee * FEE_CAP_FACTOR;
}

/** The most that a transaction may come to cost, replacements included. */
export function worstCost(transaction: { gasLimit: bigint; maxFeePerGasCap: bigint }, dataFee: bigint): bigint {
  return transaction.gasLimit * transaction.maxFeePerGasCap + worstDataFee(dataFee);
}

/** What has to be there for the first attempt of a transaction, before it is signed. */
export function firstCost(swap: { gasPrice: bigint; gasLimit: bigint; dataFee: bigint }): bigint {
  return swap.gasLimit * swap.gasPrice * LEAST_FEE_CAP_FACTOR + swap.dataFee;
}

/**
 * The most that is ever paid per gas for a swap: a multiple of today's price, and never so much that it could cost more
 * than may still be spent.
 * @returns undefined when what may still be spent leaves no room for a first attempt
 */
export function feeCapOf(swap: {
  gasPrice: bigint;
  gasLimit: bigint;
  dataFee: bigint;
  maySpend: bigint;
}): bigint | undefined {
  const forGas = swap.maySpend - worstDataFee(swap.dataFee);
  const affordable = forGas > 0n ? forGas / swap.gasLimit : 0n;
  if (affordable === 0n || affordable < swap.gasPrice * LEAST_FEE_CAP_FACTOR) return undefined;
  const wanted = swap.gasPrice * FEE_CAP_FACTOR;
  return smaller(wanted, affordable);
}

/** The estimate holds for this block; the market moves on. */
const GAS_LIMIT_PERCENT = 125n;

/** A transaction's gas limit is at most this much above its quote's: the relayer pays for no more than was quoted. */
const MOST_OF_QUOTED_PERCENT = 110n;

/**
 * The gas limit of a swap's transaction: room above what it needs now, but never much more than it was quoted with.
 * @returns undefined when it needs more than that
 */
export function gasLimitOf({ quoted, needed }: { quoted: bigint; needed: bigint }): bigint | undefined {
  const most = mulDivDown(quoted, MOST_OF_QUOTED_PERCENT, 100n);
  if (needed > most) return undefined;
  const roomy = mulDivUp(needed, GAS_LIMIT_PERCENT, 100n);
  return smaller(larger(roomy, quoted), most);
}

/** What a swap fee is worth, and what it has to repay and does not, in words; all in wei. */
export function shortFee(terms: { readonly worth: bigint; readonly needed: bigint; readonly dataFee: bigint }): string {
  const cost = terms.dataFee === 0n ? "gas" : `gas and its data (${formatUnits(terms.dataFee, 18)})`;
  return `worth ${coins(terms.worth)}, and ${cost} with the margin costs ${formatUnits(terms.needed, 18)}`;
}

/** Wei as people read them. */
export function coins(wei: bigint): string {
  return `${formatUnits(wei, 18)} of the native coin`;
}
