import type { FastifyReply } from "fastify";
import type { z } from "zod";
import type { problem } from "./shapes/values.ts";

/** Why a request is refused, with its place in HTTP. */
const PROBLEMS = {
  REQUEST_MALFORMED: { status: 400, title: "The request is malformed." },
  LOGIN_NEEDED: { status: 401, title: "Who asks is not known." },
  CODE_WRONG: { status: 401, title: "This code is not one that is waited for." },
  SCOPE_TOO_NARROW: { status: 403, title: "This login or token may only read." },
  ORIGIN_FOREIGN: { status: 403, title: "Another site's page asks." },
  NOT_FOUND: { status: 404, title: "There is no such thing." },
  KEY_USED: { status: 409, title: "This Idempotency-Key stands for another action." },
  BODY_TOO_LARGE: { status: 413, title: "The body is too large." },
  BODY_NOT_JSON: { status: 415, title: "The body is not JSON." },
  HOST_UNKNOWN: { status: 421, title: "This server is not known by this name." },
  TOO_MANY: { status: 429, title: "Too many at once." },
  INTERNAL: { status: 500, title: "The question could not be answered." },
  OUTSIDE_AWAY: { status: 503, title: "What has to be asked outside does not answer." },
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

/** A refusal, as its asker is told of it. */
export class ApiProblem extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode, detail: string) {
    super(detail);
    this.code = code;
  }
}

/** Answers with a refusal (RFC 9457). */
export async function sendProblem(reply: FastifyReply, code: ProblemCode, detail: string): Promise<FastifyReply> {
  const { status, title } = PROBLEMS[code];
  const body: z.output<typeof problem> = { type: "about:blank", title, status, code, detail };
  if (status === 401) reply.header("www-authenticate", 'Bearer realm="swapd"');
  if (status === 429 || status === 503) reply.header("retry-after", "30");
  return await reply.code(status).type("application/problem+json; charset=utf-8").send(JSON.stringify(body));
}

/** Which refusal a fault of the request is, by the status that the server gives it; undefined: it is a fault of ours. */
export function problemOfStatus(status: number): ProblemCode | undefined {
  if (status === 413) return "BODY_TOO_LARGE";
  if (status === 415) return "BODY_NOT_JSON";
  if (status === 404 || status === 405) return "NOT_FOUND";
  return status >= 400 && status < 500 ? "REQUEST_MALFORMED" : undefined;
}
