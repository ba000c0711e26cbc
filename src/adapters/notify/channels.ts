import type { ChannelBook } from "../../domain/run/alert-channel.ts";
import type { ChannelKind } from "./channel-kind.ts";
import { apprise } from "./channels/apprise.ts";
import { discord } from "./channels/discord.ts";
import { email } from "./channels/email.ts";
import { matrix } from "./channels/matrix.ts";
import { ntfy } from "./channels/ntfy.ts";
import { pushover } from "./channels/pushover.ts";
import { slack } from "./channels/slack.ts";
import { telegram } from "./channels/telegram.ts";
import { webhook } from "./channels/webhook.ts";

/** Every kind of channel there is, by its name. A new one is a line here, and what docs/WRITING-A-CHANNEL.md says. */
const CHANNELS: Readonly<Record<string, ChannelKind>> = {
  webhook,
  ntfy,
  telegram,
  discord,
  slack,
  matrix,
  pushover,
  email,
  apprise,
};

/** What a configuration says of each of them. */
export const CHANNEL_BOOK: ChannelBook = new Map(
  Object.entries(CHANNELS).map(([name, { options, pasted }]) => [name, { options, pasted }]),
);

/** @throws Error when there is none of this name; a configuration that was loaded names one that is there */
export function channelKindOf(name: string): ChannelKind {
  const kind = Object.hasOwn(CHANNELS, name) ? CHANNELS[name] : undefined;
  if (kind === undefined) throw new Error(`there is no kind of channel ${JSON.stringify(name)}`);
  return kind;
}
