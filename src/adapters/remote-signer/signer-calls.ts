import { z } from "zod";
import { SigningError } from "../../domain/signing-error.ts";
import { type BoundedFetch, type BoundedResponse, FetchError } from "../../net/bounded-fetch.ts";
import { createRedactor } from "../../net/redact.ts";
import { hostOf, type Secret } from "../../net/secret.ts";

/** How a signer is reached, and within which bounds. */
export interface SignerCallOptions {
  readonly url: string;
  /** for what stands in front of it: a signer of this kind asks for none itself */
  readonly token: Secret | undefined;
  /** for one answer, body included */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** The methods that are ever called: none that sends anything, and none that signs what a person cannot read. */
export type SignerMethod = "eth_accounts" | "eth_signTransaction" | "eth_signTypedData";

/** Calls of a signer by JSON-RPC, each made once. */
export interface SignerCalls {
  readonly host: string;
  /** @throws SigningError `away` or `refused` */
  call(method: SignerMethod, params: readonly unknown[]): Promise<unknown>;
}

/** A signed transaction is as long as its calldata, twice; more than this is no answer. */
const MAX_ANSWER_BYTES = 1_048_576;
const LONGEST_WORDS = 200;

const answerSchema = z.union([
  z.object({ id: z.unknown(), error: z.object({ code: z.int(), message: z.string() }) }),
  z.object({ id: z.unknown(), result: z.unknown() }),
]);

/** Creates the calls of one signer. Its token goes into a header, and into nothing else. */
export function createSignerCalls(
  { url, token, timeoutMs, signal }: SignerCallOptions,
  fetch: BoundedFetch,
): SignerCalls {
  const host = hostOf(url);
  const redactor = createRedactor(token === undefined ? [] : [token.reveal()]);
  const readable = (text: string): string => redactor.redact(text.replaceAll(/\p{C}+/gu, " ")).slice(0, LONGEST_WORDS);
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    ...(token !== undefined && { authorization: `Bearer ${token.reveal()}` }),
  };
  let last = 0;
  const ask = async (body: string): Promise<BoundedResponse> => {
    try {
      return await fetch({
        ...{ url, method: "POST", headers, body, timeoutMs, maxBytes: MAX_ANSWER_BYTES },
        ...(signal !== undefined && { signal }),
      });
    } catch (error) {
      if (!(error instanceof FetchError)) throw error;
      throw new SigningError("away", `the signer at ${error.message}`);
    }
  };
  return {
    host,
    call: async (method, params) => {
      last += 1;
      const id = last;
      const answer = await ask(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const read = answerSchema.safeParse(jsonOf(answer.text)).data;
      if (read !== undefined && read.id !== id && read.id !== null)
        throw new SigningError("away", `the signer at ${host} answered another question than ${method}`);
      if (read !== undefined && "error" in read) {
        const { code, message } = read.error;
        throw new SigningError("refused", `the signer at ${host} refused ${method}: ${readable(message)} (${code})`);
      }
      const isResult = read !== undefined && read.id === id && read.result !== undefined && answer.status === 200;
      if (!isResult) throw unreadable(host, answer, readable);
      return read.result;
    },
  };
}

/** What stands in front of it says no, or something answers that is no signer. */
function unreadable(host: string, { status, text }: BoundedResponse, readable: (text: string) => string): SigningError {
  const words = readable(text.trim());
  const said = `the signer at ${host} answered ${status}${words === "" ? "" : `: ${words}`}`;
  if (status !== 401 && status !== 403) return new SigningError("away", `${said} (no JSON-RPC)`);
  // web3signer's own words for a name outside of its list of hosts: no token opens that.
  if (status === 403 && text.includes("Host not authorized")) return new SigningError("refused", said);
  return new SigningError("refused", `${said}: it wants another token or another certificate of ours`);
}

/** undefined for what is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
