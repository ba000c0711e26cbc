import type { ChannelKind, ChannelMessage, Sending } from "../../src/adapters/notify/channel-kind.ts";
import { createPost, type Delivery } from "../../src/adapters/notify/post.ts";
import { Secret } from "../../src/net/secret.ts";
import { alertSample, NOW_MS } from "./builders.ts";

/** What a channel is to report: that an alert began. */
export function channelMessage(change: Partial<ChannelMessage> = {}): ChannelMessage {
  return { ...alertSample({ runId: "run_1" }), ends: undefined, isSilent: false, network: "base", ...change };
}

/** What a channel sends with, over HTTP. */
export function sendingOf({ nowMs = NOW_MS, timeoutMs = 2_000, signal = new AbortController().signal } = {}): Sending {
  return { nowMs, signal, post: createPost({ timeoutMs, signal, nowMs }) };
}

/** Sends one message by a channel of a kind. */
export async function sendBy(
  kind: ChannelKind,
  values: Readonly<Record<string, string>>,
  message: ChannelMessage = channelMessage(),
  sending: Sending = sendingOf(),
): Promise<Delivery> {
  return await openedBy(kind, values).send(message, sending);
}

/** A channel of a kind from plain values. */
export function openedBy(kind: ChannelKind, values: Readonly<Record<string, string>>) {
  const given = Object.entries(values).map(([name, value]) => {
    return [name, kind.options[name]?.isSecret === true ? new Secret(value) : value] as const;
  });
  return kind.open(Object.fromEntries(given));
}
