import { expect, it } from "vitest";
import { hashOfCode } from "../../../../src/app/http/api/secrets.ts";
import { type ApiLife, startApiLife } from "../../../support/api-life.ts";

const CODE = "ABCD-EFGH-2345";

async function withCode(life: ApiLife, scope: "read" | "operate" = "operate"): Promise<void> {
  const untilMs = life.outside.clock.nowMs() + 600_000;
  const code = { name: "ops", scope, hash: hashOfCode(CODE), madeBy: "ops", untilMs };
  await life.sources.access.addCode(code, life.outside.clock.nowMs());
}

const asCode = (code: string) => ({ method: "POST", body: JSON.stringify({ code }) });

/** Logs in. @returns the cookie as a browser sends it, and what the page keeps */
async function logInAs(life: ApiLife, scope: "read" | "operate" = "operate") {
  await withCode(life, scope);
  const answer = await life.ask("/api/v1/session", asCode(CODE));
  expect(answer.status).toBe(200);
  const cookie = answer.headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
  return { cookie, "swapd-page-key": String(answer.json.key) };
}

const logIn = async (life: ApiLife, scope: "read" | "operate" = "operate"): Promise<string> =>
  (await logInAs(life, scope)).cookie;

it("logs a browser in by a code once, however it is typed, and never again by the same", async () => {
  const life = await startApiLife({ seconds: 1 });
  await withCode(life);
  const first = await life.ask("/api/v1/session", asCode(" abcd efgh-2345 "));
  expect(first.json).toMatchObject({ scope: "operate", name: expect.stringMatching(/^ops-\d+$/) });
  const [cookie = ""] = first.headers["set-cookie"] ?? [];
  for (const term of ["HttpOnly", "SameSite=Strict"]) expect(cookie).toContain(term);
  expect((await life.ask("/api/v1/status", { headers: { cookie } })).status).toBe(200);
  expect((await life.ask("/api/v1/session", asCode(CODE))).json).toMatchObject({ status: 401, code: "CODE_WRONG" });
  expect(JSON.stringify(life.logger.lines)).not.toMatch(/ABCD|swapd_/);
});

it.each([
  ["https://swapd.internal", true],
  ["http://swapd.internal", false],
])("hands the login of %s to TLS alone, and takes it back the same way: %s", async (origin, isSecure) => {
  const life = await startApiLife({ seconds: 1 });
  await withCode(life);
  const headers = { host: "swapd.internal", origin };
  for (const how of [asCode(CODE), { method: "DELETE" }]) {
    const answer = await life.ask("/api/v1/session", { ...how, headers });
    const [cookie = ""] = answer.headers["set-cookie"] ?? [];
    expect([answer.status, cookie.endsWith("; Secure")]).toEqual([200, isSecure]);
  }
});

it("leaves the login's path to the browser: a proxy may serve the API below a folder of its own", async () => {
  const life = await startApiLife({ seconds: 1 });
  await withCode(life);
  for (const how of [asCode(CODE), { method: "DELETE" }]) {
    const [cookie] = (await life.ask("/api/v1/session", how)).headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/^swapd_login_/);
    expect(cookie).not.toMatch(/path=/i);
  }
});

it("takes no code after ten minutes, and no code that another one followed", async () => {
  const life = await startApiLife({ seconds: 1 });
  await withCode(life);
  await life.outside.clock.advance(600_000);
  expect((await life.ask("/api/v1/session", asCode(CODE))).status).toBe(401);
  const nowMs = life.outside.clock.nowMs();
  for (const code of ["FFFF-FFFF-FFFF", "GGGG-GGGG-GGGG"])
    await life.sources.access.addCode(
      { name: "ops", scope: "read", hash: hashOfCode(code), madeBy: "ops", untilMs: nowMs + 600_000 },
      nowMs,
    );
  expect((await life.ask("/api/v1/session", asCode("FFFF-FFFF-FFFF"))).status).toBe(401);
  expect((await life.ask("/api/v1/session", asCode("GGGG-GGGG-GGGG"))).status).toBe(200);
});

it("lets nobody guess codes, and nobody keep its owner out: the eleventh wrong one of a minute is refused", async () => {
  const life = await startApiLife({ seconds: 1 });
  await withCode(life);
  for (let attempt = 0; attempt < 10; attempt += 1)
    expect((await life.ask("/api/v1/session", asCode("ZZZZ-ZZZZ-ZZZZ"))).status).toBe(401);
  const answer = await life.ask("/api/v1/session", asCode("ZZZZ-ZZZZ-ZZZZ"));
  expect([answer.status, answer.headers["retry-after"]]).toEqual([429, "30"]);
  expect((await life.ask("/api/v1/session", asCode(CODE))).status).toBe(200);
  expect((await life.ask("/api/v1/session", asCode(CODE))).status).toBe(429);
});

it("keeps hashes alone: neither code nor token nor cookie is in the database", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { cookie, "swapd-page-key": key } = await logInAs(life);
  const rows = JSON.stringify(life.life.db.prepare("SELECT * FROM access").all());
  const codes = [CODE, CODE.replaceAll("-", "")];
  for (const secret of [...codes, life.tokens.read, life.tokens.operate, cookie.split("=")[1], key])
    expect(rows).not.toContain(secret);
});

it("ends a login with a logout, and a token with its revocation, from the next request on", async () => {
  const life = await startApiLife({ seconds: 1 });
  const cookie = await logIn(life);
  const origin = life.url;
  expect((await life.ask("/api/v1/session", { method: "DELETE", headers: { cookie, origin } })).status).toBe(200);
  expect((await life.ask("/api/v1/status", { headers: { cookie } })).status).toBe(401);
  await life.sources.access.revoke("t-read", life.outside.clock.nowMs());
  expect((await life.as("read", "/api/v1/status")).status).toBe(401);
});

const PAUSE = { method: "POST", body: JSON.stringify({ action: "pause" }) };

it("takes no action from who may only read, with a token and with a login", async () => {
  const life = await startApiLife({ seconds: 1 });
  const cookie = await logIn(life, "read");
  const headers = { "idempotency-key": "one", origin: life.url };
  for (const answer of [
    await life.as("read", "/api/v1/actions", { ...PAUSE, headers }),
    await life.ask("/api/v1/actions", { ...PAUSE, headers: { ...headers, cookie } }),
  ])
    expect(answer.json).toMatchObject({ status: 403, code: "SCOPE_TOO_NARROW" });
  expect((await life.as("read", "/api/v1/actions")).json.items).toEqual([]);
});

it.each([
  ["of another site", { origin: "https://evil.example" }],
  ["of another port of this machine", { origin: "http://127.0.0.1:1" }],
  ["of no site", { origin: "null" }],
  ["that is not named", {}],
])("takes no action from a browser's page %s", async (_what, origin) => {
  const life = await startApiLife({ seconds: 1 });
  const headers = { ...(await logInAs(life)), "idempotency-key": "one", ...origin };
  for (const [path, how] of [
    ["/api/v1/actions", PAUSE],
    ["/api/v1/session", { method: "DELETE" }],
  ] as const)
    expect((await life.ask(path, { ...how, headers })).json).toMatchObject({ status: 403, code: "ORIGIN_FOREIGN" });
  expect((await life.as("read", "/api/v1/actions")).json.items).toEqual([]);
});

it("lets who got the cookie alone look and not act: browsers send it to other ports of the host too", async () => {
  const life = await startApiLife({ seconds: 1 });
  const { cookie, "swapd-page-key": key } = await logInAs(life);
  const headers = { cookie, "idempotency-key": "one", origin: life.url };
  expect((await life.ask("/api/v1/status", { headers: { cookie } })).status).toBe(200);
  for (const guess of ["", cookie.split("=")[1] ?? "", `${key}x`, "undefined"]) {
    const answer = await life.ask("/api/v1/actions", { ...PAUSE, headers: { ...headers, "swapd-page-key": guess } });
    expect(answer.json).toMatchObject({ status: 403, code: "ORIGIN_FOREIGN" });
  }
  expect((await life.ask("/api/v1/actions", { ...PAUSE, headers })).json).toMatchObject({ status: 403 });
  expect((await life.as("read", "/api/v1/actions")).json.items).toEqual([]);
  // The key is told once, and is no login by itself.
  expect((await life.ask("/api/v1/session", { headers: { cookie } })).json.key).toBeNull();
  expect((await life.ask("/api/v1/status", { headers: { authorization: `Bearer ${key}` } })).status).toBe(401);
  // As a token it is nothing either.
  const authorization = `Bearer ${cookie.split("=")[1]}`;
  expect((await life.ask("/api/v1/status", { headers: { authorization } })).status).toBe(401);
  const posed = await life.ask("/api/v1/actions", { ...PAUSE, headers: { authorization, "idempotency-key": "one" } });
  expect(posed.status).toBe(401);
  const own = await life.ask("/api/v1/actions", { ...PAUSE, headers: { ...headers, "swapd-page-key": key } });
  expect(own.status).toBe(200);
});

it("takes a form of another site for no JSON", async () => {
  const life = await startApiLife({ seconds: 1 });
  for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
    const headers = { "content-type": type, "idempotency-key": "one" };
    const answer = await life.as("operate", "/api/v1/actions", { ...PAUSE, headers });
    expect([type, answer.status, answer.json.code]).toEqual([type, 415, "BODY_NOT_JSON"]);
  }
});

it.each(["evil.example", "evil.example:9464", "127.0.0.1.evil.example"])(
  "answers nothing under the name %s, to which a foreign page led its visitors",
  async (host) => {
    const life = await startApiLife({ seconds: 1 });
    for (const path of ["/api/v1/session", "/api/v1/status", "/api/v1/openapi.json"]) {
      const answer = await life.as("operate", path, { headers: { host } });
      expect([path, answer.status]).toEqual([path, 421]);
    }
    const login = await life.ask("/api/v1/session", { ...asCode(CODE), headers: { host } });
    expect(login.status).toBe(421);
  },
);

it("reads no body that is larger than an action can be", async () => {
  const life = await startApiLife({ seconds: 1 });
  const body = JSON.stringify({ action: "pause", reason: "x".repeat(5_000) });
  const answer = await life.as("operate", "/api/v1/actions", {
    method: "POST",
    body,
    headers: { "idempotency-key": "k" },
  });
  expect(answer.json).toMatchObject({ status: 413, code: "BODY_TOO_LARGE" });
});

it("takes a token in the header alone, never in the address", async () => {
  const life = await startApiLife({ seconds: 1 });
  for (const name of ["token", "access_token", "authorization"])
    expect((await life.ask(`/api/v1/info?${name}=${life.tokens.read}`)).status).toBe(401);
});

it("shows hostile names as data: no browser takes an answer for a page", async () => {
  const evil = "</script><img src=x onerror=alert(1)>";
  const life = await startApiLife({ seconds: 60 });
  life.life.db.prepare("UPDATE swaps SET buy_symbol = ?").run(evil);
  const answer = await life.as("read", "/api/v1/runs");
  expect(answer.json.items[0].swaps[0].buy.symbol).toBe(evil);
  const path = `/api/v1/strategies/${encodeURIComponent(evil)}`;
  for (const one of [answer, await life.as("read", path)]) {
    expect(one.headers["content-type"]).toMatch(/^application\/(problem\+)?json; charset=utf-8$/);
    expect(one.headers["x-content-type-options"]).toBe("nosniff");
    expect(one.headers["content-security-policy"]).toContain("default-src 'none'");
  }
  expect((await life.as("read", path)).status).toBe(404);
});
