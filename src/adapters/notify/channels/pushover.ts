import { hostOf, Secret } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, optional, secret, serverProblem, text } from "../channel-kind.ts";
import { readPasted } from "../pasted-url.ts";
import { bodyOf, titleOf } from "../words.ts";

const API = "https://api.pushover.net";
const KEY = /^[A-Za-z0-9]{30}$/;
const DEVICE = /^[A-Za-z0-9_-]{1,25}(?:,[A-Za-z0-9_-]{1,25})*$/;
const LONGEST_TEXT = 1_024;

/** What is critical sounds every minute, for an hour, until somebody says that he saw it. */
const LOUDNESS = {
  info: { priority: 0 },
  warning: { priority: 1 },
  critical: { priority: 2, retry: 60, expire: 3_600 },
} as const;
const SILENT = { priority: -1 };

const keyProblem = (key: string) => (KEY.test(key) ? undefined : "is no key; it has 30 letters and digits");
const deviceProblem = (device: string) => (DEVICE.test(device) ? undefined : "is no device's name");

/** Push messages to phones by Pushover. */
export const pushover = channelKind(
  {
    token: secret("the token of the application", keyProblem),
    user: secret("the key of the user or the group", keyProblem),
    device: optional(text("devices, by name; without it all of the user", "phone", deviceProblem)),
    server: optional(text(`another server; without it ${API}`, API, serverProblem)),
  },
  ({ token, user, device, server = API }) => {
    const url = new Secret(`${new URL(server).origin}/1/messages.json`);
    const to = { token: token.reveal(), user: user.reveal(), ...(device === undefined ? {} : { device }) };
    return {
      host: hostOf(url),
      send: async (message, { post }) =>
        await post({
          url,
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...to, ...noteOf(message) }),
        }),
    };
  },
  { form: "pover://USER@TOKEN", holds: ["token", "user", "device"], read: readPover },
);

function noteOf(message: ChannelMessage) {
  const loudness = message.isSilent ? SILENT : LOUDNESS[message.severity];
  const timestamp = Math.floor(message.atMs / 1_000);
  return { title: titleOf(message), message: bodyOf(message, LONGEST_TEXT), timestamp, ...loudness };
}

function readPover(url: string) {
  const parts = readPasted(url, { schemes: ["pover"] });
  const device = parts?.path.join(",");
  return parts && { token: parts.place, user: parts.user, device: device === "" ? undefined : device };
}
