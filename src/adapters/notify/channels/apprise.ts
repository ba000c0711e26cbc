import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, optional, secret, text, urlProblem } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const TYPE = { info: "info", warning: "warning", critical: "failure" } as const;
const OVER = "success";
const LONGEST_TEXT = 16_000;

const NOTIFY = /\/notify(?:\/[\w-]{1,128})?\/?$/;
const TAGS = /^[\w-]+(?:[ ,]+[\w-]+)*$/;

function serverProblem(server: string): string | undefined {
  const wrong = urlProblem(server);
  if (wrong !== undefined) return wrong;
  return NOTIFY.test(new URL(server).pathname)
    ? undefined
    : "does not end in /notify/KEY, or in /notify where `urls` says whom";
}

const tagProblem = (tag: string) => (TAGS.test(tag) ? undefined : "is no list of tags");

/** Whatever Apprise knows, by an Apprise API server. 204 says that there is nobody under this key or tag. */
export const apprise = channelKind(
  {
    server: secret(
      "the address to notify: http://HOST:8000/notify/KEY, with the key of a configuration",
      serverProblem,
    ),
    urls: optional(secret("whom to notify, as URLs of Apprise, where the address ends in /notify")),
    tag: optional(text("whom of the configuration to notify, by tags", "phones", tagProblem)),
  },
  ({ server, urls, tag }) => ({
    host: hostOf(server),
    send: async (message, { post }) => {
      const whom = { ...(urls === undefined ? {} : { urls: urls.reveal() }), ...(tag === undefined ? {} : { tag }) };
      const body = JSON.stringify({ ...whom, ...noteOf(message) });
      const headers = { "content-type": "application/json", accept: "application/json" };
      return await post({ url: new Secret(server.reveal()), headers, body, unheard: [204] });
    },
  }),
  { form: "apprises://HOST/KEY", holds: ["server"], read: readApprise },
);

function noteOf(message: ChannelMessage) {
  const type = message.ends === undefined ? TYPE[message.severity] : OVER;
  return { title: titleOf(message), body: bodyOf(message, LONGEST_TEXT), type, format: "text" };
}

function readApprise(url: string) {
  const parts = readPasted(url, { schemes: ["apprise", "apprises"] });
  if (parts === undefined) return undefined;
  const { scheme, user, password, place, path } = parts;
  const login = user === undefined ? "" : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? "")}@`;
  const [key, ...before] = path.toReversed();
  const to = [...before.toReversed(), "notify", ...(key === undefined ? [] : [key])];
  return { server: `${scheme === "apprise" ? "http" : "https"}://${login}${place}/${to.join("/")}` };
}
