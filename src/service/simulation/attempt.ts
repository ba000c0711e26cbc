import { splitWords } from "../../chain/at-block/words.ts";
import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { smaller } from "../../domain/money/bigint.ts";
import type { NetworkOptions } from "../options.ts";
import type { Quote } from "../quotes/quote.ts";
import { BPS, grossAmount, MAX_AFFILIATE_BPS, type SwapOrder } from "../settlement/order.ts";
import { ownSwap } from "../settlement/own-swap.ts";
import { readRouterAnswer } from "../settlement/router-calldata.ts";
import type { ReadAmount, SwapCall } from "./wallet-simulation.ts";

/** A quote's swap as it can be tried, and what its wallet needs for it. */
export interface Attempt {
  readonly call: SwapCall;
  readonly token: Address;
  /** reads what the recipient gets out of what the call answers */
  readonly readAmount: ReadAmount;
  /** what leaves the wallet: it must have this much, and allow the settlement to take it */
  readonly gross: bigint;
  /** the very transaction that the owner would send; else the owner's part of a swap that the relayer sends */
  readonly isExact: boolean;
}

/** More than swaps need and less than blocks hold: a revert with megabytes has to pay for their memory. */
const SIMULATION_GAS = 10_000_000n;

/**
 * What is simulated of a quote; undefined where it could not be sent. A gasless swap needs its owner's signature, which
 * does not exist yet, and no call can be made to believe in it. So its owner sends the same amount over the same route
 * to the same recipient: all that the market and the tokens decide. Signature, nonce, permit and swap fee are left to
 * the relayer, which tries the signed swap itself before it accepts it.
 */
export function attemptOf(quote: Quote, network: NetworkOptions): Attempt | undefined {
  const { owner, order } = quote;
  if (owner === undefined) return undefined;
  const swap = ownSwap(quote.gasless ? withoutRelayer(order) : order, quote, network);
  if (swap === undefined) return undefined;
  return {
    call: { from: owner, ...swap, gas: quote.gasLimit > SIMULATION_GAS ? quote.gasLimit : SIMULATION_GAS },
    readAmount: (answer) =>
      network.settlement === undefined ? readRouterAnswer(answer, quote.legs) : readAmount(answer),
    token: order.fromAsset,
    gross: grossAmount(order),
    isExact: !quote.gasless,
  };
}

/** What our settlement answers. */
function readAmount(answer: Hex): bigint | undefined {
  const [amount, ...others] = splitWords(answer);
  return others.length === 0 ? amount : undefined;
}

function withoutRelayer(order: SwapOrder): SwapOrder {
  const { amountIn, affiliateFee } = order;
  // The cap is a share of the gross amount, which is smaller without the swap fee.
  const most = (amountIn * MAX_AFFILIATE_BPS) / (BPS - MAX_AFFILIATE_BPS);
  const capped = smaller(affiliateFee, most);
  return {
    ...order,
    swapFee: 0n,
    nonce: 0n,
    affiliateFee: capped,
    affiliate: capped > 0n ? order.affiliate : NATIVE_TOKEN,
  };
}
