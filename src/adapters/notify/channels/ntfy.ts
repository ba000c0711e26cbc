import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, optional, secret, text, urlProblem } from "../channel-kind.ts";

const NTFY_SH = "https://ntfy.sh";

const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;

/** A longer one becomes an attachment, which phones do not show. */
const MOST_BYTES = 4_096;

/** From 1 to 5: what is critical sounds and vibrates until it is seen. */
const PRIORITY = { info: 3, warning: 4, critical: 5 } as const;

/** Names that a phone shows as pictures. */
const TAG = { info: "information_source", warning: "warning", critical: "rotating_light" } as const;
const OVER = "white_check_mark";

/** The message, or the topic that it goes to, is nothing that the server takes. */
const REFUSALS = [400, 413];

function serverProblem(server: string): string | undefined {
  const wrong = urlProblem(server);
  if (wrong !== undefined) return wrong;
  const { href, origin } = new URL(server);
  return href === `${origin}/` ? undefined : `is more than a server; write for example ${NTFY_SH}`;
}

function topicProblem(topic: string): string | undefined {
  if (TOPIC.test(topic)) return undefined;
  return "is no topic; it is one word of at most 64 letters, digits, hyphens and underscores";
}

/** Push messages to phones by a topic of ntfy, at ntfy.sh or on a server of one's own. */
export const ntfy = channelKind(
  {
    server: optional(text("the server; without it ntfy.sh", NTFY_SH, serverProblem)),
    topic: secret(
      "the topic: anyone who knows it can read the messages, so it is a word that cannot be guessed",
      topicProblem,
    ),
    token: optional(secret("an access token, where the topic needs one")),
  },
  ({ server = NTFY_SH, topic, token }) => {
    // JSON goes to the top of the server: headers, in which it could be said too, carry no UTF-8.
    const url = new Secret(server);
    return {
      host: hostOf(url),
      send: async (message, { post }) =>
        await post({
          url,
          headers: {
            "content-type": "application/json",
            ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
          },
          body: JSON.stringify({ topic: topic.reveal(), ...noteOf(message) }),
          refusals: REFUSALS,
        }),
    };
  },
);

function noteOf({ id, ends, severity, code, text: words, network, atMs }: ChannelMessage) {
  const end = `\n\n${new Date(atMs).toISOString()}, ${id}`;
  return {
    title: `${code} on ${network}${ends === undefined ? "" : " is over"}`,
    message: `${cut(words, MOST_BYTES - Buffer.byteLength(end))}${end}`,
    priority: PRIORITY[severity],
    tags: [ends === undefined ? TAG[severity] : OVER],
  };
}

/** As much of a text as fits into so many bytes, in whole characters. */
function cut(words: string, mostBytes: number): string {
  const { read } = new TextEncoder().encodeInto(words, new Uint8Array(mostBytes));
  return words.slice(0, read);
}
