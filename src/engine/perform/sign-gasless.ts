import { policyMark } from "../../domain/guard/policy.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { Hex } from "../../domain/money/address.ts";
import { outdated, type Run, type Swap } from "../../domain/run/run.ts";
import { SigningError } from "../../domain/signing-error.ts";
import { formatDuration } from "../../domain/time/format-duration.ts";
import type { EngineContext } from "../engine-context.ts";
import { proceedsGone, signingBarred, tradingBarred } from "../gather-evidence.ts";
import type { EffectAnswer } from "./effect-answer.ts";

/**
 * Signs exactly the typed data that was journaled, unless signing was forbidden since or its order has ended. After a kill,
 * and until the signer answers, the same digest is signed again: maybe by another signature, and both are one capability,
 * because what checks them counts the digest's nonce and not the bytes. Only the stored one is ever handed over.
 * @throws Error when the journaled digest is not the digest of the journaled typed data: a broken invariant
 */
export async function signGasless(context: EngineContext, run: Run, swap: Swap): Promise<EffectAnswer> {
  const { store, crashPoint } = context.deps;
  const { signatures } = swap;
  if (signatures === undefined) throw new Error(`swap ${swap.id} is to be signed without an intent`);
  const { swapDigest, permitDigest } = signatures;
  // The order last: a permit that is made and kept back can take nothing without one.
  const digests = permitDigest === undefined ? [swapDigest] : [permitDigest, swapDigest];
  const signed = new Map<Hex, Hex>();
  for (const digest of digests) {
    // Asked before each of the two: a signer takes its time, and a person may halt everything meanwhile.
    const rows = await store.read({ kind: "signing", runId: run.id, strategyId: run.strategyId, digests });
    const barred =
      signingBarred(context, run.strategyId, { ...rows, wallet: swap.wallet }) ??
      tradingBarred(rows) ??
      proceedsGone(rows, swap) ??
      outdated(swap, policyMark(context.settings.policy));
    if (barred !== undefined) return { kind: "signing-barred", swapId: swap.id, detail: barred };
    const late = pastDeadline(context, swap);
    if (late !== undefined) return { kind: "signing-barred", swapId: swap.id, detail: late, isLate: true };
    if (signed.size === 0) crashPoint("gasless.sign.before");
    const journaled = rows.typedData.get(digest);
    const signature = await orUnsigned(() => sign(context, swap, { digest, journaled }));
    if (signature === undefined) return { kind: "unsigned" };
    signed.set(digest, signature);
  }
  crashPoint("gasless.sign.after");
  const permitSignature = permitDigest === undefined ? undefined : signed.get(permitDigest);
  return { kind: "signed-gasless", swapId: swap.id, swapSignature: signed.get(swapDigest), permitSignature };
}

/** What was signed; undefined where the signer gives no signature now. @throws everything else */
export async function orUnsigned<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SigningError) return undefined;
    throw error;
  }
}

/**
 * An order that cannot be filled any more is not signed, as after an outage; what is signed is stored before it leaves.
 */
function pastDeadline({ deps: { clock } }: EngineContext, { terms }: Swap): string | undefined {
  const lateSeconds = Math.floor(clock.nowMs() / 1_000) - (terms?.deadlineSeconds ?? Number.POSITIVE_INFINITY);
  return lateSeconds < 0
    ? undefined
    : `its order ended ${formatDuration(lateSeconds * 1_000)} before it could be signed`;
}

async function sign(
  context: EngineContext,
  swap: Swap,
  { digest, journaled }: { readonly digest: Hex; readonly journaled: string | undefined },
): Promise<Hex> {
  const signer = context.deps.signers.get(swap.wallet);
  if (signer === undefined || journaled === undefined) {
    throw new Error(`swap ${swap.id}: no ${signer === undefined ? "signer" : "journaled typed data"} for ${digest}`);
  }
  const typedData = JSON.parse(journaled) as TypedData;
  if (context.deps.digest(typedData) !== digest) {
    throw new Error(`swap ${swap.id}: the journaled typed data does not have the digest ${digest}`);
  }
  return await signer.signTypedData(typedData);
}
