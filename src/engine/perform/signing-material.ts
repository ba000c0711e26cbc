import type { DecodedSwap } from "../../domain/guard/decoded-swap.ts";
import { buildPermit } from "../../domain/guard/permit.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import { isNative } from "../../domain/money/token.ts";
import type { SigningMaterial } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { BlockHead, PermitFacts } from "../../ports/chain.ts";
import type { EngineContext } from "../engine-context.ts";
import { pinnedSettlement } from "./pinned-settlement.ts";

/**
 * Builds what a gasless swap would sign: the swap from its decoded fields and the pinned types alone, the permit wholly
 * by ourselves, for the exact amount and until the swap's own deadline. A sufficient allowance needs no permit.
 * Its nonce may be an old one, which another swap used: the step that signs checks.
 */
export async function signingMaterial(
  context: EngineContext,
  request: { swap: Swap; gross: bigint; decoded: DecodedSwap; allowance: bigint; head: BlockHead },
): Promise<{ signing: SigningMaterial; permitProblem: string | undefined }> {
  const { swap, decoded, gross, allowance, head } = request;
  const signed = sealed(context, context.deps.service.profile.typedData(decoded, pinnedSettlement(context, swap)));
  if (allowance >= gross || isNative(swap.sell)) {
    return { signing: { swap: signed, permit: undefined }, permitProblem: undefined };
  }
  const facts = await context.deps.chain.permitFacts(swap.sell.address, swap.wallet, head.number);
  const permit = buildPermit(facts, {
    chainId: context.settings.chainId,
    token: swap.sell.address,
    owner: swap.wallet,
    spender: context.settings.contracts.spender,
    value: gross,
    deadlineSeconds: decoded.deadline,
  });
  if (!permit.ok) {
    return { signing: { swap: signed, permit: undefined }, permitProblem: permit.denial.fields.problem };
  }
  const problem = facts === undefined ? undefined : await delegationProblem(context, swap, facts);
  if (problem !== undefined) return { signing: { swap: signed, permit: undefined }, permitProblem: problem };
  const deadlineSeconds = Number(decoded.deadline);
  return {
    signing: { swap: signed, permit: { ...sealed(context, permit.typedData), deadlineSeconds, value: gross } },
    permitProblem: undefined,
  };
}

/** A token may ask the delegate of an account with code instead of its signature: then the permit is worth nothing. */
async function delegationProblem(context: EngineContext, swap: Swap, facts: PermitFacts): Promise<string | undefined> {
  const { chain } = context.deps;
  const { delegates, contracts } = context.settings;
  const delegate = delegates?.get(swap.wallet);
  if (delegate === undefined || (await chain.code(swap.wallet)) === "0x") return undefined;
  const token = swap.sell.address;
  const isTaken = await chain.takesDelegatedPermit({
    token,
    delegate,
    spender: contracts.spender,
    domain: facts.domain,
  });
  return isTaken ? undefined : `the token takes no permit of an account that delegates to ${delegate}`;
}

/** Canonical JSON of typed data (integers as decimal text) with the digest of exactly that. */
export function sealed(context: EngineContext, typedData: TypedData): { typedData: string; digest: `0x${string}` } {
  const text = JSON.stringify(typedData, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
  return { typedData: text, digest: context.deps.digest(JSON.parse(text) as TypedData) };
}
