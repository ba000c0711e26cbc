import type { Address } from "../domain/money/address.ts";
import { plannedIntent } from "../lane/planned-intent.ts";
import type { FinalBlock } from "../ports/store.ts";
import { type EngineContext, laneOf } from "./engine-context.ts";
import { mayRevoke } from "./modes.ts";
import { nodeFault } from "./perform/node-fault.ts";

const REVOKE_GAS_LIMIT = 120_000n;
/** A revocation is no hurry, but it must not wait in the queue for ever. */
const REVOKE_WITHIN_SECONDS = 600;

/** An allowance by its three parties. */
export interface Grant {
  readonly wallet: Address;
  readonly token: Address;
  readonly spender: Address;
}

/**
 * Takes back what is left of allowances once no swap of that wallet and token is open and the wallet can pay for it. A
 * revocation that the token would refuse is not sent, and a token that does not answer keeps no other one waiting.
 */
export async function revokeLeftovers(context: EngineContext): Promise<void> {
  const { store, logger, lanes } = context.deps;
  if (!context.settings.live) return;
  for (const grant of store.idleGrants()) {
    // A wallet that is configured no more has neither lane nor key here.
    if (!lanes.has(grant.wallet)) continue;
    await revokeLeftover(context, grant).catch((error: unknown) => {
      logger.warn({ ...grant, error: nodeFault(error) }, "a leftover allowance could not be looked at");
    });
  }
}

async function revokeLeftover(context: EngineContext, grant: Grant): Promise<void> {
  const { store, chain, logger } = context.deps;
  const { wallet, token, spender } = grant;
  if (!mayRevoke(store, grant)) return;
  const version = store.ledgerVersion(wallet);
  if ((await chain.allowance({ token, owner: wallet, spender })) === 0n) {
    const final = await noneAtFinalBlock(context, grant);
    if (final !== undefined) forget(context, grant, { version, final });
    return;
  }
  const { maxFeePerGas } = context.settings.policy;
  const { baseFeePerGas } = await chain.latest();
  if (baseFeePerGas > maxFeePerGas) {
    // Waiting in the lane it would keep the token busy, also from gasless swaps.
    logger.warn({ wallet, token, spender, baseFeePerGas }, "a leftover allowance waits until gas is below the ceiling");
    return;
  }
  const data = context.deps.approveCalldata(spender, 0n);
  const trial = await chain.simulate([{ from: wallet, to: token, data, value: 0n }]);
  const cost = REVOKE_GAS_LIMIT * maxFeePerGas;
  if (trial.kind === "ok" && (await chain.nativeBalance(wallet)) >= cost) submitRevocation(context, grant);
  else logger.warn({ wallet, token, spender, trial: trial.kind }, "a leftover allowance cannot be revoked now");
}

/**
 * The block that all endpoints call final, if they agree that it shows no allowance: one that a reorganisation could bring
 * back, or that a node which is behind does not know yet, is looked at again.
 */
async function noneAtFinalBlock(context: EngineContext, grant: Grant): Promise<FinalBlock | undefined> {
  const agreed = await context.deps.chain.agreed();
  const final = await agreed.finalized();
  const { token, wallet: owner, spender } = grant;
  return (await agreed.allowance({ token, owner, spender }, final.number)) === 0n ? final : undefined;
}

/** Not when a swap was cleared since the allowance was read: it may have granted a new one, under the same row. */
function forget(
  context: EngineContext,
  grant: Grant,
  { version, final }: { readonly version: number; readonly final: FinalBlock },
): void {
  const { store } = context.deps;
  store.transaction(() => {
    if (store.ledgerVersion(grant.wallet) === version && !store.isTokenBusy(grant.wallet, grant.token, ""))
      store.forgetGrant(grant, final);
  });
}

/**
 * Hands a revocation to the lane, in one transaction with the question whether the token is still idle: a swap cannot
 * slip in between.
 * @returns the intent, undefined when the token is busy
 */
export function submitRevocation(context: EngineContext, grant: Grant): string | undefined {
  const { store, ids, clock, logger } = context.deps;
  return store.transaction(() => {
    if (store.isTokenBusy(grant.wallet, grant.token, "")) return undefined;
    const id = ids.newId("revoke");
    // Without a lane nobody would ever send it.
    laneOf(context, grant.wallet);
    const nowMs = clock.nowMs();
    const request = {
      id,
      purpose: "revoke",
      to: grant.token,
      data: context.deps.approveCalldata(grant.spender, 0n),
      value: 0n,
      gasLimit: REVOKE_GAS_LIMIT,
      maxFeePerGasCap: context.settings.policy.maxFeePerGas,
      signBySeconds: Math.floor(nowMs / 1_000) + REVOKE_WITHIN_SECONDS,
      deadlineSeconds: undefined,
    } as const;
    const of = { account: grant.wallet, chainId: context.settings.chainId };
    store.write([{ kind: "intent", intent: plannedIntent(of, request, nowMs) }], nowMs);
    logger.info({ ...grant }, "an allowance is being revoked");
    return id;
  });
}
