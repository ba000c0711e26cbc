import type { Decoding, ProposedTransaction } from "../../domain/guard/decoded-swap.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import { NATIVE_TOKEN } from "../../domain/money/address.ts";
import { isNative } from "../../domain/money/token.ts";
import type { ClearanceReading, FactsFault } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { BlockHead } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import { haltIfDelegated } from "../wallet-code.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";
import { pinnedSettlement } from "./pinned-settlement.ts";
import { askProposal, callToTry, type Proposal } from "./proposal.ts";
import { proposeSwap } from "./propose-swap.ts";
import { readHead } from "./read-head.ts";
import { readReference } from "./read-reference.ts";
import { roundTrip } from "./round-trip.ts";
import { searchStart } from "./search-start.ts";
import { signingMaterial } from "./signing-material.ts";
import { type SwapSimulation, simulateSwap } from "./simulate-swap.ts";
import { standingAllowance } from "./standing-allowance.ts";

/** Reads, in one go and all fresh, what the guard checks a quoted swap against. */
export async function readFacts(context: EngineContext, swap: Swap): Promise<EffectAnswer> {
  const { chain } = context.deps;
  const { quote, gross } = swap;
  if (quote === undefined || gross === undefined) throw new Error(`swap ${swap.id} is checked before it is quoted`);
  const { lastFreed, hasBought } = await context.deps.store.read({
    kind: "traded",
    ...{ wallet: swap.wallet, sell: swap.sell.address, buy: swap.buy.address },
  });
  const proposal = await askProposal(context, swap, quote);
  if ("kind" in proposal) {
    const { code, message, retryable } = proposal;
    if (retryable) return unavailable(swap, { cause: "service", detail: `${code}: ${message}` });
    return { kind: "quote-refused", swapId: swap.id, gasless: swap.mode === "gasless", code, message, retryable };
  }
  const { transaction } = proposal;
  try {
    const skew = await clockProblem(context);
    if (skew !== undefined) return unavailable(swap, { cause: "clock", detail: skew });
    await haltIfDelegated(context, swap.wallet);
    const head = await readHead(context, swap.wallet);
    const { spender } = contractsFor(context.settings, quote);
    const grant = { token: swap.sell.address, owner: swap.wallet, spender };
    const allowance = isNative(swap.sell) ? gross : await chain.allowance(grant, head.number);
    const decoding = decode(context, swap, transaction);
    const prepared = await prepare(context, proposal, { swap, gross, decoding, allowance, head });
    const { simulated } = prepared;
    const back = await roundTrip(context, { swap, gross, quote, hasBought, decoding, simulated, head });
    if (back !== undefined && "cause" in back) return unavailable(swap, back);
    const reading: ClearanceReading = {
      lastFreed,
      ...(await readReference(context, swap, gross)),
      roundTrip: back,
      head: { number: head.number, timestampSeconds: head.timestamp, baseFeePerGas: head.baseFeePerGas },
      ...(await searchStart(context, swap, { decoding, head: head.number })),
      priorityFee: await chain.priorityFee(),
      balance: await chain.balance(swap.sell.address, swap.wallet, head.number),
      nativeBalance: await chain.balance(NATIVE_TOKEN, swap.wallet, head.number),
      nonceUsed: await nonceUsed(context, swap, { decoding, block: head.number }),
      allowance,
      standing: await standingAllowance(context, swap, allowance),
      decoding,
      transaction,
      simulation: simulated.simulation,
      gasLimit: simulated.gasLimit,
      dataFee: await dataFee(context, swap, { transaction, simulated, block: head.number }),
      ...prepared.reading,
    };
    return { kind: "facts-read", swapId: swap.id, reading };
  } catch (error) {
    return unavailable(swap, { cause: "node", detail: nodeFault(error) });
  }
}

/** Longer than any that a wallet will have: the bytes that are paid for are no fewer than these. */
const LONG_NONCE = 2 ** 31;

/** What a rollup charges for the data of our own transactions; others pay for an order, and owners for a proposal. */
async function dataFee(
  { deps, settings }: EngineContext,
  { mode, wallet }: Swap,
  { transaction, simulated, block }: Pick<Proposal, "transaction"> & { simulated: SwapSimulation; block: number },
): Promise<bigint | undefined> {
  if (mode === "gasless" || deps.treasuries?.has(wallet) === true) return undefined;
  if (transaction === undefined || simulated.gasLimit === 0n) return undefined;
  const { maxFeePerGas } = settings.policy;
  const fees = { maxFeePerGas, maxPriorityFeePerGas: maxFeePerGas };
  const { gasLimit } = simulated;
  let sum: bigint | undefined;
  for (const { to, data, value } of [...simulated.calls.slice(0, -1), transaction]) {
    const unsigned = { nonce: LONG_NONCE, to, data, value, gasLimit, ...fees };
    const fee = await deps.dataFee(unsigned, { gasUsed: gasLimit, block });
    if (fee !== undefined) sum = (sum ?? 0n) + fee;
  }
  return sum;
}

interface ToPrepare {
  readonly swap: Swap;
  readonly gross: bigint;
  readonly decoding: Decoding;
  readonly allowance: bigint;
  readonly head: BlockHead;
}

/** What is simulated, and what would be signed and approved: an order, a proposal to a Safe, or our own transaction. */
async function prepare(
  context: EngineContext,
  proposal: Proposal,
  facts: ToPrepare,
): Promise<{
  readonly simulated: SwapSimulation;
  readonly reading: Pick<ClearanceReading, "approval" | "signing" | "proposal" | "permitProblem">;
}> {
  const { swap, decoding } = facts;
  const none = { approval: undefined, signing: undefined, permitProblem: undefined };
  const treasury = context.deps.treasuries?.get(swap.wallet);
  if (treasury !== undefined) {
    const { transaction } = proposal;
    const { simulated, ...built } = await proposeSwap(context, treasury, { ...facts, transaction });
    return { simulated, reading: { ...none, ...built } };
  }
  const simulated = await simulateSwap(context, { ...facts, call: callToTry(context, proposal, decoding) });
  if (swap.mode !== "gasless") return { simulated, reading: { ...none, approval: simulated.approval } };
  // Gasless, the permit gives the allowance: the approval was only simulated.
  if (!decoding.ok) return { simulated, reading: none };
  const material = await signingMaterial(context, { ...facts, decoded: decoding.swap });
  return { simulated, reading: { ...none, ...material } };
}

function unavailable({ id }: Swap, fault: { cause: FactsFault; detail: string }): EffectAnswer {
  return { kind: "facts-unavailable", swapId: id, cause: fault.cause, detail: fault.detail };
}

/** Deadlines mean nothing when this machine and the chain disagree about the time, or when the chain stands still. */
async function clockProblem(context: EngineContext): Promise<string | undefined> {
  const { chain, clock } = context.deps;
  const { maxClockSkewSeconds } = context.settings.pace;
  const { timestamp } = await chain.latest();
  const nowSeconds = Math.floor(clock.nowMs() / 1_000);
  const skew = Math.abs(nowSeconds - timestamp);
  if (skew <= maxClockSkewSeconds) return undefined;
  const side = nowSeconds > timestamp ? "ahead of" : "behind";
  const [by, most] = [skew, maxClockSkewSeconds].map((seconds) => formatDuration(seconds * 1_000));
  return `this machine's clock is ${by} ${side} the time of the latest block: more than ${most}`;
}

function decode(context: EngineContext, swap: Swap, transaction: ProposedTransaction | undefined): Decoding {
  const { profile } = context.deps.service;
  const pinned = pinnedSettlement(context, swap);
  if (transaction !== undefined) return profile.decodeTransaction(transaction, pinned);
  const typedData = swap.quote?.typedData;
  if (typedData === undefined) return { ok: false, problem: "the quote has no typed data" };
  return profile.decodeTypedData(typedData, pinned);
}

/** Undefined where the signature carries no nonce, or the contract does not answer for it. */
async function nonceUsed(
  context: EngineContext,
  swap: Swap,
  { decoding, block }: { decoding: Decoding; block: number },
): Promise<boolean | undefined> {
  const { chain, service } = context.deps;
  const { nonceRecord } = service.profile;
  if (!decoding.ok || decoding.swap.nonce === undefined || nonceRecord === undefined) return undefined;
  const data = nonceRecord.usedCall(swap.wallet, decoding.swap.nonce);
  const answer = await chain.call({ to: context.settings.contracts[nonceRecord.at], data }, block);
  return answer === undefined ? undefined : nonceRecord.isUsed(answer);
}
