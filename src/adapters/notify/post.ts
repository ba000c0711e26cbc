import { isRecord } from "../../domain/json.ts";
import { type AnswerHead, type BoundedFetch, boundedFetch, FetchError } from "../../net/bounded-fetch.ts";
import { numberText, parseJsonLossless } from "../../net/parse-json.ts";
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
  /** default: POST */
  readonly method?: "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
  /** statuses that say of this very message that it is never taken, besides 410 */
  readonly refusals?: readonly number[];
  /** statuses from 200 to 299 that say that nobody got it */
  readonly unheard?: readonly number[];
}

/** Sends a request over HTTP once. Every status is an answer; without one it may be sent again later. */
export type Post = (request: PostRequest) => Promise<Delivery>;

/** Of a receiver's answer only the pause that it asks for is of use: it is read only as far as this. */
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
  return async ({ url, method = "POST", headers, body, refusals = [], unheard = [] }) => {
    const bounds = { timeoutMs, maxBytes: MOST_ANSWER_BYTES, signal };
    const judged = (answer: AnswerHead & { text?: string }, trouble?: string): Delivery =>
      judge(answer, { refusals: [GONE, ...refusals], unheard, nowMs, trouble });
    try {
      return judged(await fetch({ url: url.reveal(), method, headers: { ...headers }, body, ...bounds }));
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
  { status, header, text = "" }: AnswerHead & { text?: string },
  by: Pick<Required<PostRequest>, "refusals" | "unheard"> & {
    readonly nowMs: number;
    readonly trouble: string | undefined;
  },
): Delivery {
  const detail = `HTTP ${status}`;
  if (by.refusals.includes(status)) return { kind: "refused", detail };
  if (status >= 200 && status < 300 && !by.unheard.includes(status)) return { kind: "delivered", detail };
  const afterMs = readRetryAfter(header("retry-after"), by.nowMs) ?? pauseIn(text);
  return { kind: "later", detail: by.trouble ?? detail, afterMs };
}

/** Where receivers write a pause in a JSON answer, and what one of it is in milliseconds. */
const PAUSES = [
  { path: ["retry_after"], unitMs: 1_000 },
  { path: ["parameters", "retry_after"], unitMs: 1_000 },
  { path: ["retry_after_ms"], unitMs: 1 },
] as const;

const PLAIN_NUMBER = /^[0-9]{1,9}(?:\.[0-9]{1,9})?$/;

/** The pause that an answer asks for in its text; undefined where there is none that can be read. */
function pauseIn(text: string): number | undefined {
  const parsed = parseJsonLossless(text);
  if ("refused" in parsed) return undefined;
  for (const { path, unitMs } of PAUSES) {
    const found = path.reduce<unknown>((value, key) => (isRecord(value) ? value[key] : undefined), parsed.value);
    const written = numberText(found) ?? "";
    if (PLAIN_NUMBER.test(written)) return Math.ceil(Number(written) * unitMs);
  }
  return undefined;
}
