import { createHmac } from "node:crypto";
import { hostOf } from "../../../net/secret.ts";
import { type ChannelMessage, channelKind, secret, urlProblem } from "../channel-kind.ts";

const SHORTEST_SECRET = 16;

function secretProblem({ length }: string): string | undefined {
  if (length >= SHORTEST_SECRET) return undefined;
  return `has ${length} characters; give it at least ${SHORTEST_SECRET}, for example from: openssl rand -hex 32`;
}

/**
 * Signed POST requests. The header `swapd-signature: t=<Unix seconds>,v1=<hex>` carries the HMAC-SHA256 of `<t>.<body>`:
 * who has the secret knows that the body is ours, and by `t` that it is not an old one.
 */
export const webhook = channelKind(
  {
    url: secret("the URL that alerts are posted to; it usually carries a key", urlProblem),
    secret: secret("what alerts are signed with (HMAC-SHA256), at least 16 characters", secretProblem),
  },
  ({ url, secret: key }) => ({
    host: hostOf(url),
    send: async (message, { nowMs, post }) => {
      const body = JSON.stringify(bodyOf(message));
      const seconds = Math.floor(nowMs / 1_000);
      const signature = createHmac("sha256", key.reveal()).update(`${seconds}.${body}`).digest("hex");
      const headers = {
        "content-type": "application/json",
        "swapd-alert-id": message.id,
        "swapd-signature": `t=${seconds},v1=${signature}`,
      };
      return await post({ url, headers, body });
    },
  }),
);

function bodyOf({ id, ends, severity, code, subject, text, strategy, runId, network, atMs }: ChannelMessage) {
  const at = new Date(atMs).toISOString();
  const said = { id, severity, code, subject, text, strategy: strategy ?? null, run: runId ?? null, network, at };
  return ends === undefined ? said : { ...said, ends };
}
