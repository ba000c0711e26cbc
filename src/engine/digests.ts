import { describeAmount } from "../domain/money/for-people.ts";
import type { Token } from "../domain/money/token.ts";
import { type CalendarPeriod, calendarPeriod } from "../domain/schedule/calendar-period.ts";
import { wallAt } from "../domain/schedule/wall-clock.ts";
import type { Decided } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import type { Counted } from "../ports/watch-questions.ts";
import { commitAndNotify, writeAndNotify } from "./alerts.ts";
import { type EngineContext, modeName } from "./engine-context.ts";
import { messageChange, PREFIX } from "./messages.ts";

/** A digest is written within so long after its period is over. */
const LOOK_EVERY_MS = 10_000;

/** A digest is one message, which holds so many pairs, reasons and alerts by name. */
const MOST_LISTED = 8;

/** What shows whether this machine's clock can be believed. */
interface Clocks {
  problem(): string | undefined;
}

/**
 * Writes a digest when a day or a week of the zone's calendar is over, until the engine stops: after a time in which
 * nobody was at work one for all of it. A digest and how far it came are one commit, so that none is written twice, and
 * what happened is in exactly one of each period. Of a time in which nobody asked for them there is none: by its end part
 * of what it would be made of is archived.
 */
export async function keepWritingDigests(context: EngineContext, signal: AbortSignal, clocks: Clocks): Promise<void> {
  const { digest } = context.settings.notifications;
  const periods = digest?.periods ?? [];
  await writeAndNotify(context.deps, [{ kind: "digests-kept", periods }]);
  if (digest === undefined || periods.length === 0) return;
  const notBefore = new Map<CalendarPeriod, number>();
  while (!signal.aborted) {
    for (const period of periods) {
      const now = context.deps.clock.nowMs();
      const span = calendarPeriod(period, { atMs: now, timezone: digest.timezone }, context.deps.zones);
      // By a clock that is wrong, a day would be over that is not.
      if (clocks.problem() !== undefined || notBefore.get(period) === span.sinceMs) continue;
      await writeDigest(context, { period, sinceMs: span.sinceMs, renewsMs: span.renewsMs });
      notBefore.set(period, span.sinceMs);
    }
    await context.deps.clock.sleep(LOOK_EVERY_MS, signal);
  }
}

type Rows = Answered<"digest">;

interface Span {
  readonly period: CalendarPeriod;
  readonly sinceMs: number;
  readonly renewsMs: number;
}

async function writeDigest(context: EngineContext, span: Span): Promise<void> {
  const { period, sinceMs: untilMs, renewsMs } = span;
  const nowMs = context.deps.clock.nowMs();
  const decide = (rows: Rows): Decided<undefined> => {
    const { last, next } = rows;
    const written = (mark: Rows["next"]) => ({ kind: "digest-written", period, mark: { ...mark, untilMs } }) as const;
    if (last === undefined) return { changes: [written(next)], atMs: nowMs, value: undefined };
    // A clock that ran ahead wrote it: what happened since then comes with the next one.
    if (last.untilMs > renewsMs) return { changes: [written(last)], atMs: nowMs, value: undefined };
    if (last.untilMs >= untilMs) return { changes: [], atMs: nowMs, value: undefined };
    const id = `digest_${period}_${dayOf(context, untilMs)}_${next.lastTransition}`;
    const message = { id, code: "DIGEST", subject: `digest of the ${period}`, text: digestText(context, span, rows) };
    return {
      changes: [messageChange(context, { ...message, run: undefined }), written(next)],
      atMs: nowMs,
      value: undefined,
    };
  };
  await commitAndNotify(context.deps, { question: { kind: "digest", period, nowMs }, decide });
}

function dayOf({ settings, deps }: EngineContext, atMs: number): string {
  const timezone = settings.notifications.digest?.timezone ?? "UTC";
  return new Date(wallAt(atMs, timezone, deps.zones)).toISOString().slice(0, 10);
}

function digestText(context: EngineContext, { period, sinceMs: untilMs }: Span, rows: Rows): string {
  const { settings } = context;
  const { last, head, warnings } = rows;
  const since = dayOf(context, last?.untilMs ?? untilMs);
  const timezone = settings.notifications.digest?.timezone ?? "UTC";
  const alerts = warnings.map(({ code, subject }) => `${code} (${subject})`);
  const parts = [
    `${PREFIX[modeName(settings)]}${period} from ${since} until ${dayOf(context, untilMs)} (${timezone}) on ${settings.network}`,
    ...fillParts(rows.fills),
    ...costParts(context, rows),
    skippedPart(rows),
    alerts.length === 0 ? "no alert is open" : `open alerts: ${listed(alerts)}`,
    ...(head === undefined ? [] : [`history of ${head.links} links, head ${head.head}`]),
  ];
  return parts.join("\n");
}

interface Sum {
  readonly name: string;
  readonly sell: Token;
  readonly buy: Token;
  fills: number;
  sold: bigint;
  bought: bigint;
}

function fillParts(fills: Rows["fills"]): readonly string[] {
  if (fills.length === 0) return ["no fill"];
  const sums = new Map<string, Sum>();
  for (const { strategyId: name, sell, buy, sold, bought } of fills) {
    const key = `${name} ${sell.address} ${buy.address}`;
    const sum = sums.get(key) ?? { name, sell, buy, fills: 0, sold: 0n, bought: 0n };
    sum.fills += 1;
    sum.sold += sold;
    sum.bought += bought;
    sums.set(key, sum);
  }
  const lines = [...sums.values()].map(
    ({ name, sell, buy, fills: count, sold, bought }) =>
      `${name} sold ${describeAmount(sold, sell)}, bought ${describeAmount(bought, buy)} (${count})`,
  );
  return [`${fills.length} ${fills.length === 1 ? "fill" : "fills"}: ${listed(lines, "; ")}`];
}

/** Fees of gasless fills, and the gas of every transaction, those that filled nothing too. */
function costParts({ settings: { native } }: EngineContext, { fills, gas }: Rows): readonly string[] {
  const fees = new Map<string, { token: Token; raw: bigint }>();
  for (const { sell, mode, swapFee } of fills) {
    if (mode !== "gasless") continue;
    const fee = fees.get(sell.address)?.raw ?? 0n;
    fees.set(sell.address, { token: sell, raw: fee + swapFee });
  }
  const costs = [...fees.values()].map(({ token, raw }) => `fees ${describeAmount(raw, token)}`);
  const { transactions, cost } = gas;
  const counted = transactions === 1 ? "1 transaction" : `${transactions} transactions`;
  if (transactions > 0) costs.push(`gas of ${counted} ${describeAmount(cost, native)}`);
  return costs.length === 0 ? [] : [listed(costs)];
}

function skippedPart({ ends, gaps }: Rows): string {
  const counts = new Map<string, number>();
  const all: readonly Counted[] = [...ends, ...gaps];
  for (const { reason, count } of all) counts.set(reason, (counts.get(reason) ?? 0) + count);
  const slots = all.reduce((sum, { count }) => sum + count, 0);
  if (slots === 0) return "no slot without a trade";
  const byCount = [...counts].sort(([, one], [, other]) => other - one);
  const reasons = byCount.map(([reason, count]) => `${count} ${reason}`);
  return `${slots} ${slots === 1 ? "slot" : "slots"} without a trade: ${listed(reasons)}`;
}

function listed(items: readonly string[], between = ", "): string {
  const more = items.length - MOST_LISTED;
  return [...items.slice(0, MOST_LISTED), ...(more > 0 ? [`and ${more} more`] : [])].join(between);
}
