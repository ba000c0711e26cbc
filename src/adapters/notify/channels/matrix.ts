import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, secret, serverProblem, text } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const ROOM = /^![^\s/?#]{1,254}$/;
const LONGEST_TEXT = 16_000;

const roomProblem = (room: string) =>
  ROOM.test(room) ? undefined : 'is no room; it is its internal id, "!abc:example.org", from the room\'s settings';

/** Messages of one account of Matrix to a room. The transaction's id is the alert's: the server drops a second one. */
export const matrix = channelKind(
  {
    server: text("the homeserver of the account", "https://matrix.example.org", serverProblem),
    token: secret("an access token of an account that is in the room"),
    room: text("the internal id of the room", "!abcdef:example.org", roomProblem),
  },
  ({ server, token, room }) => ({
    host: hostOf(server),
    send: async (message, { post }) => {
      const path = `_matrix/client/v3/rooms/${encodeURIComponent(room)}/send/m.room.message`;
      return await post({
        method: "PUT",
        url: new Secret(`${new URL(server).origin}/${path}/${encodeURIComponent(message.id)}`),
        headers: { "content-type": "application/json", authorization: `Bearer ${token.reveal()}` },
        body: JSON.stringify(noteOf(message)),
        refusals: TOO_LARGE,
      });
    },
  }),
  { form: "matrixs://TOKEN@HOST/!ROOM:SERVER", holds: ["server", "token", "room"], read: readMatrix },
);

const TOO_LARGE = [413];

/** Nobody is mentioned, whatever stands in the text. */
function noteOf(message: ChannelMessage) {
  const title = `${titleOf(message)}\n`;
  return {
    msgtype: message.isSilent ? "m.notice" : "m.text",
    body: `${title}${bodyOf(message, LONGEST_TEXT - title.length)}`,
    "m.mentions": {},
  };
}

/** A token stands alone; a name with a password would be a new login for each message. */
function readMatrix(url: string) {
  const parts = readPasted(url, { schemes: ["matrix", "matrixs"] });
  if (parts === undefined || (parts.user !== undefined && parts.password !== undefined)) return undefined;
  const [room, ...others] = parts.path;
  if (others.length > 0) return undefined;
  const server = `${parts.scheme === "matrix" ? "http" : "https"}://${parts.place}`;
  return { server, token: parts.user ?? parts.password, room };
}
