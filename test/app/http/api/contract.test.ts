import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { recordAudit } from "../../../../src/adapters/sqlite/daemon/audit-store.ts";
import { openApiText } from "../../../../src/app/http/api/openapi.ts";
import { OPERATIONS, type OperationId } from "../../../../src/app/http/api/operations.ts";
import { hashOfCode, hashOfSecret } from "../../../../src/app/http/api/secrets.ts";
import { DESCRIBED, DESCRIBED_EVENTS, wrongInEvent } from "../../../support/api-document.ts";
import { listen } from "../../../support/api-events.ts";
import { type Answer, type ApiLife, type Ask, startApiLife } from "../../../support/api-life.ts";
import { alertSample } from "../../../support/builders.ts";
import { turn } from "../../../support/engine-life.ts";

const CODE = "ABCD-EFGH-2345";

interface Call {
  /** what stands in the braces of its path */
  readonly id?: string;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** the list in its answer that must not be empty: an empty one shows nothing of what is in it */
  readonly fills?: string;
}

/** How each operation is asked. One that is added to the API has to be added here. */
const CALLS: Readonly<Record<OperationId | "followEvents", Call>> = {
  getSession: {},
  login: { body: { code: CODE } },
  logout: {},
  getInfo: { fills: "strategies" },
  getStatus: { fills: "strategies" },
  listRuns: { fills: "items" },
  getRun: { id: "the run", fills: "transitions" },
  listFills: { fills: "items" },
  listStrategies: { fills: "strategies" },
  getStrategy: { id: "weekly" },
  getWhy: { id: "weekly" },
  getWhyNext: { id: "weekly", fills: "swaps" },
  getPortfolio: {},
  getPortfolioHistory: { fills: "tokens" },
  getPrices: { id: "WETH" },
  getServices: { fills: "endpoints" },
  listWallets: { fills: "wallets" },
  listAllowances: {},
  listTransactions: { fills: "transactions" },
  listAlerts: { fills: "items" },
  listProposals: {},
  getAudit: { fills: "recent" },
  listActions: { fills: "items" },
  act: { body: { action: "pause", strategy: "weekly" }, headers: { "idempotency-key": "key-1" } },
  followEvents: {},
};

interface FullLife extends ApiLife {
  readonly runId: string;
  /** a token that was revoked, and one whose time is over */
  readonly over: Readonly<Record<"revoked" | "expired", string>>;
}

/** A daemon that has something to show in most lists, and a code that waits. */
async function startFullLife(): Promise<FullLife> {
  const life = await startApiLife();
  const { access, store } = life.sources;
  const nowMs = life.outside.clock.nowMs();
  const changes = [{ kind: "alert", alert: alertSample() }] as const;
  await store.commit([{ question: { kind: "nothing" }, decide: () => ({ changes, atMs: nowMs, value: undefined }) }]);
  recordAudit(life.life.db, {
    ...{ madeBy: "ops", atMs: nowMs, fromBlock: 5, fromMs: null, toBlock: 9, differences: 1, lookedAt: "1 runs" },
    findings: [{ code: "SOLD_DIFFERS", subject: "swap", message: "differs" }],
  });
  await access.addCode(
    { name: "ops", scope: "operate", hash: hashOfCode(CODE), madeBy: "ops", untilMs: nowMs + 600_000 },
    nowMs,
  );
  const over = { revoked: `swapd_${"v".repeat(43)}`, expired: `swapd_${"e".repeat(43)}` };
  for (const [name, token] of Object.entries(over)) {
    const untilMs = name === "expired" ? nowMs : undefined;
    await access.addToken({ name, scope: "operate", hash: hashOfSecret(token), madeBy: "ops", untilMs }, nowMs - 1_000);
  }
  await access.revoke("revoked", nowMs);
  const runs = await life.as("read", "/api/v1/runs");
  return { ...life, over, runId: runs.json.items[0].id };
}

const CALLED = DESCRIBED.map((operation) => ({ operation, call: CALLS[operation.id as OperationId] }));
/** All but the stream, which has no end. */
const ANSWERED = CALLED.filter(({ operation }) => operation.id !== "followEvents");
const CHANGING = CALLED.filter(({ operation }) => operation.method !== "GET");

function ask(
  life: FullLife,
  { operation: { method, path }, call: { id = "weekly", body, headers } }: (typeof CALLED)[number],
  more: Ask = {},
): Promise<Answer> {
  const place = path.replace(/\{\w+\}/, id === "the run" ? life.runId : id);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return life.ask(place, { method, ...sent, ...more, headers: { ...headers, ...more.headers } });
}

const bearer = (token: string): Ask => ({ headers: { authorization: `Bearer ${token}` } });

function expectProblem({ operation }: (typeof CALLED)[number], answer: Answer, status: number, code: string): void {
  const found = { id: operation.id, status: answer.status, code: answer.json?.code };
  expect(found).toEqual({ id: operation.id, status, code });
  expect([operation.id, operation.wrongIn(answer.json, "problem")]).toEqual([operation.id, undefined]);
  expect(answer.headers["content-type"]).toBe("application/problem+json; charset=utf-8");
}

/** What a request that is refused must not have written. */
function written(life: FullLife): unknown {
  const count = (table: string): unknown => life.life.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  return [
    count("requests"),
    count("access"),
    life.life.db.prepare("SELECT count(*) FROM access WHERE ended_at_ms IS NULL").pluck().get(),
  ];
}

it("is whole: each operation of the table is in the document and has a call here, and none besides", () => {
  const described = DESCRIBED.map(({ id }) => id).sort();
  expect(described).toEqual([...Object.keys(OPERATIONS), "followEvents"].sort());
  expect(Object.keys(CALLS).sort()).toEqual(described);
  for (const { operation, call } of CALLED)
    expect([operation.id, call.body !== undefined]).toEqual([operation.id, operation.takesBody]);
});

it("answers each operation as the document says, to the scope that it names", async () => {
  const life = await startFullLife();
  // Lists show nothing of what is in them while they are empty: actions are asked for before they are listed.
  const inOrder = [...ANSWERED].sort(
    (one, other) => Number(other.operation.id === "act") - Number(one.operation.id === "act"),
  );
  for (const called of inOrder) {
    const { operation, call } = called;
    const asking = ask(life, called, operation.scope === "none" ? {} : bearer(life.tokens[operation.scope]));
    if (operation.id === "act")
      await expect.poll(() => life.life.db.prepare("SELECT count(*) FROM requests").pluck().get()).toBe(1);
    if (operation.id === "act") await turn(life.outside, life.life, 2);
    const answer = await asking;
    const found = { id: operation.id, status: answer.status, wrong: operation.wrongIn(answer.json, "ok") };
    expect(found).toEqual({ id: operation.id, status: 200, wrong: undefined });
    if (call.fills !== undefined)
      expect([operation.id, answer.json[call.fills].length > 0]).toEqual([operation.id, true]);
    if (operation.id === "act") expect(answer.json.state).toBe("done");
    if (operation.id === "login") expect(answer.json.scope).toBe("operate");
  }
}, 20_000);

it("refuses each operation in the document's form without a token, with one that is unknown, revoked or over, and with one that is too narrow", async () => {
  const life = await startFullLife();
  const before = written(life);
  for (const called of CALLED) {
    const { scope } = called.operation;
    if (scope === "none") continue;
    for (const how of [{}, bearer(`swapd_${"x".repeat(43)}`), bearer(life.over.revoked), bearer(life.over.expired)])
      expectProblem(called, await ask(life, called, how), 401, "LOGIN_NEEDED");
    const cookie = `swapd_login_${new URL(life.url).port}=${life.over.expired}`;
    expectProblem(called, await ask(life, called, { headers: { cookie, origin: life.url } }), 401, "LOGIN_NEEDED");
    if (scope === "operate")
      expectProblem(called, await ask(life, called, bearer(life.tokens.read)), 403, "SCOPE_TOO_NARROW");
  }
  expect(written(life)).toEqual(before);
}, 20_000);

it("answers no operation under a name that a foreign page led a browser here by", async () => {
  const life = await startFullLife();
  const before = written(life);
  for (const called of CALLED)
    for (const host of ["evil.example", `evil.example:${new URL(life.url).port}`, "127.0.0.1.evil.example"]) {
      const headers = { host, authorization: `Bearer ${life.tokens.operate}` };
      expectProblem(called, await ask(life, called, { headers }), 421, "HOST_UNKNOWN");
    }
  expect(written(life)).toEqual(before);
}, 20_000);

it("takes nothing that changes something from another site's page, with a token and with a cookie", async () => {
  const life = await startFullLife();
  const before = written(life);
  const cookie = `swapd_login_${new URL(life.url).port}=${life.tokens.operate}`;
  for (const called of CHANGING)
    for (const origin of ["https://evil.example", "null", "http://127.0.0.1:1", `https://${life.host}.evil.example`])
      for (const who of [{ cookie }, { authorization: `Bearer ${life.tokens.operate}` }, {}])
        expectProblem(called, await ask(life, called, { headers: { origin, ...who } }), 403, "ORIGIN_FOREIGN");
  for (const called of CHANGING)
    expectProblem(called, await ask(life, called, { headers: { cookie } }), 403, "ORIGIN_FOREIGN");
  expect(written(life)).toEqual(before);
}, 20_000);

it("takes no body that is too large, no JSON, or not what the document describes", async () => {
  const life = await startFullLife();
  const before = written(life);
  const authorization = `Bearer ${life.tokens.operate}`;
  for (const called of CHANGING.filter(({ operation }) => operation.takesBody)) {
    const body = JSON.stringify({ ...called.call.body, reason: "x".repeat(5_000) });
    expectProblem(called, await ask(life, called, { body, headers: { authorization } }), 413, "BODY_TOO_LARGE");
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "text/html",
    ])
      expectProblem(
        called,
        await ask(life, called, { headers: { authorization, "content-type": type } }),
        415,
        "BODY_NOT_JSON",
      );
    for (const odd of [
      "{",
      "",
      "null",
      "[]",
      "1",
      '"text"',
      "{}",
      '{"__proto__":{"action":"pause"}}',
      '{"code":1,"action":1}',
    ])
      expectProblem(
        called,
        await ask(life, called, { body: odd, headers: { authorization } }),
        400,
        "REQUEST_MALFORMED",
      );
  }
  expect(written(life)).toEqual(before);
}, 20_000);

it("sends every event of the document in the document's form", async () => {
  const life = await startFullLife();
  const { heard } = listen(life, "99999.1");
  await expect.poll(() => heard.length).toBe(3);
  const body = JSON.stringify({ action: "run", strategy: "weekly", extra: true });
  const headers = { "idempotency-key": "run-1", authorization: `Bearer ${life.tokens.operate}` };
  const asking = life.ask("/api/v1/actions", { method: "POST", body, headers });
  await expect.poll(() => life.life.db.prepare("SELECT count(*) FROM requests").pluck().get()).toBe(1);
  await turn(life.outside, life.life, 3);
  await asking;
  const { store } = life.sources;
  const row = { scope: "global", mode: "paused", setBy: "ops", reason: "holiday", atMs: 1 } as const;
  await store.commit([
    { question: { kind: "nothing" }, decide: () => ({ changes: [{ kind: "mode", row }], atMs: 1, value: undefined }) },
  ]);
  await expect
    .poll(() => new Set(heard.map(({ event }) => event)).size, { timeout: 5_000 })
    .toBe(DESCRIBED_EVENTS.length);
  expect([...new Set(heard.map(({ event }) => event))].sort()).toEqual([...DESCRIBED_EVENTS].sort());
  for (const { event, data } of heard) expect([event, wrongInEvent(event, data)]).toEqual([event, undefined]);
}, 20_000);

it("is served to everybody as it stands in docs/openapi.json, which `npm run openapi` writes", async () => {
  const life = await startApiLife({ seconds: 1 });
  const kept = readFileSync(new URL("../../../../docs/openapi.json", import.meta.url), "utf8");
  expect(kept).toBe(openApiText());
  expect((await life.ask("/api/v1/openapi.json")).json).toEqual(JSON.parse(kept));
});
