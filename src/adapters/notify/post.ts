import { type AnswerHead, type BoundedFetch, boundedFetch, FetchError } from "../../net/bounded-fetch.ts";
import { readRetryAfter } from "../../net/retry-after.ts";
import type { Secret } from "../../net/secret.ts";

/**
 * What came of sending a message once. `detail` names a status or a kind of trouble, and never more of a URL than its
 * host.
 * - `delivered`: the receiver took it
 * - `later`: it may be sent again, after `afterMs` at the earliest where the receiver says so
 * - `refused`: this message is never taken as it is, however often it is sent
 */
export type Delivery =
  | { readonly kind: "delivered"; readonly detail: string }
  | { readonly kind: "later"; readonly detail: string; readonly afterMs?: number | undefined }
  | { readonly kind: "refused"; readonly detail: string };

/** One request of a channel. */
export interface PostRequest {
  readonly url: Secret;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** statuses that say of this very message that it is never taken, besides 410 */
  readonly refusals?: readonly number[];
}

/** Sends a request over HTTP once. Every status is an answer; without one it may be sent again later. */
export type Post = (request: PostRequest) => Promise<Delivery>;

/** A receiver's answer carries nothing of use: it is read only as far as this, and its text is dropped. */
const MOST_ANSWER_BYTES = 64 * 1_024;

const GONE = 410;

/** Posts within bounds, without redirects: a status from 200 to 299 takes a message, whatever its text says. */
export function createPost(terms: {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly nowMs: number;
  /** default: over HTTP */
  readonly fetch?: BoundedFetch | undefined;
}): Post {
  const { timeoutMs, signal, nowMs, fetch = boundedFetch } = terms;
  return async ({ url, headers, body, refusals = [] }) => {
    const bounds = { timeoutMs, maxBytes: MOST_ANSWER_BYTES, signal };
    const judged = (answer: AnswerHead, trouble?: string): Delivery =>
      judge(answer, { refusals: [GONE, ...refusals], nowMs, trouble });
    try {
      return judged(await fetch({ url: url.reveal(), method: "POST", headers: { ...headers }, body, ...bounds }));
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      // The status decides: an error in the text after it, which is not read, changes nothing.
      return error.answer === undefined
        ? { kind: "later", detail: error.message }
        : judged(error.answer, error.message);
    }
  };
}

function judge(
  { status, header }: AnswerHead,
  by: { readonly refusals: readonly number[]; readonly nowMs: number; readonly trouble: string | undefined },
): Delivery {
  const detail = `HTTP ${status}`;
  if (status >= 200 && status < 300) return { kind: "delivered", detail };
  if (by.refusals.includes(status)) return { kind: "refused", detail };
  return { kind: "later", detail: by.trouble ?? detail, afterMs: readRetryAfter(header("retry-after"), by.nowMs) };
}
