import type { DecodedSwap } from "../../domain/guard/decoded-swap.ts";
import { buildPermit } from "../../domain/guard/permit.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import { isNative } from "../../domain/money/token.ts";
import type { SigningMaterial } from "../../domain/run/events.ts";
import type { Swap } from "../../domain/run/run.ts";
import type { EngineContext } from "../engine-context.ts";
import { pinnedSettlement } from "./pinned-settlement.ts";

/**
 * Builds what a gasless swap would sign: the swap from its decoded fields and the pinned types alone, the permit wholly
 * by ourselves, for the exact amount and until the swap's own deadline. A sufficient allowance needs no permit.
 */
export async function signingMaterial(
  context: EngineContext,
  request: { swap: Swap; amountIn: bigint; decoded: DecodedSwap; allowance: bigint },
): Promise<{ signing: SigningMaterial; permitProblem: string | undefined }> {
  const { swap, decoded, amountIn, allowance } = request;
  const signed = sealed(context, context.deps.service.profile.typedData(decoded, pinnedSettlement(context)));
  if (allowance >= amountIn || isNative(swap.sell)) {
    return { signing: { swap: signed, permit: undefined }, permitProblem: undefined };
  }
  const deadlineSeconds = Number(decoded.deadline);
  const permit = buildPermit(await context.deps.chain.permitFacts(swap.sell.address, swap.wallet), {
    chainId: context.settings.chainId,
    token: swap.sell.address,
    owner: swap.wallet,
    spender: context.settings.router,
    value: amountIn,
    deadlineSeconds,
  });
  if (!permit.ok) {
    return { signing: { swap: signed, permit: undefined }, permitProblem: permit.denial.fields.problem };
  }
  const sealedPermit = sealed(context, permit.typedData);
  return {
    signing: { swap: signed, permit: { ...sealedPermit, deadlineSeconds, value: amountIn } },
    permitProblem: undefined,
  };
}

/** Canonical JSON of typed data (integers as decimal text) with the digest of exactly that. */
function sealed(context: EngineContext, typedData: TypedData): { typedData: string; digest: `0x${string}` } {
  const text = JSON.stringify(typedData, (_key, part: unknown) => (typeof part === "bigint" ? part.toString() : part));
  return { typedData: text, digest: context.deps.digest(JSON.parse(text) as TypedData) };
}
