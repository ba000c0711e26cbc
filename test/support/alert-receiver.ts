import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody, startHttpServer } from "./http-server.ts";

/** One request that a receiver of alerts got. */
export interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
  readonly path: string;
  readonly method: string;
}

/** How a receiver answers its n-th request, counted from 1. */
type Answer = (response: ServerResponse, count: number) => void;

/** A receiver of alerts on a free port; without an answer of its own it takes everything. */
export async function startReceiver(
  answer: Answer = (response) => void response.writeHead(204).end(),
): Promise<{ url: string; received: Received[] }> {
  const received: Received[] = [];
  const { url } = await startHttpServer(async (request, response) => {
    const { headers, url: path = "", method = "" } = request;
    received.push({ headers, body: await readBody(request), path, method });
    answer(response, received.length);
  });
  return { url, received };
}

/**
 * What a receiver does with the header `swapd-signature`, by other means than the sender's.
 * @returns whether the body is signed with this secret
 */
export async function isSigned({ headers, body }: Received, secret: string): Promise<boolean> {
  const match = /^t=([0-9]+),v1=([0-9a-f]{64})$/.exec(String(headers["swapd-signature"]));
  if (match === null) return false;
  const encoder = new TextEncoder();
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), algorithm, false, ["verify"]);
  const signature = Uint8Array.from((match[2] ?? "").match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));
  return await crypto.subtle.verify("HMAC", key, signature, encoder.encode(`${match[1]}.${body}`));
}
