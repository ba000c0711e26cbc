import { z } from "zod";
import type { ChannelBook, ChannelOptions } from "../domain/run/alert-channel.ts";
import { checkShape, valueHint } from "./check-shape.ts";
import { at, atKey, each, type Found, type Part, type Path, refuse, within } from "./complaint.ts";
import type { ChannelConfiguration } from "./configuration.ts";
import { CONFIG_BOUNDS } from "./defaults.ts";
import { type SecretReference, secretReference, text } from "./fields.ts";
import { absoluteReference } from "./references.ts";
import { channelTerms, type MainFile } from "./schemas/main-schema.ts";
import type { Source } from "./source.ts";

type Fields = MainFile["alerts"];

/** The channel that `alerts.webhook` is, by its name and its kind. */
const WEBHOOK = "webhook";

/** The schema of a channel of one kind. */
export function channelSchema(kind: string, options: ChannelOptions) {
  const fields = Object.entries(options).map(([name, { isSecret, isOptional, description, example = "" }]) => {
    const field: z.ZodType = isSecret ? secretReference(description) : text(description, example);
    return [name, isOptional ? field.optional() : field] as const;
  });
  return z.strictObject({ kind: z.literal(kind), ...channelTerms, ...Object.fromEntries(fields) });
}

/** The channels that alerts are sent to: the webhook, and those by name. */
export function* buildChannels(
  source: Source,
  { webhook, channels }: Pick<Fields, "webhook" | "channels">,
  book: ChannelBook,
): Found<readonly ChannelConfiguration[]> {
  const plain = webhook === undefined ? [] : [webhookChannel(source, webhook)];
  if (webhook !== undefined && channels[WEBHOOK] !== undefined)
    yield atKey`alerts.channels.${WEBHOOK}: alerts.webhook has this name already -> give the channel another name`;
  const named = yield* each(Object.entries(channels), (entry) => buildChannel(source, entry, book));
  const all = [...plain, ...named];
  const most = CONFIG_BOUNDS.maxChannels;
  if (all.length > most) yield at`alerts.channels: there are ${all.length}, and at most ${most} channels are allowed`;
  return all;
}

function webhookChannel(source: Source, { url, secret, minimum, ends }: NonNullable<Fields["webhook"]>) {
  const options = { url: absoluteReference(source, url), secret: absoluteReference(source, secret) };
  return { name: WEBHOOK, kind: WEBHOOK, path: "alerts.webhook", minimum, sendsEnds: ends, options };
}

function* buildChannel(
  source: Source,
  [name, fields]: readonly [string, Fields["channels"][string]],
  book: ChannelBook,
): Part<ChannelConfiguration> {
  const path = ["alerts", "channels", name];
  const { kind } = fields;
  const options = book.get(kind);
  if (options === undefined)
    return yield* refuse`${[...path, "kind"]}: is none of the values known here -> ${valueHint(kind, [...book.keys()])}`;
  const { whole } = yield* within(path, checkShape(channelSchema(kind, options), fields));
  if (whole === undefined) return undefined;
  const { minimum, ends } = whole;
  const given = yield* readOptions(source, path, { options, values: whole });
  return { name, kind, path: path.join("."), minimum, sendsEnds: ends, options: given };
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
