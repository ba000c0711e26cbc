import { approval } from "../../domain/guard/approval.ts";
import type { GaslessObservation } from "../../domain/run/events.ts";
import { approvalGasLimit } from "../../domain/run/gas-limit.ts";
import { isPastDeadlines, type Swap } from "../../domain/run/run.ts";
import { firstFees } from "../../lane/fees.ts";
import type { Grant } from "../../ports/reconciliation-questions.ts";
import type { EngineContext } from "../engine-context.ts";

/**
 * An observation of an order that is over and left its allowance, with what that is taken back with, or what speaks against
 * it now: a token that refuses it takes its gas all the same, and what cannot be paid for keeps its token busy for nothing.
 * @throws ChainReadError when no endpoint answers
 */
export async function withRevocation(
  context: EngineContext,
  swap: Swap,
  observation: GaslessObservation,
): Promise<GaslessObservation> {
  const { fill, allowance, finalized } = observation;
  const isLeft = fill === undefined && allowance > 0n && isPastDeadlines(swap, finalized.timestampSeconds);
  if (!isLeft || !context.settings.live || swap.revokeIntentId !== undefined) return observation;
  const { wallet, sell, terms } = swap;
  const { spender } = (terms ?? context.settings).contracts;
  return { ...observation, revocation: await readRevocation(context, { wallet, token: sell.address, spender }) };
}

/**
 * What an allowance is taken back with now, or what speaks against it.
 * @throws ChainReadError when no endpoint answers
 */
export async function readRevocation(
  { deps: { chain }, settings }: EngineContext,
  { wallet, token, spender }: Grant,
): Promise<NonNullable<GaslessObservation["revocation"]>> {
  const data = approval(spender, 0n);
  const simulated = await chain.simulate([{ from: wallet, to: token, data, value: 0n }]);
  if (simulated.kind === "reverted") {
    const symbol = settings.tokens.find(({ address }) => address === token)?.symbol ?? token;
    return { barred: `${symbol} refuses that (${simulated.reason})` };
  }
  const gasLimit = approvalGasLimit(simulated.kind === "ok" ? simulated.gasUsedByCall[0] : undefined);
  const { baseFeePerGas } = await chain.latest();
  const fees = firstFees({ baseFeePerGas, priorityFee: await chain.priorityFee() }, settings.policy.maxFeePerGas);
  if (fees === undefined) return { barred: "gas costs more than max_gas_price" };
  const canPay = (await chain.nativeBalance(wallet)) >= gasLimit * fees.maxFeePerGas;
  return canPay ? { gasLimit } : { barred: `${wallet} has too little ${settings.native.symbol} for its gas` };
}
