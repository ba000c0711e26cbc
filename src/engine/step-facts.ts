import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import type { Run } from "../domain/run/run.ts";
import type { StepFacts } from "../domain/run/step-facts.ts";
import { type EngineContext, strategyOf } from "./engine-context.ts";
import { gasReserveOf } from "./gas-reserve.ts";
import { effectiveMode } from "./modes.ts";
import { parseStoredMemory } from "./quarantine.ts";

/**
 * The facts a step works with, read in the transaction that commits it. A run whose strategy's file is gone goes on
 * under the last edition that was loaded.
 * @throws Error when the strategy has no row: a broken invariant
 */
export function factsFor(context: EngineContext, run: Run): StepFacts {
  const { settings, deps } = context;
  const { store } = deps;
  const nowMs = deps.clock.nowMs();
  const memory = store.strategyMemory(run.strategyId);
  const spec = strategyOf(context, run.strategyId)?.spec ?? store.strategy(run.strategyId)?.spec;
  if (memory === undefined || spec === undefined) throw new Error(`strategy ${run.strategyId} has no row`);
  return {
    nowMs,
    spec,
    memory: parseStoredMemory(memory),
    policy: { ...settings.policy, gasReserve: gasReserveOf(context, spec) },
    ours: [...deps.signers.keys()],
    live: settings.live,
    // Two rows for what most steps never ask.
    get signingBarred() {
      return signingBarred(context, run.strategyId, spec.wallet.address);
    },
    get tradingBarred() {
      return tradingBarred(context, run.id);
    },
    isTokenBusy: (wallet, token, except) => store.isTokenBusy(wallet, token, except),
    lastFreed: (wallet, token) => store.lastFreed(wallet, token),
    wasIntended: (digest) => store.intendedSignature(digest) !== undefined,
    isNonceOfOther: (wallet, nonce, except) => store.isNonceOfOther(wallet, nonce, except),
    spentTodayUsd: (except) => store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.day, except),
    spentMonthUsd: (except) => store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.month, except),
    reservedByOthers: (wallet, token, except) => store.reserved(wallet, token, except),
    service: { router: settings.router, signatureHasNonce: deps.service.profile.signatureHasNonce },
    chain: {
      chainId: settings.chainId,
      wrappedNative: settings.wrappedNative,
      nativeSymbol: settings.native.symbol,
      confirmations: settings.confirmations,
    },
    pace: settings.pace,
  };
}

/** Why a run makes no new trade, undefined when it may. */
export function tradingBarred({ deps }: EngineContext, runId: string): string | undefined {
  return deps.store.isRunBarred(runId) ? "another database, whose acts were accepted, may have traded it" : undefined;
}

/** Why nothing may be signed for a strategy with its wallet now, undefined when signing is allowed. */
export function signingBarred(context: EngineContext, strategyId: string, wallet: Address): string | undefined {
  const { deps, settings } = context;
  const halt = deps.laneStore.halt(wallet, settings.chainId);
  if (halt !== undefined) return `the account ${wallet} is halted: ${halt.reason}`;
  const mode = effectiveMode(context.deps.store, strategyId);
  return mode.mode === "halted" ? `halted by ${mode.setBy}: ${mode.reason}` : undefined;
}
