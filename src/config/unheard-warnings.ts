import type { WeekWindow, ZoneOffsets } from "../domain/schedule/schedule.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import type { ChannelConfiguration, Configuration } from "./configuration.ts";
import type { Problem } from "./problem.ts";
import { quietLeftAtSlot } from "./quiet-slots.ts";
import { problemOf } from "./source.ts";
import { sourceOf } from "./strategy-warnings.ts";

/** What a strategy asks people for: by which alert, under which key, for how many seconds, and how it ends unheard. */
const ASKS = [
  {
    ...{ key: "approve_above", code: "APPROVAL_NEEDED", end: "not_approved", longer: "approve_within" },
    waitSeconds: ({ approveAboveUsd, approveWithinSeconds }: StrategySpec) =>
      approveAboveUsd === undefined ? undefined : approveWithinSeconds,
  },
  {
    ...{ key: "announce", code: "SWAP_ANNOUNCED", end: "not_announced", longer: "retry_for" },
    waitSeconds: ({ announceSeconds, retryForSeconds }: StrategySpec) =>
      announceSeconds === undefined ? undefined : announceSeconds + retryForSeconds,
  },
] as const;

type Ask = (typeof ASKS)[number];
type Asked = Pick<Configuration, "strategies" | "channels" | "notifications">;

/**
 * Strategies that ask or tell people something before they trade, where no channel would bring it to anybody, or each of
 * them only when it is over.
 * @param zones absent: nothing is said of quiet hours
 */
export function unheardWarnings(configuration: Asked, zones?: ZoneOffsets): readonly Problem[] {
  return ASKS.flatMap((ask) => {
    const senders = configuration.channels.filter((channel) => isSent(ask.code, channel, configuration));
    if (senders.length > 0) return zones === undefined ? [] : quietWarnings(ask, senders, configuration, zones);
    const asking = configuration.strategies.filter(({ spec }) => ask.waitSeconds(spec) !== undefined);
    const others = asking.length > 1 ? ` (and ${asking.length - 1} more)` : "";
    return warningAt(ask, asking[0]?.spec, configuration, (id) => ({
      message: `no channel of alerts sends ${ask.code}, a warning: nobody hears of what ${id}${others} asks or announces`,
      suggestion: "name a channel under `alerts`",
    }));
  });
}

function isSent(code: string, { severities, events }: ChannelConfiguration, { notifications }: Asked): boolean {
  return severities.includes("warning") && { ...notifications.events, ...events }[code] !== "off";
}

function warningAt(
  { key }: Ask,
  spec: StrategySpec | undefined,
  { strategies }: Asked,
  say: (id: string) => { readonly message: string; readonly suggestion: string },
): readonly Problem[] {
  const source = spec === undefined ? undefined : sourceOf(spec.id, strategies);
  if (spec === undefined || source === undefined) return [];
  return [problemOf(source, { path: ["execution", key], ...say(spec.id) })];
}

/** What none of the channels sends before it is over, because all of them are quiet for that long from a slot on. */
function quietWarnings(
  ask: Ask,
  senders: readonly ChannelConfiguration[],
  configuration: Asked,
  zones: ZoneOffsets,
): readonly Problem[] {
  const quiet = senders.flatMap(({ name, quiet: hours }) => (hours === undefined ? [] : [{ name, hours }]));
  if (quiet.length < senders.length) return [];
  const { timezone } = configuration.notifications.digest;
  const hours = quiet.map((channel) => channel.hours);
  for (const { spec } of configuration.strategies) {
    const waitMs = (ask.waitSeconds(spec) ?? Number.POSITIVE_INFINITY) * 1_000;
    const leftMs = quietLeftAtSlot(spec.schedule, { hours, timezone }, waitMs, zones);
    if (leftMs === undefined) continue;
    const names = quiet.map((channel) => `${channel.name} ${describeHours(channel.hours)}`).join(", ");
    const [left, wait] = [formatDuration(leftMs), formatDuration(waitMs)];
    return warningAt(ask, spec, configuration, (id) => ({
      message: `slots of ${id} fall into the quiet hours of each channel that sends ${ask.code} (${names}), some ${left} before they are over: what none of them sends within ${wait} ends as ${ask.end}`,
      suggestion: `use a longer \`${ask.longer}\`, slots outside of these hours, or a channel without \`quiet\``,
    }));
  }
  return [];
}

function describeHours({ fromMinute, untilMinute }: WeekWindow): string {
  const pad = (value: number): string => String(value).padStart(2, "0");
  return [fromMinute, untilMinute].map((minute) => `${pad(Math.floor(minute / 60))}:${pad(minute % 60)}`).join("-");
}
