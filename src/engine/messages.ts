import { describeAmount, describeDollars, describeRate } from "../domain/money/for-people.ts";
import { valueDown } from "../domain/money/price.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import type { StepResult } from "../domain/run/draft.ts";
import type { PriceEvidence } from "../domain/run/records.ts";
import { type Run, type Swap, swapOf } from "../domain/run/run.ts";
import type { RunState, SwapState } from "../domain/run/states.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import type { AlertRow } from "../ports/alert-store.ts";
import type { Change } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import { type EngineContext, type EngineSettings, isOnChain, modeName } from "./engine-context.ts";

/**
 * The messages of a step: one for each fill, and in a dry run for each swap that passed. A reorganisation may confirm the
 * same fill again: its message has the same id then, and is written once.
 * @param prices what the step's swap was cleared by
 */
export function fillMessages(
  context: EngineContext,
  result: StepResult,
  prices: PriceEvidence | undefined,
): readonly Change[] {
  const { settings } = context;
  if (!settings.notifications.fills) return [];
  const changes: Change[] = [];
  for (const { subject, subjectId, from, to, reason } of result.transitions) {
    if (subject !== "swap") continue;
    const swap = swapOf(result.run, subjectId);
    const message = messageOf(context, result.run, {
      swap,
      isNewFill: isFilledState(to) && !isFilledState(from),
      reason,
      prices,
    });
    if (message !== undefined)
      changes.push(messageChange(context, { ...message, subject: SUBJECT.swap(swap.id), run: result.run }));
  }
  return changes;
}

function isFilledState(state: RunState | SwapState | undefined): boolean {
  return state === "confirmed" || state === "final";
}

function messageOf(
  context: EngineContext,
  run: Run,
  {
    swap,
    isNewFill,
    reason,
    prices,
  }: { swap: Swap; isNewFill: boolean; reason: string | undefined; prices: PriceEvidence | undefined },
): Pick<AlertRow, "id" | "code" | "text"> | undefined {
  if (isNewFill) return { id: fillId(swap), code: "FILLED", text: fillText(context, run, { swap, prices }) };
  if (reason !== "dry_run") return undefined;
  return { id: `dry_${swap.id}`, code: "WOULD_FILL", text: dryText(context.settings, run, swap) };
}

/** What tells a message of no money from one of money. */
export const PREFIX = { "dry-run": "dry run: ", paper: "paper: ", live: "" } as const;

/** The message of a start, in the commit that records it. */
export function startMessage(
  context: EngineContext,
  { mode: global, lastAliveMs: lastMs }: Answered<"start">,
): readonly Change[] {
  const { settings, deps } = context;
  if (!settings.notifications.starts) return [];
  const { network, strategies } = settings;
  const mode = global?.mode ?? "active";
  const nowMs = deps.clock.nowMs();
  const parts = [
    `${PREFIX[modeName(settings)]}swapd started on ${network}${isOnChain(settings) ? ", live" : " and signs nothing"}`,
    `mode ${mode}`,
    strategies.length === 1 ? "1 strategy" : `${strategies.length} strategies`,
    ...(lastMs === undefined
      ? ["for the first time with this database"]
      : [`last at work ${new Date(lastMs).toISOString()}, ${formatDuration(Math.max(0, nowMs - lastMs))} before`]),
  ];
  const message = { id: deps.ids.newId("start"), code: "STARTED", text: parts.join(", ") };
  return [messageChange(context, { ...message, subject: "swapd", run: undefined })];
}

/** A message as it is to be written down. */
export function messageChange(
  { deps }: EngineContext,
  { run, ...said }: Pick<AlertRow, "id" | "code" | "subject" | "text"> & { readonly run: Run | undefined },
): Change {
  const of = { strategy: run?.strategyId, runId: run?.id, atMs: deps.clock.nowMs() };
  return { kind: "message", message: { ...said, severity: "info", ...of } };
}

/** The same fill has the same id; another one of the swap, after a reorganisation, is reported by itself. */
function fillId({ id, fill }: Swap): string {
  return `fill_${id}_${fill?.sold ?? 0n}_${fill?.bought ?? 0n}`;
}

function fillText(
  { settings }: EngineContext,
  run: Run,
  { swap, prices }: { readonly swap: Swap; readonly prices: PriceEvidence | undefined },
): string {
  const { fill, sell, buy } = swap;
  if (fill === undefined) throw new Error(`swap ${swap.id} is confirmed without a fill`);
  const rate = describeRate({ raw: fill.sold, token: sell }, { raw: fill.bought, token: buy });
  const parts = [
    `${PREFIX[modeName(settings)]}${run.strategyId} sold ${describeAmount(fill.sold, sell)}, bought ${describeAmount(fill.bought, buy)} on ${settings.network}`,
    ...(rate === undefined ? [] : [rate]),
    costText(swap, settings, prices),
    settings.onPaper === true ? `judged at block ${fill.blockNumber}` : `transaction ${fill.hash}`,
    `run ${run.id}`,
  ];
  return parts.join(", ");
}

/** Who pays for the gas, and how much it was: in dollars too where the coin had a price when the swap was signed. */
function costText(
  { mode, fill, terms, sell }: Swap,
  { native }: EngineSettings,
  prices: PriceEvidence | undefined,
): string {
  if (mode === "gasless") {
    const fee = terms?.swapFee ?? 0n;
    return `gasless, fee ${describeAmount(fee, sell)}${inDollars(fee, sell, prices?.sold?.usd)}`;
  }
  const gas = fill?.gasCost ?? 0n;
  return `self-executed, gas ${describeAmount(gas, native)}${inDollars(gas, native, prices?.native?.usd)}`;
}

function inDollars(
  raw: bigint,
  { decimals }: { readonly decimals: number },
  usd: NonNullable<PriceEvidence["native"]>["usd"] | undefined,
): string {
  return usd === undefined ? "" : ` (${describeDollars(valueDown({ raw, decimals }, usd))})`;
}

function dryText({ network }: EngineSettings, run: Run, swap: Swap): string {
  const { sell, buy, gross, quote, mode } = swap;
  const [sold, bought] = [gross ?? 0n, quote?.amountOut ?? 0n];
  const rate = describeRate({ raw: sold, token: sell }, { raw: bought, token: buy });
  const parts = [
    `dry run: ${run.strategyId} would sell ${describeAmount(sold, sell)} for ${describeAmount(bought, buy)} on ${network}`,
    ...(rate === undefined ? [] : [rate]),
    mode ?? "mode unknown",
    "every check passed and nothing was signed",
    `run ${run.id}`,
  ];
  return parts.join(", ");
}
