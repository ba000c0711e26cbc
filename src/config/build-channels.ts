import { z } from "zod";
import { SEVERITIES } from "../domain/run/alert.ts";
import type { ChannelBook, ChannelForm, ChannelOptions } from "../domain/run/alert-channel.ts";
import { isKnownCode, KNOWN_CODES } from "../domain/run/alert-codes.ts";
import { parseWindow } from "../domain/schedule/parse-window.ts";
import type { WeekWindow } from "../domain/schedule/schedule.ts";
import { checkShape, valueHint } from "./check-shape.ts";
import { closest } from "./closest.ts";
import { at, atKey, each, type Found, type Part, type Path, refuse, within } from "./complaint.ts";
import type { ChannelConfiguration, Configuration } from "./configuration.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import { type SecretReference, secretReference, text } from "./fields.ts";
import { absoluteReference } from "./references.ts";
import { channelTerms } from "./schemas/alerts-schema.ts";
import type { MainFile } from "./schemas/main-schema.ts";
import type { Source } from "./source.ts";
import { describeTimeZone, isTimeZone } from "./strategy/time-zones.ts";

type Fields = MainFile["alerts"];

/** The channel that `alerts.webhook` is, by its name and its kind. */
const WEBHOOK = "webhook";

/** The schema of a channel of one kind: of what its URL may hold nothing is needed. */
export function channelSchema(kind: string, { options, pasted }: ChannelForm) {
  const fields = Object.entries(options).map(([name, { isSecret, isOptional, description, example = "" }]) => {
    const field: z.ZodType = isSecret ? secretReference(description) : text(description, example);
    return [name, isOptional || pasted?.holds.includes(name) === true ? field.optional() : field] as const;
  });
  const url = pasted && secretReference(`in the place of ${list(pasted.holds)}: ${pasted.form}`).optional();
  const own = { ...Object.fromEntries(fields), ...(url === undefined ? {} : { url }) };
  return z.strictObject({ kind: z.literal(kind), ...channelTerms, ...own });
}

function list(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** The channels that alerts are sent to: the webhook, and those by name. */
export function* buildChannels(
  source: Source,
  fields: Fields,
  book: ChannelBook,
): Found<readonly ChannelConfiguration[]> {
  const { webhook, channels } = fields;
  yield* checkTerms(fields);
  const hook = webhook && (yield* webhookChannel(source, webhook));
  const plain = hook === undefined ? [] : [hook];
  if (webhook !== undefined && channels[WEBHOOK] !== undefined)
    yield atKey`alerts.channels.${WEBHOOK}: alerts.webhook has this name already -> give the channel another name`;
  const named = yield* each(Object.entries(channels), (entry) => buildChannel(source, entry, book));
  const all = [...plain, ...named];
  const most = CONFIG_BOUNDS.maxChannels;
  if (all.length > most) yield at`alerts.channels: there are ${all.length}, and at most ${most} channels are allowed`;
  return all;
}

/** What is of all channels: a zone, and codes that are there. */
function* checkTerms({ timezone, events }: Fields): Found<undefined> {
  if (timezone !== undefined && !isTimeZone(timezone)) {
    const { message, suggestion } = describeTimeZone(timezone);
    yield at`alerts.timezone: ${message} -> ${suggestion}`;
  }
  yield* checkCodes(["alerts", "events"], events);
}

function* checkCodes(path: Path, events: Fields["events"]): Found<undefined> {
  for (const code of Object.keys(events).filter((name) => !isKnownCode(name)))
    yield atKey`${[...path, code]}: nothing is reported under this code -> ${codeMeant(code)}`;
}

function codeMeant(code: string): string {
  const meant = closest(code, KNOWN_CODES);
  return meant === undefined ? "docs/OPERATIONS.md lists the codes" : `did you mean "${meant}"?`;
}

function* webhookChannel(source: Source, fields: NonNullable<Fields["webhook"]>): Found<ChannelConfiguration> {
  const { url, secret } = fields;
  const options = { url: absoluteReference(source, url), secret: absoluteReference(source, secret) };
  const path = ["alerts", WEBHOOK];
  return { name: WEBHOOK, kind: WEBHOOK, path: path.join("."), ...(yield* readTerms(path, fields)), options };
}

type Terms = Pick<NonNullable<Fields["webhook"]>, keyof typeof channelTerms>;

function* readTerms(path: Path, { minimum, severities, events, ends, messages, quiet, hide }: Terms) {
  yield* checkCodes([...path, "events"], events);
  if (minimum !== undefined && severities !== undefined)
    yield atKey`${[...path, "severities"]}: \`minimum\` stands beside it, and says something else -> leave out one of them`;
  if (severities?.length === 0 && !messages)
    yield at`${[...path, "severities"]}: with \`messages: false\` nothing would be sent -> name a severity, or leave the channel out`;
  const least = SEVERITIES.indexOf(minimum ?? "warning");
  return {
    ...{ severities: severities ?? SEVERITIES.slice(least), events, sendsEnds: ends, sendsMessages: messages },
    hides: hide,
    quiet: quiet === undefined ? undefined : yield* readQuiet([...path, "quiet"], quiet),
  };
}

/** What waits longer than a day would be given up. */
const LONGEST_QUIET_MINUTES = 16 * 60;

function* readQuiet(path: Path, written: string): Part<WeekWindow> {
  const window = parseWindow(written);
  if ("problem" in window) return yield* refuse`${path}: ${window.problem}`;
  const { fromMinute, untilMinute } = window;
  const minutes = untilMinute > fromMinute ? untilMinute - fromMinute : untilMinute + 24 * 60 - fromMinute;
  if (window.days.length === 7 && minutes <= LONGEST_QUIET_MINUTES) return window;
  return yield* refuse`${path}: is more than hours of each day -> write at most 16 hours without days, for example "22:00-07:00"`;
}

function* buildChannel(
  source: Source,
  [name, fields]: readonly [string, Fields["channels"][string]],
  book: ChannelBook,
): Part<ChannelConfiguration> {
  const path = ["alerts", "channels", name];
  const { kind } = fields;
  const form = book.get(kind);
  if (form === undefined)
    return yield* refuse`${[...path, "kind"]}: is none of the values known here -> ${valueHint(kind, [...book.keys()])}`;
  const schema = channelSchema(kind, form);
  const { whole } = yield* within(path, checkShape(schema, fields));
  if (whole === undefined) return undefined;
  const given = yield* readOptions(source, path, { options: form.options, values: whole });
  // A mistyped key is one mistake: that the right one is missing is not reported as well.
  if (Object.keys(fields).every((key) => key in schema.shape)) yield* checkPasted(path, form, fields);
  if (whole.url !== undefined && form.pasted !== undefined)
    given.url = absoluteReference(source, whole.url as SecretReference);
  return { name, kind, path: path.join("."), ...(yield* readTerms(path, whole)), options: given };
}

/** Secrets are opened at the start, and not before; texts are checked here. */
function* readOptions(
  source: Source,
  path: Path,
  { options, values }: { readonly options: ChannelOptions; readonly values: Readonly<Record<string, unknown>> },
): Found<Record<string, SecretReference | string>> {
  const given: Record<string, SecretReference | string> = {};
  for (const [name, { problem }] of Object.entries(options)) {
    const value = values[name] as SecretReference | string | undefined;
    if (value === undefined) continue;
    given[name] = typeof value === "string" ? value : absoluteReference(source, value);
    const wrong = typeof value === "string" ? problem(value) : undefined;
    if (wrong !== undefined) yield at`${[...path, name]}: ${wrong}`;
  }
  return given;
}

/**
 * What the URL may hold is either in it or beside it: two words for one thing would be a guess.
 * @param values as they were written: one that is wrong is not missing
 */
function* checkPasted(
  path: Path,
  { options, pasted }: ChannelForm,
  values: Readonly<Record<string, unknown>>,
): Found<undefined> {
  if (pasted === undefined) return;
  for (const name of pasted.holds) {
    if (values.url !== undefined && values[name] !== undefined)
      yield atKey`${[...path, name]}: \`url\` stands in its place already -> leave out one of them`;
    if (values.url === undefined && values[name] === undefined && options[name]?.isOptional === false)
      yield at`${[...path, name]}: the key "${name}" is missing -> write it, or \`url: { env: NAME }\` with ${list(pasted.holds)} in one`;
  }
}

/** What people are notified of besides alerts, where a sign of life goes, and who is listened to by chat. */
export function buildNotifications(
  source: Source,
  { fills, starts, sameEnds, events, digest, timezone = "UTC", heartbeat, commands }: Fields,
): Pick<Configuration, "notifications" | "heartbeat" | "chat"> {
  const telegram = commands?.telegram;
  return {
    notifications: { fills, starts, sameEnds, events, digest: { periods: digest, timezone } },
    heartbeat: heartbeat && { url: absoluteReference(source, heartbeat.url), everyMs: heartbeat.every },
    chat: telegram && { ...telegram, token: absoluteReference(source, telegram.token) },
  };
}
