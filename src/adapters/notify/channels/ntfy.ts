import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, optional, secret, serverProblem, text } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const NTFY_SH = "https://ntfy.sh";
const LOGIN = /^(?:tk_[A-Za-z0-9]+|[^\s:]+:\S+)$/;
const TOPIC = /^[-_A-Za-z0-9]{1,64}$/;
/** A longer one becomes an attachment, which phones do not show. */
const MOST_BYTES = 4_096;

/** From 1 to 5: what is critical sounds until it is seen. */
const PRIORITY = { info: 3, warning: 4, critical: 5 } as const;
const TAG = { info: "information_source", warning: "warning", critical: "rotating_light" } as const;

const topicProblem = (topic: string) =>
  TOPIC.test(topic) ? undefined : "is no topic; it is at most 64 letters, digits, hyphens and underscores";
const loginProblem = (login: string) =>
  LOGIN.test(login) ? undefined : "is neither an access token, tk_..., nor name:password";

/** Push messages by ntfy. A topic's name alone is a password: only who has an account may read what is said there. */
export const ntfy = channelKind(
  {
    server: optional(text("the server; without it ntfy.sh", NTFY_SH, serverProblem)),
    topic: secret("the topic, reserved for the account: else anyone who knows it reads the messages", topicProblem),
    token: secret("an access token of the account, tk_..., or its name:password", loginProblem),
  },
  ({ server = NTFY_SH, topic, token }) => {
    // JSON goes to the top of the server: headers, in which it could be said too, carry no UTF-8.
    const url = new Secret(server);
    const headers = { "content-type": "application/json", authorization: authorization(token.reveal()) };
    const bodyOfNote = (message: ChannelMessage) => JSON.stringify({ topic: topic.reveal(), ...noteOf(message) });
    return {
      host: hostOf(url),
      send: (message, { post }) => post({ url, headers, body: bodyOfNote(message), refusals: [400, 413] }),
    };
  },
  { form: "ntfys://TOKEN@HOST/TOPIC", holds: ["server", "topic", "token"], read: readNtfy },
);

function authorization(login: string): string {
  return login.includes(":") ? `Basic ${Buffer.from(login).toString("base64")}` : `Bearer ${login}`;
}

function noteOf({ severity, ...message }: ChannelMessage) {
  const tags = [message.ends === undefined ? TAG[severity] : "white_check_mark"];
  const priority = message.isSilent ? 2 : PRIORITY[severity];
  return { title: titleOf(message), message: bodyOf(message, MOST_BYTES, Buffer.byteLength), priority, tags };
}

/** A topic alone is one of ntfy.sh. `ntfy` without the s is not encrypted, but never to that server. */
function readNtfy(url: string) {
  const parts = readPasted(url, { schemes: ["ntfy", "ntfys"] });
  if (parts === undefined || parts.path.length > 1) return undefined;
  const [topic = parts.place] = parts.path;
  const scheme = parts.scheme === "ntfy" && parts.place !== "ntfy.sh" ? "http" : "https";
  const server = parts.path.length === 0 ? NTFY_SH : `${scheme}://${parts.place}`;
  const login = [parts.user, parts.password].filter((part) => part !== undefined).join(":");
  return { server, topic, token: login === "" ? undefined : login };
}
