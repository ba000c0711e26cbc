import type { FastifyReply, FastifyRequest } from "fastify";
import type { Access, AccessStore, Scope } from "../../../ports/access.ts";
import type { Clock } from "../../../ports/clock.ts";
import { ApiProblem } from "./problem.ts";
import { hashOfSecret, markOfKey } from "./secrets.ts";

/** How long a browser stays logged in. */
export const LOGIN_MS = 30 * 86_400_000;

/** Who may ask is read from. */
export interface AuthSources {
  readonly access: AccessStore;
  readonly clock: Clock;
}

/**
 * Who asks: by a token in `Authorization`, else by the cookie of a login. Undefined: nobody that is known. A cookie's text
 * is no token: whoever got it from a browser would act by it without the page's key.
 */
export async function callerOf(request: FastifyRequest, { access, clock }: AuthSources): Promise<Access | undefined> {
  const token = bearerOf(request);
  const secret = token ?? cookieOf(request);
  if (secret === undefined) return undefined;
  const nowMs = clock.nowMs();
  const caller = await access.find(hashOfSecret(secret), nowMs);
  if (caller === undefined || (caller.kind === "token") !== (token !== undefined)) return undefined;
  await access.noteUse(caller.id, nowMs);
  return caller;
}

/** @throws ApiProblem when nobody that is known asks, or one who may not */
export function assertScope(caller: Access | undefined, scope: Scope | "none"): void {
  if (scope === "none") return;
  if (caller === undefined) {
    const how = "send a token of `swapd login add` as `Authorization: Bearer`, or log in with a code of `swapd login`";
    throw new ApiProblem("LOGIN_NEEDED", how);
  }
  if (scope === "operate" && caller.scope !== "operate")
    throw new ApiProblem("SCOPE_TOO_NARROW", `${caller.name} may only read; this needs the scope operate`);
}

/**
 * Whoever changes something must not be led here by another site's page: browsers name the page's origin, which has to be
 * this server under the name that it was asked by. A cookie is sent by the browser itself: with one the origin has to be
 * there.
 * @throws ApiProblem
 */
export function assertOrigin(request: FastifyRequest): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const { origin, host } = request.headers;
  const isByCookie = bearerOf(request) === undefined && cookieOf(request) !== undefined;
  if (origin === undefined && !isByCookie) return;
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host?.toLowerCase()) return;
  const detail =
    "the header Origin must name this server: actions are taken from its own page, or with a token and no page";
  throw new ApiProblem("ORIGIN_FOREIGN", detail);
}

/** What the page keeps of its login, and sends with what it asks for. */
const KEY_HEADER = "swapd-page-key";

/**
 * A browser sends a cookie to all ports of a host, and another program may listen at one of them: who has the cookie alone
 * may look and not act. What its page keeps stays with this port.
 * @throws ApiProblem
 */
export function assertKey(request: FastifyRequest): void {
  if (bearerOf(request) !== undefined) return;
  const key = request.headers[KEY_HEADER];
  if (typeof key === "string" && cookieOf(request)?.endsWith(markOfKey(key)) === true) return;
  const detail =
    "a login acts from the page alone that it was made on: log out there, and in with a code of `swapd login`";
  throw new ApiProblem("ORIGIN_FOREIGN", detail);
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer ([\w-]{20,200})$/i.exec(headers.authorization ?? "")?.[1];
}

function cookieOf(request: FastifyRequest): string | undefined {
  const name = cookieName(request);
  for (const part of (request.headers.cookie ?? "").split(";")) {
    const [key, value] = part.trim().split("=", 2);
    if (key === name && value !== undefined && /^[\w-]{20,200}$/.test(value)) return value;
  }
  return undefined;
}

/** Browsers send cookies to all ports of a host alike: with the port in its name, two daemons have two logins. */
function cookieName({ headers }: FastifyRequest): string {
  return `swapd_login_${/:(\d{1,5})$/.exec(headers.host ?? "")?.[1] ?? "default"}`;
}

/** Hands a login to the browser. Scripts cannot read it, and other sites' pages cannot use it. */
export function setLogin(request: FastifyRequest, reply: FastifyReply, secret: string): void {
  writeCookie(request, reply, secret, LOGIN_MS / 1_000);
}

/** Takes it back. */
export function clearLogin(request: FastifyRequest, reply: FastifyReply): void {
  writeCookie(request, reply, "", 0);
}

/**
 * Without a path the browser takes the folder that it asked: a proxy may serve this API below another one than it has here.
 * Who came by TLS, as a proxy's callers do, sends it by TLS alone from then on.
 */
function writeCookie(request: FastifyRequest, reply: FastifyReply, value: string, maxAgeSeconds: number): void {
  const isByTls = request.headers.origin?.startsWith("https:") === true;
  const terms = `Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${isByTls ? "; Secure" : ""}`;
  reply.header("set-cookie", `${cookieName(request)}=${value}; ${terms}`);
}
