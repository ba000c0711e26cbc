import type { Channel } from "../adapters/notify/channel-kind.ts";
import { channelKindOf } from "../adapters/notify/channels.ts";
import { createPost, type Delivery } from "../adapters/notify/post.ts";
import type { ChannelConfiguration, Configuration } from "../config/configuration.ts";
import type { ChannelOption } from "../domain/run/alert-channel.ts";
import type { Redactor } from "../net/redact.ts";
import { Secret } from "../net/secret.ts";
import type { WaitingDelivery } from "../ports/alert-store.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { hidden } from "./hide.ts";
import type { Machine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** A configured channel, open for sending. */
export interface OpenedChannel extends ChannelConfiguration {
  /** whom it asks: all of its address that may be shown */
  readonly host: string;
  /** codes that it sends nothing of */
  readonly codesOff: readonly string[];
  /** Sends it once. */
  deliver(
    waiting: Pick<WaitingDelivery, "number" | "alert" | "tells" | "overAtMs">,
    at: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<Delivery>;
}

/** What nobody sees and what turns a text around: names of tokens are others' words. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

interface Around {
  readonly secrets: SecretOpener;
  readonly redactor: Redactor;
  readonly machine?: Pick<Machine, "fetch">;
}

/**
 * The channels that a configuration names.
 * @throws CommandFailure 78 when a secret of one cannot be what it is for; it is not shown
 */
export function openChannels(configuration: Configuration, around: Around): readonly OpenedChannel[] {
  const { channels, network, timing, notifications } = configuration;
  const { redactor, machine } = around;
  return channels.map((configured) => {
    const { host, send } = openChannel(configured, around);
    const events = { ...notifications.events, ...configured.events };
    const isSilent = (code: string): boolean => events[code] === "silent";
    return {
      ...configured,
      ...{ host, codesOff: Object.keys(events).filter((code) => events[code] === "off") },
      deliver: async (waiting, { nowMs, signal }) => {
        const post = createPost({ timeoutMs: timing.requestTimeoutMs, nowMs, signal, fetch: machine?.fetch });
        const message = messageOf(waiting, network.name, redactor);
        const shown = hidden(message, configured.hides, waiting.number);
        const told = { ...message, ...shown, isSilent: isSilent(message.code) };
        return await send(told, { nowMs, post, signal });
      },
    };
  });
}

function openChannel(configured: ChannelConfiguration, around: Around): Channel {
  const { kind, options } = configured;
  const known = channelKindOf(kind);
  const pasted = openPasted(configured, around);
  const values = Object.entries(known.options).map(([name, option]) => {
    const value = pasted === undefined ? options[name] : (pasted[name] ?? options[name]);
    const opened = typeof value === "object" && !(value instanceof Secret) ? around.secrets.open(value) : value;
    const isPasted = pasted !== undefined && known.pasted?.holds.includes(name) === true;
    checkValue(
      opened,
      option,
      isPasted ? `the ${name} in what ${configured.path}.url` : `what ${configured.path}.${name}`,
    );
    return [name, opened] as const;
  });
  return known.open(Object.fromEntries(values));
}

/** @throws CommandFailure 78 when it is nothing that it could be; it is not shown */
function checkValue(value: Secret | string | undefined, { problem, isOptional }: ChannelOption, place: string): void {
  if (value === undefined && isOptional) return;
  const wrong = value === undefined ? "is missing" : problem(typeof value === "string" ? value : value.reveal());
  if (wrong !== undefined) throw new CommandFailure(EXIT.configuration, `${place} refers to ${wrong}`);
}

/** The options that stand in one URL, which is a secret; undefined where there is no such URL. */
function openPasted(
  { kind, options, path }: ChannelConfiguration,
  { secrets, redactor }: Around,
): Readonly<Record<string, Secret | string | undefined>> | undefined {
  const known = channelKindOf(kind);
  if (known.pasted === undefined || typeof options.url !== "object") return undefined;
  const found = known.pasted.read(secrets.open(options.url).reveal());
  if (found === undefined) {
    const message = `what ${path}.url refers to is not of the form ${known.pasted.form}`;
    throw new CommandFailure(EXIT.configuration, message);
  }
  const values = known.pasted.holds.map((name) => {
    const value = found[name];
    if (value === undefined || known.options[name]?.isSecret !== true) return [name, value] as const;
    redactor.add(value);
    return [name, new Secret(value)] as const;
  });
  return Object.fromEntries(values);
}

function messageOf(
  { alert, tells, overAtMs }: Pick<WaitingDelivery, "alert" | "tells" | "overAtMs">,
  network: string,
  { redact }: Redactor,
) {
  const text = redact(alert.text).replaceAll(UNSEEN, "\u{fffd}");
  const message = { ...alert, text, network, ends: undefined };
  if (tells === "begin") return { ...message, text: `${endedMeanwhile(alert, overAtMs)}${text}` };
  const over = { id: `${alert.id}.end`, ends: alert.id, severity: "info", text: `over: ${message.text}` } as const;
  return { ...message, ...over, atMs: overAtMs ?? alert.atMs };
}

/** What was true when it was raised, and is not any more when it is sent; what happened is over at once, and always true. */
function endedMeanwhile({ atMs }: Pick<WaitingDelivery["alert"], "atMs">, overAtMs: number | undefined): string {
  return overAtMs === undefined || overAtMs === atMs ? "" : `(over since ${new Date(overAtMs).toISOString()}) `;
}
