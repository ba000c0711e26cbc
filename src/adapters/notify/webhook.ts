import { createHmac } from "node:crypto";
import { type BoundedFetch, boundedFetch, FetchError } from "../../net/bounded-fetch.ts";
import type { Secret } from "../../net/secret.ts";
import type { AlertRow } from "../../ports/alert-store.ts";

/** Where alerts go and what they are signed with. */
export interface WebhookOptions {
  /** a secret: its path and query are usually a key */
  readonly url: Secret;
  readonly secret: Secret;
  readonly network: string;
  readonly timeoutMs: number;
  /** default: over HTTP */
  readonly fetch?: BoundedFetch | undefined;
}

/** What came of one delivery. `detail` names a status or a kind of trouble, and never more of the URL than its host. */
export interface Delivery {
  readonly taken: boolean;
  /** the receiver's answer, undefined when there was none */
  readonly status: number | undefined;
  readonly detail: string;
}

/** A receiver has nothing to tell: its answer is read only as far as this, and its text is dropped. */
const MOST_ANSWER_BYTES = 64 * 1_024;

/**
 * Delivers alerts by signed POST requests. The header `swapd-signature: t=<Unix seconds>,v1=<hex>` carries the
 * HMAC-SHA256 of `<t>.<body>`: who has the secret knows that the body is ours, and by `t` that it is not an old one.
 * @param redact takes secrets out of texts that others wrote
 */
export function createWebhook(
  options: WebhookOptions,
  redact: (text: string) => string,
): (alert: AlertRow, at: { nowMs: number; signal?: AbortSignal }) => Promise<Delivery> {
  const { url, secret, network, timeoutMs, fetch = boundedFetch } = options;
  return async (alert, { nowMs, signal }) => {
    const body = JSON.stringify(messageOf(alert, network, redact));
    const seconds = Math.floor(nowMs / 1_000);
    const signature = createHmac("sha256", secret.reveal()).update(`${seconds}.${body}`).digest("hex");
    try {
      const { status } = await fetch({
        url: url.reveal(),
        method: "POST",
        headers: {
          "content-type": "application/json",
          "user-agent": "swapd",
          "swapd-alert-id": alert.id,
          "swapd-signature": `t=${seconds},v1=${signature}`,
        },
        body,
        timeoutMs,
        maxBytes: MOST_ANSWER_BYTES,
        ...(signal === undefined ? {} : { signal }),
      });
      return { taken: isTaking(status), status, detail: `HTTP ${status}` };
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      const status = error.answer?.status;
      // Its word is its status: what is wrong with the text after it, which nobody reads, takes nothing back.
      if (status !== undefined && isTaking(status)) return { taken: true, status, detail: `HTTP ${status}` };
      return { taken: false, status: undefined, detail: error.message };
    }
  };
}

function isTaking(status: number): boolean {
  return status >= 200 && status < 300;
}

function messageOf(alert: AlertRow, network: string, redact: (text: string) => string): Record<string, unknown> {
  return {
    id: alert.id,
    severity: alert.severity,
    code: alert.code,
    subject: alert.subject,
    text: redact(alert.text),
    strategy: alert.strategy ?? null,
    run: alert.runId ?? null,
    network,
    at: new Date(alert.atMs).toISOString(),
  };
}
