import { NO_FAILURES } from "../domain/guard/consequence.ts";
import { CEILING_WINDOWS_MS, policyMark } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import type { RunEvent } from "../domain/run/events.ts";
import type { Evidence } from "../domain/run/evidence.ts";
import { proceedsBarred } from "../domain/run/proceeds.ts";
import type { Run, Swap } from "../domain/run/run.ts";
import { triedUntil } from "../domain/schedule/opening-hours.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { StepQuestion, StepRows } from "../ports/changes.ts";
import type { ModeRows, SigningRows } from "../ports/view-questions.ts";
import { type EngineContext, strategyOf } from "./engine-context.ts";
import { gasReserveOf } from "./gas-reserve.ts";
import { modeOf, revokingModeOf } from "./modes.ts";
import { parseStoredMemory } from "./quarantine.ts";
import { EVERYBODYS } from "./same-ends.ts";

/** What a step of a run asks of the rows. */
export function stepQuestion({ settings }: EngineContext, nowMs: number): StepQuestion {
  return {
    daySinceMs: nowMs - CEILING_WINDOWS_MS.day,
    monthSinceMs: nowMs - CEILING_WINDOWS_MS.month,
    failures: {
      sinceMs: nowMs - settings.policy.pauseAfter.withinSeconds * 1_000,
      // What a clock that ran ahead saw fail lies ahead of now, and is no failure of these days.
      untilMs: nowMs,
      except: NO_FAILURES,
    },
    everybodys: EVERYBODYS,
  };
}

/**
 * What a step works with, of the rows that were read for it. A run whose strategy's file is gone goes on under the last
 * edition that was loaded.
 */
export function evidenceOf(
  context: EngineContext,
  run: Run,
  { rows, nowMs }: { rows: StepRows; nowMs: number },
): Evidence {
  const { settings } = context;
  const spec = strategyOf(context, run.strategyId)?.spec ?? rows.spec;
  const { retryForSeconds: forSeconds } = spec;
  const about = { ...rows, spec, wallet: spec.wallet.address };
  const barred = signingBarred(context, run.strategyId, about);
  const mayRevoke = barred !== undefined && signingBarred(context, run.strategyId, about, revokingModeOf) === undefined;
  return {
    nowMs,
    spec,
    memory: parseStoredMemory(rows.memory),
    ...lastingOf(context, spec),
    signingBarred: barred,
    ...(mayRevoke && { mayRevoke }),
    tradingBarred: tradingBarred(rows),
    ledger: rows.ledger,
    ...(run.swaps.length > 1 && { turnEndsMs: triedUntil(spec.schedule, { nowMs, forSeconds }, context.deps.zones) }),
    ...(rows.holds.length === 0 ? {} : { holds: rows.holds }),
    ...(settings.fallback === undefined ? {} : { fallback: { slippage: settings.fallback.slippage } }),
  };
}

/** What stays the same from step to step of a strategy. */
type Lasting = Pick<Evidence, "policy" | "policyMark" | "ours" | "live" | "service" | "chain" | "pace">;

const lasting = new WeakMap<EngineContext, WeakMap<StrategySpec, Lasting>>();

/** The same objects as long as they say the same: hundreds of wallets are not listed and written out with every step. */
function lastingOf(context: EngineContext, spec: StrategySpec): Lasting {
  const { settings, deps } = context;
  const ofStrategies = lasting.get(context) ?? new WeakMap<StrategySpec, Lasting>();
  lasting.set(context, ofStrategies);
  const gasReserve = gasReserveOf(context, spec);
  const known = ofStrategies.get(spec);
  if (known?.policy.gasReserve === gasReserve) return known;
  const made: Lasting = {
    policy: { ...settings.policy, gasReserve },
    policyMark: policyMark(settings.policy),
    ours: [...deps.signers.keys()],
    live: settings.live,
    service: serviceEvidence(context),
    chain: {
      chainId: settings.chainId,
      wrappedNative: settings.wrappedNative,
      nativeSymbol: settings.native.symbol,
      confirmations: settings.confirmations,
    },
    pace: settings.pace,
  };
  ofStrategies.set(spec, made);
  return made;
}

/** Reads the rows and makes the evidence of them, where nothing is written: the run need not be among them. */
export async function gatherEvidence(context: EngineContext, run: Run, event: RunEvent): Promise<Evidence> {
  const { store, clock } = context.deps;
  const nowMs = clock.nowMs();
  const rows = await store.read({ kind: "dry-run-step", run, event, of: stepQuestion(context, nowMs) });
  return evidenceOf(context, run, { rows, nowMs });
}

const BARRED_RUN = "another database, whose acts were accepted, may have traded it";

/** Why a run makes no new trade, undefined when it may. */
export function tradingBarred({ isBarred }: Pick<StepRows, "isBarred">): string | undefined {
  return isBarred ? BARRED_RUN : undefined;
}

/** Why proceeds that a swap sells are not there, by the rows of this instant: a reorganisation may just have been seen. */
export function proceedsGone({ run }: Pick<SigningRows, "run">, swap: Swap): string | undefined {
  return run === undefined ? "its run has no row" : proceedsBarred(run, swap);
}

/**
 * Why nothing may be signed for a strategy with its wallet now, undefined when signing is allowed.
 * @param modeFor the mode that counts for what would be signed
 */
export function signingBarred(
  { settings: { live, chainId }, deps }: EngineContext,
  strategyId: string,
  { wallet, ...rows }: ModeRows & Pick<StepRows, "halts"> & { readonly wallet: Address },
  modeFor: typeof modeOf = modeOf,
): string | undefined {
  if (!live) return "the mode is dry-run";
  if (!deps.signers.has(wallet)) return `the configuration names no wallet ${wallet} any more`;
  const halt = rows.halts.find((one) => one.account === wallet && one.chainId === chainId);
  if (halt !== undefined) return `the account ${halt.account} is halted: ${halt.reason}`;
  const mode = modeFor(strategyId, rows);
  return mode.mode === "halted" ? `halted by ${mode.setBy}: ${mode.reason}` : undefined;
}

function serviceEvidence({ settings, deps }: EngineContext): Evidence["service"] {
  const { signatureHasNonce, targetKeepsNothing } = deps.service.profile;
  return {
    contracts: settings.contracts,
    ...(settings.furtherContracts === undefined ? {} : { furtherContracts: settings.furtherContracts }),
    signatureHasNonce,
    ...(targetKeepsNothing === undefined ? {} : { targetKeepsNothing }),
  };
}
