import { decodeMultiSend, type SafeCall } from "../../domain/guard/multi-send.ts";
import { policyMark } from "../../domain/guard/policy.ts";
import type { TypedData } from "../../domain/guard/typed-data.ts";
import type { Address, Hex } from "../../domain/money/address.ts";
import { outdated, type Run, type Swap } from "../../domain/run/run.ts";
import type { Treasury } from "../../ports/treasury.ts";
import type { EngineContext } from "../engine-context.ts";
import { proceedsGone, signingBarred, tradingBarred } from "../gather-evidence.ts";

/** The treasury of a Safe. @throws Error when the wallet is none: a broken invariant */
export function treasuryOf({ deps }: EngineContext, wallet: Address): Treasury {
  const treasury = deps.treasuries?.get(wallet);
  if (treasury === undefined) throw new Error(`the wallet ${wallet} is no Safe`);
  return treasury;
}

/** What was written down to be proposed, read back. */
export interface JournaledProposal {
  readonly typedData: TypedData;
  readonly hash: Hex;
  readonly calls: readonly SafeCall[];
}

/** @throws Error when the journaled hash is not that of the journaled text: a broken invariant */
export async function journaledProposal(context: EngineContext, run: Run, swap: Swap): Promise<JournaledProposal> {
  const hash = swap.signatures?.swapDigest;
  if (hash === undefined) throw new Error(`swap ${swap.id} is to be proposed without having been written down`);
  const rows = await context.deps.store.read({
    ...{ kind: "signing", runId: run.id, strategyId: run.strategyId, digests: [hash] },
  } as const);
  const text = rows.typedData.get(hash);
  if (text === undefined) throw new Error(`swap ${swap.id}: there is no journaled typed data for ${hash}`);
  const typedData = JSON.parse(text) as TypedData;
  const calls = decodeMultiSend(typedData.message.data as Hex);
  if (context.deps.digest(typedData) !== hash || "problem" in calls) {
    throw new Error(`swap ${swap.id}: the journaled proposal does not have the hash ${hash}`);
  }
  return { typedData, hash, calls };
}

/** Why a proposal does not leave now, by the rows of this instant; `isLate` where nothing but its own end is against it. */
export interface Kept {
  readonly detail: string;
  readonly isLate?: true;
}

/** @returns undefined when it may leave */
export async function whyKept(context: EngineContext, run: Run, swap: Swap): Promise<Kept | undefined> {
  const { store, clock } = context.deps;
  const { id: runId, strategyId } = run;
  const rows = await store.read({ kind: "signing", runId, strategyId, digests: [] });
  const barred =
    signingBarred(context, strategyId, { ...rows, wallet: swap.wallet }) ??
    tradingBarred(rows) ??
    proceedsGone(rows, swap) ??
    outdated(swap, policyMark(context.settings.policy));
  if (barred !== undefined) return { detail: barred };
  const deadlineSeconds = swap.terms?.deadlineSeconds ?? 0;
  const isLate = clock.nowMs() / 1_000 > deadlineSeconds - context.settings.pace.submitMarginSeconds;
  const detail = `it could only be executed until ${deadlineSeconds}, which is too near or past`;
  return isLate ? { detail, isLate } : undefined;
}
