import { expect, it } from "vitest";
import { type ApiLife, type Ask, startApiLife } from "../../../support/api-life.ts";
import { openLife, turn } from "../../../support/engine-life.ts";

const action = (body: object, key: string): Ask => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "idempotency-key": key },
});

/** Asks, and lets the daemon's next second come meanwhile. */
async function act(life: ApiLife, body: object, key: string) {
  const asked = life.as("operate", "/api/v1/actions", action(body, key));
  await expect.poll(() => life.life.db.prepare("SELECT count(*) FROM requests").pluck().get()).toBeGreaterThan(0);
  await turn(life.outside, life.life, 2);
  return await asked;
}

it.each([
  [{ action: "pause", strategy: "weekly", reason: "holiday" }, "weekly is paused"],
  [{ action: "halt" }, "global is halted"],
  [{ action: "exits-only" }, "global is exits-only"],
  [{ action: "resume" }, "global is active"],
  [{ action: "skip", strategy: "weekly" }, "will not run"],
  [{ action: "run", strategy: "weekly", extra: true }, "besides the schedule"],
])("asks the daemon for %j by a row, and records who and why", async (body, answer) => {
  const life = await startApiLife();
  const done = await act(life, body, "key-1");
  expect(done.json).toMatchObject({ state: "done", by: "t-operate (token)", answer: expect.stringContaining(answer) });
  const [listed] = (await life.as("read", "/api/v1/actions")).json.items;
  expect(listed).toEqual(done.json);
  expect(listed).toMatchObject({ action: body.action, reason: "reason" in body ? body.reason : null });
});

it("says what the daemon refused, and why", async () => {
  const life = await startApiLife();
  const refused = await act(life, { action: "run", strategy: "none" }, "key-1");
  expect(refused.json).toMatchObject({ state: "refused", answer: 'refused: no strategy "none"' });
  const approved = await act(life, { action: "approve", run: "run_none" }, "key-2");
  expect(approved.json).toMatchObject({ state: "refused", action: "approve", target: "run_none" });
});

it.each([
  ["revoke", { wallet: "0x11", token: "0x22", spender: "0x33" }, "0x22"],
  ["cancel", { intent: "int_1" }, "int_1"],
  ["mode", { mode: "halted" }, "global"],
])("records what %s, asked for by a command, is about", async (command, args, target) => {
  const life = await startApiLife();
  life.life.store.addRequest({ command, arguments: args, madeBy: "ops", madeAtMs: 0 });
  const [listed] = (await life.as("read", "/api/v1/actions")).json.items;
  expect(listed).toMatchObject({ target, by: "ops" });
});

it("refuses no slot of a strategy where a run is to be refused", async () => {
  const life = await startApiLife();
  const refused = await act(life, { action: "refuse", run: "weekly" }, "key-1");
  expect(refused.json).toMatchObject({
    state: "refused",
    answer: 'refused: no run "weekly"; see: swapd history --json',
  });
  expect(life.life.db.prepare("SELECT count(*) FROM gaps WHERE reason LIKE 'skipped%'").pluck().get()).toBe(0);
});

it("shows a reason in one line, whatever is in it: it obeys no terminal, and nothing is turned around by it", async () => {
  const life = await startApiLife();
  const reason = "gone\u001b[31m\nglobal is active\u202egnihton";
  const done = await act(life, { action: "halt", reason }, "key-1");
  expect(done.json).toMatchObject({ state: "done", reason: "gone [31m global is active gnihton" });
  const { alerts, modes } = (await life.as("read", "/api/v1/status")).json;
  expect(JSON.stringify([alerts, modes])).not.toMatch(/\\n|\\u001b|\u202e/);
});

it("acts once under a key, however often it is sent, also by a process that knows nothing of the first", async () => {
  const life = await startApiLife();
  const body = { action: "run", strategy: "weekly", extra: true };
  const first = await act(life, body, "same");
  const again = await life.as("operate", "/api/v1/actions", action(body, "same"));
  expect(again.json).toEqual(first.json);
  const other = await life.as("operate", "/api/v1/actions", action({ ...body, extra: false }, "same"));
  expect(other.json).toMatchObject({ status: 409, code: "KEY_USED" });
  expect(life.life.db.prepare("SELECT count(*) FROM requests").pluck().get()).toBe(1);
  expect(life.life.db.prepare("SELECT count(*) FROM runs").pluck().get()).toBe(2);
});

it("is done once by the next life, where the daemon is killed between the row and its answer", async () => {
  const life = await startApiLife();
  const body = { action: "run", strategy: "weekly", extra: true };
  life.life.kill();
  const lost = await life.as("operate", "/api/v1/actions", action(body, "same"));
  expect(lost.json).toMatchObject({ state: "waiting", answer: null });
  const next = openLife(life.outside);
  await next.engine.start();
  await turn(life.outside, next, 5);
  const found = await life.as("operate", "/api/v1/actions", action(body, "same"));
  expect(found.json).toMatchObject({ id: lost.json.id, state: "done" });
  expect(next.db.prepare("SELECT count(*) FROM runs").pluck().get()).toBe(2);
}, 20_000);

it.each([
  [{ action: "run", strategy: "weekly", extra: true }, "refused"],
  [{ action: "resume" }, "refused"],
  [{ action: "skip", strategy: "weekly" }, "refused"],
  [{ action: "halt" }, "done"],
])(
  "does what a token asked for that was revoked before %j was taken only where it stops something",
  async (body, state) => {
    const life = await startApiLife();
    life.life.kill();
    await life.as("operate", "/api/v1/actions", action(body, "key-1"));
    expect(await life.sources.access.revoke("t-operate", life.outside.clock.nowMs())).toBe(true);
    const next = openLife(life.outside);
    await next.engine.start();
    await turn(life.outside, next, 5);
    const [listed] = (await life.as("read", "/api/v1/actions")).json.items;
    expect(listed).toMatchObject({ action: body.action, state });
  },
  20_000,
);

it("lets a no to a run stand whose asker was revoked before it was taken", async () => {
  const life = await startApiLife();
  const { access } = life.sources;
  life.life.kill();
  const [asker] = (await access.list(life.outside.clock.nowMs())).filter(({ name }) => name === "t-operate");
  const request = { command: "skip", arguments: { run: "run_none" }, madeBy: "t-operate (token)" };
  const written = await access.request({ accessId: asker?.id ?? 0, key: "key-1", asked: "a" }, request, 1);
  await access.revoke("t-operate", life.outside.clock.nowMs());
  const answer = life.life.db.prepare("SELECT answer FROM requests WHERE id = ?").pluck();
  expect(answer.get(typeof written === "string" ? 0 : written.id)).toBe(null);
});

it("takes no more than so many waiting actions of one asker, but a halt, and what another one asks for", async () => {
  const life = await startApiLife();
  const { access } = life.sources;
  life.life.kill();
  const known = await access.list(life.outside.clock.nowMs());
  const ask = (name: string, key: string, mode: string, scope = "global") => {
    const accessId = known.find((one) => one.name === name)?.id ?? 0;
    return access.request(
      { accessId, key, asked: "a" },
      { command: "mode", arguments: { mode, scope }, madeBy: `${name} (token)` },
      1,
    );
  };
  const [one, other] = ["t-operate", "t-read"] as const;
  for (let n = 0; n < 50; n += 1)
    expect(await ask(one, `key-${n}`, "paused")).toMatchObject({ id: expect.any(Number) });
  const refused = await life.as("operate", "/api/v1/actions", action({ action: "pause" }, "one-more"));
  expect(refused.json).toMatchObject({
    status: 429,
    code: "TOO_MANY",
    detail: expect.stringContaining("A halt of everything is taken"),
  });
  expect(await ask(one, "key-7", "paused"), "what waits is found by its key").toMatchObject({ id: 8 });
  expect(await ask(one, "halt-one", "halted", "nobody"), "names cost nothing").toBe("too-many");
  expect(await ask(one, "halt", "halted")).toMatchObject({ id: 51 });
  expect(await ask(other, "key-1", "paused")).toMatchObject({ id: 52 });
  life.life.db.exec("UPDATE requests SET taken_at_ms = 2, answer = 'done' WHERE id < 5");
  expect(await ask(one, "later", "paused"), "what was taken makes room").toMatchObject({ id: expect.any(Number) });
});

it.each([
  [{ action: "withdraw" }, "key"],
  [{ action: "run" }, "key"],
  [{ action: "approve", strategy: "weekly" }, "key"],
  [{ action: "pause", policy: { max_trade: "1e9 USD" } }, "key"],
  [{ action: "pause" }, ""],
  [{ action: "pause" }, "x".repeat(101)],
])("writes nothing for %j under the key %j", async (body, key) => {
  const life = await startApiLife({ seconds: 1 });
  const answer = await life.as("operate", "/api/v1/actions", action(body, key));
  expect(answer.json).toMatchObject({ status: 400, code: "REQUEST_MALFORMED" });
  expect(life.life.db.prepare("SELECT count(*) FROM requests").pluck().get()).toBe(0);
});
