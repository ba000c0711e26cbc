import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, secret, urlProblem } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const API = "https://discord.com/api/webhooks";
const PATH = /^\/api\/(?:v[0-9]+\/)?webhooks\/[0-9]{1,20}\/[A-Za-z0-9_-]{20,}$/;
const LONGEST_TEXT = 2_000;

/** Everything that formats a text, makes a link or mentions somebody. */
const MEANS_SOMETHING = /[\\`*_~|<>[\]()#@:+-]/g;

/** No picture of what a link leads to; no sound. */
const FLAGS = { noEmbeds: 4, noSound: 4_096 } as const;

/** `discord://ID/TOKEN` is the webhook's own URL in short. */
function webhookUrl(url: string): string {
  const { place = "", path = [] } = readPasted(url, { schemes: ["discord"] }) ?? {};
  return place === "" ? url : [API, place, ...path].join("/");
}

function webhookProblem(value: string): string | undefined {
  const url = webhookUrl(value);
  if (urlProblem(url) === undefined && PATH.test(new URL(url).pathname)) return undefined;
  return `is no webhook of a channel; it is ${API}/ID/TOKEN, or discord://ID/TOKEN`;
}

/** Messages to a channel of Discord, by a webhook of it. */
export const discord = channelKind(
  { url: secret("the webhook of the channel, from its settings; or discord://ID/TOKEN", webhookProblem) },
  ({ url: given }) => {
    const url = new Secret(webhookUrl(given.reveal()));
    return {
      host: hostOf(url),
      send: async (message, { post }) =>
        await post({ url, headers: { "content-type": "application/json" }, body: JSON.stringify(noteOf(message)) }),
    };
  },
);

/** Mentions are off, and what means something is written as it stands. */
function noteOf(message: ChannelMessage) {
  const title = `**${escaped(titleOf(message))}**\n`;
  const body = escaped(bodyOf(message, LONGEST_TEXT - title.length, (text) => escaped(text).length));
  return {
    content: `${title}${body}`,
    allowed_mentions: { parse: [] },
    flags: FLAGS.noEmbeds + (message.isSilent ? FLAGS.noSound : 0),
  };
}

function escaped(text: string): string {
  return text.replaceAll(MEANS_SOMETHING, String.raw`\$&`);
}
