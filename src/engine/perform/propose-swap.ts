import type { Decoding, ProposedTransaction } from "../../domain/guard/decoded-swap.ts";
import type { SafeCall } from "../../domain/guard/multi-send.ts";
import { MARK_FACTORY, MARK_FACTORY_CODE, placeOf } from "../../domain/guard/once-mark.ts";
import { SAFE_CONTRACTS, type SafeVersion } from "../../domain/guard/safe-contracts.ts";
import { proposedCalls, type SafeProposal, safeTypedData } from "../../domain/guard/safe-transaction.ts";
import { contractsFor } from "../../domain/guard/swap-contracts.ts";
import type { ClearanceReading, SigningMaterial } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { AgreedChainReads, BlockHead } from "../../ports/chain.ts";
import type { Treasury } from "../../ports/treasury.ts";
import type { EngineContext } from "../engine-context.ts";
import { isOwner, readSafe } from "./read-safe.ts";
import { sealed } from "./signing-material.ts";
import { type SwapSimulation, simulateCalls, unsimulated } from "./simulate-swap.ts";

interface ProposalRequest {
  readonly swap: Swap;
  readonly gross: bigint;
  readonly transaction: ProposedTransaction | undefined;
  readonly decoding: Decoding;
  /** what the spender may take already */
  readonly allowance: bigint;
  /** the block that everything is read at */
  readonly head: BlockHead;
}

/** What the owners of a Safe would be asked for, and what it did when it was simulated. */
export interface BuiltProposal {
  readonly proposal: NonNullable<ClearanceReading["proposal"]>;
  readonly signing: SigningMaterial | undefined;
  readonly simulated: SwapSimulation;
}

/**
 * Builds the proposal of a swap from its decoded transaction, and simulates all of its calls by the Safe itself. The nonce
 * is the Safe's next one, or the first that nothing waits for where that is known.
 * @throws ChainReadError when the nodes do not answer
 */
export async function proposeSwap(
  context: EngineContext,
  treasury: Treasury,
  request: ProposalRequest,
): Promise<BuiltProposal> {
  const { chain } = context.deps;
  const { swap, transaction, decoding, head, allowance } = request;
  const nothing = { signing: undefined, simulated: unsimulated({ kind: "unavailable", reason: "nothing was built" }) };
  const seen = await readSafe(chain, treasury.safe, head.number);
  if (seen.kind === "unknown") return { ...nothing, proposal: { kind: "unknown-safe", problem: seen.problem } };
  const agreed = await chain.agreed();
  const block = Math.min((await agreed.finalized()).number, head.number);
  const then = await readSafe(agreed, treasury.safe, block);
  if (then.kind === "unknown") {
    const problem = `${then.problem}, in the final block ${block}`;
    return { ...nothing, proposal: { kind: "unknown-safe", problem } };
  }
  const missing = await missingContract(agreed, seen.version, block);
  const problem =
    missing ??
    (await powerOf(treasury, [
      [chain, head.number],
      [agreed, block],
    ]));
  if (problem !== undefined) return { ...nothing, proposal: { kind: "unknown-safe", problem } };
  const nonce = await treasury.freeNonce(seen.nonce);
  const proposal: BuiltProposal["proposal"] = {
    kind: "built",
    ...{ version: seen.version, nextNonce: seen.nonce, nonce, isBoundToNonce: treasury.bindsNonce },
    ...{ since: { block, nonce: then.nonce }, isAllowed: allowance > 0n },
  } as const;
  if (transaction === undefined || !decoding.ok) return { ...nothing, proposal };
  const { chainId } = context.settings;
  const { version } = seen;
  const calls = callsOf(context, request, transaction);
  const built: SafeProposal = { chainId, safe: treasury.safe, version, nonce, calls };
  const about = { swap, head };
  const simulated = await simulateCalls(
    context,
    calls.map((call) => ({ ...call, from: treasury.safe })),
    about,
  );
  return { proposal, signing: { swap: sealed(context, safeTypedData(built)), permit: undefined }, simulated };
}

/** A call to an empty address succeeds: without them a proposal would do nothing, or be executed twice. */
async function missingContract(
  agreed: AgreedChainReads,
  version: SafeVersion,
  block: number,
): Promise<string | undefined> {
  if ((await agreed.code(MARK_FACTORY, block)) !== MARK_FACTORY_CODE)
    return `the factory ${MARK_FACTORY} does not stand on this network: nothing would keep a proposal from being executed twice`;
  const { multiSendCallOnly } = SAFE_CONTRACTS[version];
  if ((await agreed.code(multiSendCallOnly, block)) !== "0x") return undefined;
  return `the contract MultiSendCallOnly of version ${version} does not stand on this network at ${multiSendCallOnly}: a proposal would do nothing`;
}

/** Who proposes must be nobody to the Safe: an owner's signature is a part of an execution. */
async function powerOf(
  { safe, proposer }: Treasury,
  views: readonly (readonly [reads: Pick<AgreedChainReads, "call">, block: number])[],
): Promise<string | undefined> {
  if (proposer === undefined) return undefined;
  const account = proposer.address;
  for (const [reads, block] of views) {
    const owns = await isOwner(reads, { safe, account }, block);
    if (owns === undefined) return `the Safe ${safe} does not say whether the delegate ${account} is one of its owners`;
    if (owns)
      return `the delegate ${account} is an owner of the Safe ${safe}, and its signature would count: a delegate needs a key of its own`;
  }
  return undefined;
}

function callsOf(
  { settings }: EngineContext,
  { swap, gross, allowance }: ProposalRequest,
  { to, value, data }: ProposedTransaction,
): readonly SafeCall[] {
  const { spender } = contractsFor(settings, swap.quote);
  const token = swap.sell.address;
  return proposedCalls({
    safe: swap.wallet,
    place: placeOf(swap),
    token,
    spender,
    gross,
    isAllowed: allowance > 0n,
    swap: { to, value, data },
  });
}
