import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, secret, urlProblem } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const HOOKS = "https://hooks.slack.com/services";
const PATH = /^\/(?:services|workflows)(?:\/[A-Za-z0-9_-]+){3,}$/;
const LONGEST_TEXT = 4_000;

/** What makes links and mentions. */
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

/** `slack://A/B/C` is the webhook's own URL in short; who posts, and where, is the webhook's own to say. */
function webhookUrl(url: string): string {
  const { place = "", path = [] } = readPasted(url, { schemes: ["slack"] }) ?? {};
  return place === "" ? url : [HOOKS, place, ...path.slice(0, 2)].join("/");
}

function webhookProblem(value: string): string | undefined {
  const url = webhookUrl(value);
  if (urlProblem(url) === undefined && PATH.test(new URL(url).pathname)) return undefined;
  return `is no incoming webhook; it is ${HOOKS}/A/B/C, or slack://A/B/C`;
}

/** Messages to a channel of Slack, by an incoming webhook. */
export const slack = channelKind(
  { url: secret("the incoming webhook, from the settings of its app; or slack://A/B/C", webhookProblem) },
  ({ url: given }) => {
    const url = new Secret(webhookUrl(given.reveal()));
    return {
      host: hostOf(url),
      send: async (message, { post }) =>
        await post({ url, headers: { "content-type": "application/json" }, body: JSON.stringify(noteOf(message)) }),
    };
  },
);

function noteOf(message: ChannelMessage) {
  const title = `${escaped(titleOf(message))}\n`;
  const body = escaped(bodyOf(message, LONGEST_TEXT - title.length, (text) => escaped(text).length));
  return { text: `${title}${body}`, mrkdwn: false, unfurl_links: false, unfurl_media: false };
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? "");
}
