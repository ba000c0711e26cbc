import type { Channel } from "../adapters/notify/channel-kind.ts";
import { channelKindOf } from "../adapters/notify/channels.ts";
import { createPost, type Delivery } from "../adapters/notify/post.ts";
import type { ChannelConfiguration, Configuration } from "../config/configuration.ts";
import type { Redactor } from "../net/redact.ts";
import type { Secret } from "../net/secret.ts";
import type { WaitingDelivery } from "../ports/alert-store.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import type { Machine } from "./machine.ts";
import type { SecretOpener } from "./open-secrets.ts";

/** A configured channel, open for sending. */
export interface OpenedChannel extends ChannelConfiguration {
  /** whom it asks: all of its address that may be shown */
  readonly host: string;
  /** Sends it once. */
  deliver(
    waiting: Pick<WaitingDelivery, "alert" | "tells" | "overAtMs">,
    at: { readonly nowMs: number; readonly signal: AbortSignal },
  ): Promise<Delivery>;
}

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
  const { channels, network, timing } = configuration;
  const { redactor, machine } = around;
  return channels.map((configured) => {
    const { host, send } = openChannel(configured, around.secrets);
    return {
      ...configured,
      host,
      deliver: async (waiting, { nowMs, signal }) => {
        const post = createPost({ timeoutMs: timing.requestTimeoutMs, nowMs, signal, fetch: machine?.fetch });
        return await send(messageOf(waiting, network.name, redactor), { nowMs, post, signal });
      },
    };
  });
}

function openChannel({ kind, options, path }: ChannelConfiguration, secrets: SecretOpener): Channel {
  const known = channelKindOf(kind);
  const values: Record<string, Secret | string | undefined> = {};
  for (const [name, { problem }] of Object.entries(known.options)) {
    const value = options[name];
    if (value === undefined || typeof value === "string") {
      values[name] = value;
      continue;
    }
    const secret = secrets.open(value);
    const wrong = problem(secret.reveal());
    if (wrong !== undefined) throw new CommandFailure(EXIT.configuration, `what ${path}.${name} refers to ${wrong}`);
    values[name] = secret;
  }
  return known.open(values);
}

function messageOf(
  { alert, tells, overAtMs }: Pick<WaitingDelivery, "alert" | "tells" | "overAtMs">,
  network: string,
  { redact }: Redactor,
) {
  const message = { ...alert, text: redact(alert.text), network, ends: undefined };
  if (tells === "begin") return message;
  const over = { id: `${alert.id}.end`, ends: alert.id, severity: "info", text: `over: ${message.text}` } as const;
  return { ...message, ...over, atMs: overAtMs ?? alert.atMs };
}
