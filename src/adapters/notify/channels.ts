import type { ChannelBook } from "../../domain/run/alert-channel.ts";
import type { ChannelKind } from "./channel-kind.ts";
import { ntfy } from "./channels/ntfy.ts";
import { webhook } from "./channels/webhook.ts";

/** Every kind of channel there is, by its name. A new one is a line here, and what docs/WRITING-A-CHANNEL.md says. */
const CHANNELS: Readonly<Record<string, ChannelKind>> = {
  webhook,
  ntfy,
};

/** The options of each of them. */
export const CHANNEL_BOOK: ChannelBook = new Map(
  Object.entries(CHANNELS).map(([name, { options }]) => [name, options]),
);

/** @throws Error when there is none of this name; a configuration that was loaded names one that is there */
export function channelKindOf(name: string): ChannelKind {
  const kind = Object.hasOwn(CHANNELS, name) ? CHANNELS[name] : undefined;
  if (kind === undefined) throw new Error(`there is no kind of channel ${JSON.stringify(name)}`);
  return kind;
}
