import { approval } from "../../domain/guard/approval.ts";
import type { Decoding, ProposedTransaction } from "../../domain/guard/decoded-swap.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import type { RoundTrip } from "../../domain/guard/swap-facts.ts";
import { mulDivDown } from "../../domain/money/amount.ts";
import { isNative } from "../../domain/money/token.ts";
import type { FactsFault } from "../../domain/run/events.ts";
import type { Swap, SwapQuote } from "../../domain/run/run.ts";
import type { BlockHead, CallRequest } from "../../ports/chain.ts";
import type { QuoteRequest } from "../../ports/swap-service.ts";
import type { EngineContext } from "../engine-context.ts";
import { isNotForUs } from "../outside-watch.ts";
import type { SwapSimulation } from "./simulate-swap.ts";
import { watchedBy } from "./watched.ts";

/** A refusal without the service's own name for it, as a page that came in its place: it says nothing of the token. */
const UNNAMED = /^HTTP_\d+$/;

interface Asked {
  readonly swap: Swap;
  readonly gross: bigint;
  readonly quote: SwapQuote;
  /** whether a confirmed swap brought this wallet the token before */
  readonly hasBought: boolean;
  readonly decoding: Decoding;
  readonly simulated: SwapSimulation;
  /** the block that the simulation was made on */
  readonly head: BlockHead;
}

/** Why nothing is known of the way back. */
interface Fault {
  readonly cause: FactsFault;
  readonly detail: string;
}

/**
 * What selling back would bring, where the policy wants to know: asked of the service and, where our own transaction to
 * ourselves was simulated, simulated after it on the same block, because a quote from a pool's reserves knows nothing
 * of a token that forbids its sale. What is sold back is the least that the swap guarantees.
 * @returns a fault where service or node does not answer for the moment: then nothing is known, and the swap waits
 */
export async function roundTrip(context: EngineContext, asked: Asked): Promise<RoundTrip | Fault | undefined> {
  const { swap, gross, quote, decoding } = asked;
  if (!isWanted(context, asked) || quote.amountOut <= 0n) return undefined;
  const amount = decoding.ok && decoding.swap.amountOutMin > 0n ? decoding.swap.amountOutMin : quote.amountOut;
  const sold = mulDivDown(gross, amount, quote.amountOut);
  const request = requestBack(context, swap, amount);
  const back = await context.deps.service.quote(request);
  if ("kind" in back) {
    const words = `${back.code}: ${back.message}`;
    if (back.retryable || isNotForUs(back) || UNNAMED.test(back.code))
      return { cause: "service", detail: `the service did not quote the way back: ${words}` };
    return { kind: "impossible", reason: `the service quotes no way back: ${words}` };
  }
  if (asked.simulated.calls.length === 0 || swap.recipient !== swap.wallet)
    return { kind: "returned", sold, returned: back.amountOut };
  const transaction = await context.deps.service.transaction(back.id);
  if ("kind" in transaction)
    return { cause: "service", detail: `the service gave no way back: ${transaction.code}: ${transaction.message}` };
  return await tryBack(context, { ...asked, amount, sold, transaction });
}

/** A first buy is one of a token that no confirmed swap brought this wallet before. */
function isWanted(context: EngineContext, { swap, hasBought }: Asked): boolean {
  const { roundTrip } = context.settings.policy;
  if (roundTrip === undefined || isNative(swap.buy)) return false;
  return roundTrip.when === "always" || !hasBought;
}

function requestBack(context: EngineContext, swap: Swap, amount: bigint): QuoteRequest {
  const { maxSlippage, roundTrip } = context.settings.policy;
  return {
    ...{ sell: swap.buy, buy: swap.sell, amount, owner: swap.wallet, recipient: swap.wallet },
    ...{ slippage: roundTrip?.maxLoss ?? maxSlippage, gasless: false, enableRfq: false, affiliate: undefined },
  };
}

type SimulatedReturn = Asked & {
  readonly amount: bigint;
  readonly sold: bigint;
  readonly transaction: ProposedTransaction;
};

/** Buys, approves and sells back in one simulation. Nothing of this is ever signed. */
async function tryBack(context: EngineContext, asked: SimulatedReturn): Promise<RoundTrip | Fault> {
  const { swap, simulated, amount, sold, transaction, head } = asked;
  const wallet = swap.wallet;
  const { spender } = contractsFor(context.settings, { targetAddress: transaction.to });
  const approve = (value: bigint): CallRequest => ({
    ...{ from: wallet, to: swap.buy.address, value: 0n },
    data: approval(spender, value),
  });
  const grant = { token: swap.buy.address, owner: wallet, spender };
  const reset = (await context.deps.chain.allowance(grant, head.number)) > 0n ? [approve(0n)] : [];
  const { to, data, value } = transaction;
  const calls = [...simulated.calls, ...reset, approve(amount), { from: wallet, to, data, value }];
  const about = { on: head, watched: await watchedBy(context, swap) };
  const outcome = await context.deps.chain.simulate(calls, about);
  if (outcome.kind === "unavailable") {
    return { cause: "node", detail: `the way back could not be simulated: ${outcome.reason}` };
  }
  if (outcome.kind === "reverted") return { kind: "impossible", reason: `selling back reverts: ${outcome.reason}` };
  const arrived = outcome.transfers.filter((move) => move.token === swap.sell.address && move.to === wallet);
  return { kind: "returned", sold, returned: arrived.reduce((sum, move) => sum + move.amount, 0n) };
}
