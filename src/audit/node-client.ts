import { boundedFetch, FetchError } from "../net/bounded-fetch.ts";
import { createRedactor } from "../net/redact.ts";
import { hostOf, type Secret } from "../net/secret.ts";

/** What a node is asked. */
export interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The node itself says that it does not answer this; the text is redacted and names the host. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** the contract that was asked refuses, and not the node */
  readonly isRevert: boolean;

  constructor(message: string, isRevert = false) {
    super(message);
    this.isRevert = isRevert;
  }
}

/**
 * What stands in the way of an answer. `away`: nobody answered properly; `asked-too-much`: of fewer questions at once the
 * node may answer each, at once or later; `too-large`: what it answers, or is asked for, is more than it, or we, take.
 */
type Hindrance = "away" | "asked-too-much" | "too-large";

/** No proper answer came. It proves nothing, and may come at another try; the text is redacted and names the host. */
export class NoAnswer extends Error {
  override readonly name = "NoAnswer";
  readonly hindrance: Hindrance;

  constructor(message: string, hindrance: Hindrance) {
    super(message);
    this.hindrance = hindrance;
  }
}

/**
 * One node as the audit asks it. It is a reader of its own, so that what daemon and service make of a node's words cannot
 * hide from it what went wrong there: an error is a refusal whatever it says, but that it was asked too much in a short
 * time, and everything odd is no answer.
 */
export interface NodeClient {
  /** What may be shown of the endpoint. */
  readonly host: string;
  /** All in one HTTP request, never twice; the answers in the order of the questions. @throws NoAnswer */
  ask(questions: readonly Question[], signal?: AbortSignal): Promise<readonly (unknown | Refusal)[]>;
}

const LONGEST_MESSAGE = 300;

/** Creates a client over kept-alive HTTP. */
export function createNodeClient(options: {
  readonly url: string | Secret;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}): NodeClient {
  const { timeoutMs, maxBytes } = options;
  const url = typeof options.url === "string" ? options.url : options.url.reveal();
  const host = hostOf(url);
  const redactor = createRedactor([url]);
  const shown = (words: string): string => redactor.redact(words).slice(0, LONGEST_MESSAGE);
  const noAnswer = (detail: string, hindrance: Hindrance): NoAnswer =>
    new NoAnswer(`${host}: ${shown(detail)}`, hindrance);

  return {
    host,
    async ask(questions, signal) {
      if (questions.length === 0) return [];
      const body = questions.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
      const sent = boundedFetch({
        url,
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        timeoutMs,
        maxBytes,
        ...(signal === undefined ? {} : { signal }),
      });
      const { status, text } = await sent.catch((error: unknown) => {
        // Its text names the host already.
        if (!(error instanceof FetchError)) throw error;
        throw new NoAnswer(error.message, error.kind === "too large" ? "too-large" : "away");
      });
      const read = readAnswers(status, text);
      if (typeof read === "string") throw noAnswer(read, hindranceOf(status));
      return questions.map((_, id) => {
        const answer = read.get(id);
        if (answer === undefined) throw noAnswer(`no answer for request ${id} of a batch`, "away");
        if ("result" in answer) return answer.result;
        if (isBusy(answer)) throw noAnswer(`${answer.words} (code ${answer.code})`, "asked-too-much");
        return new Refusal(`${host}: ${shown(answer.words)} (code ${answer.code})`, isRevert(answer));
      });
    },
  };
}

type Answer = { readonly result: unknown } | { readonly words: string; readonly code: number };

function hindranceOf(status: number): Hindrance {
  if (status === 413) return "too-large";
  return status < 300 || status === 400 || status === 429 ? "asked-too-much" : "away";
}

/** So many calls a second are in a plan, and each of a batch is one. */
function isBusy({ words, code }: { readonly words: string; readonly code: number }): boolean {
  return code === 429 || /rate.?limit|too many requests|per second|throughput|capacity/i.test(words);
}

function isRevert({ words, code }: { readonly words: string; readonly code: number }): boolean {
  return code === 3 || /revert/i.test(words);
}

/** The answers by the numbers of their questions, or what is wrong with the whole. */
function readAnswers(status: number, text: string): ReadonlyMap<number, Answer> | string {
  const http = `HTTP status ${status}`;
  if (status >= 500) return http;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return `${http} with a body that is not JSON`;
  }
  if (!Array.isArray(json)) return `${http}, the batch was not answered as a batch${wordsOf(json)}`;
  const answers = new Map<number, Answer>();
  for (const item of json) {
    if (!isObject(item) || item.jsonrpc !== "2.0") return `${http} with a body that is not a JSON-RPC answer`;
    if (typeof item.id !== "number" || answers.has(item.id)) return `${http} with answers to other requests`;
    const answer = answerOf(item);
    if (answer === undefined) return "a JSON-RPC answer must have either a result or an error";
    if ("result" in answer && status >= 300) return `${http} with a JSON-RPC result`;
    answers.set(item.id, answer);
  }
  return answers;
}

function answerOf(item: Fields): Answer | undefined {
  const { error } = item;
  const isRefused = error !== undefined && error !== null;
  if (Object.hasOwn(item, "result") === isRefused) return undefined;
  if (!isRefused) return { result: item.result };
  if (!isObject(error)) return undefined;
  const words = typeof error.message === "string" ? error.message : "an error without a message";
  return { words, code: typeof error.code === "number" ? error.code : 0 };
}

/** What a node that answers no batch says instead. */
function wordsOf(json: unknown): string {
  if (!isObject(json)) return "";
  const said = isObject(json.error) ? json.error.message : json.message;
  return typeof said === "string" ? `: ${said}` : "";
}

type Fields = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
