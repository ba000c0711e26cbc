import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Evidence, LedgerEvidence } from "../domain/run/evidence.ts";
import { type Run, swapOf } from "../domain/run/run.ts";
import { type EngineContext, strategyOf } from "./engine-context.ts";
import { gasReserveOf } from "./gas-reserve.ts";
import { effectiveMode } from "./modes.ts";
import { parseStoredMemory } from "./quarantine.ts";

/**
 * Gathers what a step works with, in the transaction that commits it. A run whose strategy's file is gone goes on under
 * the last edition that was loaded.
 * @throws Error when the strategy has no row: a broken invariant
 */
export function gatherEvidence(context: EngineContext, run: Run, event: RunEvent): Evidence {
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
    signingBarred: signingBarred(context, run.strategyId, spec.wallet.address),
    tradingBarred: tradingBarred(context, run.id),
    ledger: event.kind === "facts-read" ? gatherLedger(context, run, { ...event, nowMs }) : undefined,
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

type FactsRead = Extract<RunEvent, { kind: "facts-read" }>;

function gatherLedger(
  { deps: { store } }: EngineContext,
  run: Run,
  { swapId, reading, nowMs }: FactsRead & { readonly nowMs: number },
): LedgerEvidence {
  const { wallet, sell } = swapOf(run, swapId);
  const { standing, signing } = reading;
  const permit = signing?.permit;
  const nonce = reading.decoding.ok ? reading.decoding.swap.nonce : undefined;
  return {
    isTokenBusy:
      store.isTokenBusy(wallet, sell.address, swapId) ||
      (standing !== undefined && store.isAllowanceOpen(wallet, sell.address, standing.finalized)),
    lastFreed: store.lastFreed(wallet, sell.address),
    isPermitIntended: permit !== undefined && store.intendedSignature(permit.digest) !== undefined,
    isNonceOfOther: nonce !== undefined && store.isNonceOfOther(wallet, nonce, swapId),
    spentTodayUsd: store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.day, swapId),
    spentMonthUsd: store.soldUsdSince(nowMs - CEILING_WINDOWS_MS.month, swapId),
    reservedByOthers: store.reserved(wallet, sell.address, swapId),
  };
}

/** Why a run makes no new trade, undefined when it may. */
export function tradingBarred({ deps }: EngineContext, runId: string): string | undefined {
  return deps.store.isRunBarred(runId) ? "another database, whose acts were accepted, may have traded it" : undefined;
}

/** Why nothing may be signed for a strategy with its wallet now, undefined when signing is allowed. */
export function signingBarred(context: EngineContext, strategyId: string, wallet: Address): string | undefined {
  const { deps, settings } = context;
  if (!settings.live) return "the mode is dry-run";
  const halt = deps.laneStore.halt(wallet, settings.chainId);
  if (halt !== undefined) return `the account ${wallet} is halted: ${halt.reason}`;
  const mode = effectiveMode(context.deps.store, strategyId);
  return mode.mode === "halted" ? `halted by ${mode.setBy}: ${mode.reason}` : undefined;
}
