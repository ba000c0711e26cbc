import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Access } from "../../../ports/access.ts";
import { version } from "../../version.ts";
import type { ApiSources } from "./api-sources.ts";
import { createAttempts } from "./attempts.ts";
import { callerOf, clearLogin, LOGIN_MS, setLogin } from "./authenticate.ts";
import { instantOrNull } from "./describe-money.ts";
import { API_VERSION } from "./describe-status.ts";
import type { AnswerOf } from "./operations.ts";
import { ApiProblem } from "./problem.ts";
import { hashOfCode, hashOfSecret, newLogin } from "./secrets.ts";
import { login } from "./shapes/action-shapes.ts";

const BODY_LIMIT = 1_024;

/** Who asks, the way in by a one-time code, and the way out. */
export function createSessionRoutes(server: FastifyInstance, sources: ApiSources): void {
  const { access, clock, logger } = sources;
  const attempts = createAttempts(clock);
  server.get("/session", async (request) => describeSession(await callerOf(request, sources)));
  server.post("/session", { bodyLimit: BODY_LIMIT }, async (request, reply) => {
    const code = codeOf(request);
    const nowMs = clock.nowMs();
    const codeHash = hashOfCode(code);
    // The right one counts however many wrong ones were sent: else anybody who reaches the page keeps its owner out.
    if (!(await access.isWaitedFor(codeHash, nowMs)) && attempts.isTooMany(request.ip))
      throw new ApiProblem("TOO_MANY", "too many wrong codes; try again in a minute");
    const { key, cookie } = newLogin();
    const used = { hash: codeHash, login: { hash: hashOfSecret(cookie), untilMs: nowMs + LOGIN_MS } };
    const caller = await access.useCode(used, nowMs);
    if (caller === undefined) {
      logger.warn({ from: request.ip }, "a login was tried with a code that is not waited for");
      throw new ApiProblem("CODE_WRONG", "a code is valid for 10 minutes and once: print a new one with `swapd login`");
    }
    logger.info({ name: caller.name, scope: caller.scope, from: request.ip }, "a browser logged in");
    setLogin(request, reply, cookie);
    return describeSession(caller, key);
  });
  server.delete("/session", async (request, reply) => {
    const caller = await callerOf(request, sources);
    if (caller?.kind === "login") await access.end(caller.id, clock.nowMs());
    clearLogin(request, reply);
    return describeSession(undefined);
  });
}

function codeOf({ body }: FastifyRequest): string {
  const parsed = login.safeParse(body);
  if (parsed.success) return parsed.data.code;
  throw new ApiProblem("REQUEST_MALFORMED", 'send { "code": "..." } as `swapd login` prints it');
}

function describeSession(caller: Access | undefined, key: string | null = null): AnswerOf<"getSession"> {
  return {
    ...{ apiVersion: API_VERSION, version: version() },
    ...{ name: caller?.name ?? null, scope: caller?.scope ?? null, until: instantOrNull(caller?.untilMs) },
    key,
  };
}
