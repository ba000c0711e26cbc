import { type ChannelMessage, channelKind, secret, text } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { readServer, sendMail } from "../smtp.ts";
import { bodyOf, titleOf } from "../words.ts";

const ADDRESS = /^[^\s<>,;:"()@\\]{1,64}@[A-Za-z0-9.-]{1,253}$/;
const MOST_ADDRESSES = 16;
const LONGEST_TEXT = 16_000;

const serverProblem = (server: string) =>
  readServer(server) === undefined
    ? "is no smtp://NAME:PASSWORD@HOST:587, or smtps://NAME:PASSWORD@HOST:465"
    : undefined;
const addressProblem = (address: string) => (ADDRESS.test(address) ? undefined : "is no address, name@example.org");
const addressesOf = (list: string) => list.split(",").map((address) => address.trim());

function listProblem(list: string): string | undefined {
  const addresses = addressesOf(list);
  if (addresses.length > MOST_ADDRESSES) return `has more than ${MOST_ADDRESSES} addresses`;
  return addresses.map(addressProblem).find((problem) => problem !== undefined);
}

/** Mails in plain text. With a name and a password nothing is said in the clear, but to this machine itself. */
export const email = channelKind(
  {
    server: secret("the mail server: smtp://NAME:PASSWORD@HOST:587 or smtps://NAME:PASSWORD@HOST:465", serverProblem),
    from: text("whom mails are from", "swapd@example.org", addressProblem),
    to: text("whom they go to; several with commas between", "me@example.org", listProblem),
  },
  ({ server: given, from, to }) => {
    const server = readServer(given.reveal());
    if (server === undefined) throw new Error("a mail server was not checked");
    return {
      host: `${server.host}:${server.port}`,
      send: async (message, { nowMs, signal }) =>
        await sendMail(server, { from, to: addressesOf(to), nowMs, ...mailOf(message) }, signal),
    };
  },
  { form: "mailtos://NAME:PASSWORD@HOST?to=ADDRESS", holds: ["server", "from", "to"], read: readMailto },
);

function mailOf(message: ChannelMessage) {
  const { id, ends, severity } = message;
  const subject = `[swapd] ${severity === "critical" ? "CRITICAL " : ""}${titleOf(message)}`;
  return { id, answers: ends, isUrgent: severity === "critical", subject, text: bodyOf(message, LONGEST_TEXT) };
}

/** `smtp` names the server where it is another than the domain of the name. */
function readMailto(url: string) {
  const parts = readPasted(url, { schemes: ["mailto", "mailtos"], keys: ["smtp", "to", "from", "user", "mode"] });
  if (parts === undefined) return undefined;
  const { query, user = "", password = "", place } = parts;
  const [domain = "", port] = place.split(":");
  const own = user.includes("@") ? user : `${user}@${domain}`;
  const scheme = query.get("mode") === "ssl" ? "smtps" : "smtp";
  const host = `${query.get("smtp") ?? domain}${port === undefined ? "" : `:${port}`}`;
  const login = [query.get("user") ?? user, password].map(encodeURIComponent).join(":");
  return { server: `${scheme}://${login}@${host}`, from: query.get("from") ?? own, to: query.get("to") ?? own };
}
