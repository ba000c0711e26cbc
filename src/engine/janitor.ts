import { approval } from "../domain/guard/approval.ts";
import { APPROVAL_GAS_LIMIT } from "../domain/run/gas-limit.ts";
import { REVOKE_WITHIN_SECONDS } from "../domain/run/step-gasless.ts";
import { plannedIntent } from "../lane/planned-intent.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { Grant, GrantRows } from "../ports/reconciliation-questions.ts";
import type { FinalBlock } from "../ports/reconciliation-store.ts";
import type { Unit } from "../ports/unit-of-work.ts";
import { type EngineContext, laneOf } from "./engine-context.ts";
import { mayTakeBack } from "./modes.ts";
import { nodeFault } from "./perform/node-fault.ts";
import { readRevocation } from "./perform/order-revocation.ts";

/**
 * Takes back what is left of allowances once no swap of that wallet and token is open and the wallet can pay for it. A
 * revocation that the token would refuse is not sent, and a token that does not answer keeps no other one waiting.
 */
export async function revokeLeftovers(context: EngineContext): Promise<void> {
  const { store, logger, lanes } = context.deps;
  if (!context.settings.live) return;
  for (const grant of await store.read({ kind: "idle-grants" })) {
    // A wallet that is configured no more has neither lane nor key here.
    if (!lanes.has(grant.wallet)) continue;
    await revokeLeftover(context, grant).catch((error: unknown) => {
      logger.warn({ ...grant, error: nodeFault(error) }, "a leftover allowance could not be checked");
    });
  }
}

async function revokeLeftover(context: EngineContext, grant: Grant): Promise<void> {
  const { store, chain, logger } = context.deps;
  const { wallet, token, spender } = grant;
  const rows = await store.read({ kind: "grant", wallet, token });
  if (!mayTakeBack(rows, grant)) return;
  if ((await chain.allowance({ token, owner: wallet, spender })) === 0n) {
    const final = await noneAtFinalBlock(context, grant);
    if (final !== undefined) await forget(context, grant, { version: rows.version, final });
    return;
  }
  const revocation = await readRevocation(context, grant);
  // Waiting in the lane it would keep the token busy, also from gasless swaps.
  if ("barred" in revocation)
    logger.warn({ ...grant, barred: revocation.barred }, "a leftover allowance stays for now");
  else await revoke(context, grant, { ...revocation, timestamp: (await chain.latest()).timestamp });
}

/**
 * The block that all endpoints call final, if they agree that it shows no allowance: one that a reorganisation could
 * bring back, or that a node which is behind does not know yet, is checked again.
 */
async function noneAtFinalBlock(context: EngineContext, grant: Grant): Promise<FinalBlock | undefined> {
  const agreed = await context.deps.chain.agreed();
  const final = await agreed.finalized();
  const { token, wallet: owner, spender } = grant;
  return (await agreed.allowance({ token, owner, spender }, final.number)) === 0n ? final : undefined;
}

/** Not when a swap was cleared since the allowance was read: it may have granted a new one, under the same row. */
async function forget(
  { deps: { store, clock } }: EngineContext,
  grant: Grant,
  { version, final }: { readonly version: number; readonly final: FinalBlock },
): Promise<void> {
  const { wallet, token } = grant;
  const decide = (rows: GrantRows): Decided<void> => {
    const isOld = rows.version !== version || rows.isBusy;
    return {
      changes: isOld ? [] : [{ kind: "grant-forgotten", grant, final }],
      atMs: clock.nowMs(),
      value: undefined,
    };
  };
  await store.commit([{ question: { kind: "grant", wallet, token }, decide }]);
}

/**
 * Hands a revocation to the lane, where the token is still idle and its wallet was not halted while the chain was read.
 */
async function revoke(
  context: EngineContext,
  grant: Grant,
  of: { readonly gasLimit: bigint; readonly timestamp: number },
): Promise<void> {
  const { wallet, token } = grant;
  const decide = (rows: GrantRows): ReturnType<typeof decideRevocation> =>
    mayTakeBack(rows, grant) ? decideRevocation(context, grant, { rows, ...of }) : nothing(context);
  const unit: Unit<"grant", string | undefined> = { question: { kind: "grant", wallet, token }, decide };
  const [written] = await context.deps.store.commit([unit]);
  if (written?.value !== undefined) context.deps.logger.info({ ...grant }, "an allowance is being revoked");
}

function nothing({ deps: { clock } }: EngineContext): Decided<undefined> {
  return { changes: [], atMs: clock.nowMs(), value: undefined };
}

/**
 * A revocation for the lane, decided on rows that say whether the token is still idle: a swap cannot slip in between.
 * @param options.timestamp of the newest block: a lane drops by the chain's time what is to be signed by then, and a clock
 *   of ours that stands behind would have each revocation dropped at once, and made anew
 * @returns as the value the intent's id, undefined when the token is busy
 */
export function decideRevocation(
  context: EngineContext,
  grant: Grant,
  options: { readonly rows: GrantRows; readonly gasLimit?: bigint; readonly timestamp?: number },
): Decided<string | undefined> {
  const { deps, settings } = context;
  const { rows, gasLimit = APPROVAL_GAS_LIMIT, timestamp = 0 } = options;
  if (rows.isBusy) return nothing(context);
  // Without a lane it would never be sent.
  laneOf(context, grant.wallet);
  const atMs = deps.clock.nowMs();
  const request = {
    id: deps.ids.newId("revoke"),
    purpose: "revoke",
    to: grant.token,
    data: approval(grant.spender, 0n),
    value: 0n,
    gasLimit,
    maxFeePerGasCap: settings.policy.maxFeePerGas,
    signBySeconds: Math.max(timestamp, Math.floor(atMs / 1_000)) + REVOKE_WITHIN_SECONDS,
    deadlineSeconds: undefined,
  } as const;
  const intent = plannedIntent({ account: grant.wallet, chainId: settings.chainId }, request, atMs);
  return { changes: [{ kind: "intent", intent } satisfies Change], atMs, value: request.id };
}
