import { expect, test } from "vitest";
import { createReadModel } from "../../../src/adapters/sqlite/daemon/read-model.ts";
import { createHealthReader } from "../../../src/app/http/health.ts";
import { watchSigners } from "../../../src/app/watch-signers.ts";
import { SigningError } from "../../../src/domain/signing-error.ts";
import { createReach } from "../../../src/engine/reach.ts";
import { SLOT_MS } from "../../support/builders.ts";
import { addUnchecked } from "../../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, openLife, turn } from "../../support/engine-life.ts";

const HOUR_MS = 3_600_000;

/** A daemon with one open run, the world around it, and the health that is read of both. */
async function begin(options: { isAway?: boolean; whyUnable?: () => string | undefined } = {}) {
  const outside = createOutside(SLOT_MS - 5_000);
  outside.chain.isDown = options.isAway === true;
  const life = openLife(outside);
  await life.engine.start();
  await life.engine.tick();
  const { clock } = outside;
  const [node, service] = [createReach({ clock }), createReach({ clock })];
  const reads = createReadModel(life.db);
  const health = createHealthReader({
    mode: "live",
    clock,
    engine: life.engine,
    node,
    service,
    signers: ["main", "spare"],
    reads,
    whyUnable: options.whyUnable ?? (() => undefined),
  });
  return { outside, life, clock, node, service, health };
}

test("is healthy while the scheduler ticks, and no more ten seconds after its last tick, whatever the wall clock says", async () => {
  const { clock, health } = await begin();
  expect(await health.health()).toMatchObject({ healthy: true, mode: "live", operating: { global: "active" } });
  clock.jumpTo(clock.nowMs() - HOUR_MS);
  await clock.advance(9_999);
  expect(await health.health()).toMatchObject({ healthy: true, tickAgeMs: 9_999 });
  await clock.advance(1);
  expect(await health.health()).toMatchObject({ healthy: false, problems: [expect.stringContaining("for 10s")] });
});

test("is healthy and not ready while the node is away, also from the start, and says why and since when", async () => {
  const { outside, life, health } = await begin({ isAway: true });
  await turn(outside, life, 600);
  expect(await health.health()).toMatchObject({ healthy: true, problems: [] });
  expect(await health.readiness()).toMatchObject({
    ready: false,
    node: { ready: false, reason: "no node answered", since: new Date(SLOT_MS - 5_000).toISOString() },
    service: { ready: true },
  });
});

test("is not ready while the service is away or the clocks disagree", async () => {
  const { outside, life, clock, service, health } = await begin();
  service.failed("nobody answers");
  expect(await health.readiness()).toMatchObject({ ready: false, service: { reason: "nobody answers" } });
  service.answered();
  expect(await health.readiness()).toMatchObject({ ready: true });
  clock.jumpTo(clock.nowMs() + HOUR_MS);
  await life.engine.tick();
  expect(await health.readiness()).toMatchObject({ ready: false, clock: { ready: false, skewMs: HOUR_MS } });
  expect((await health.health()).healthy).toBe(true);
  outside.chain.mine();
});

test("is not ready while no endpoint can do what trading needs, and healthy all the same", async () => {
  let why: string | undefined = "nothing can be simulated: add an endpoint";
  const { health } = await begin({ whyUnable: () => why });
  expect(await health.readiness()).toMatchObject({
    ready: false,
    node: { ready: false, reason: why },
  });
  expect((await health.health()).healthy).toBe(true);
  why = undefined;
  expect((await health.readiness()).ready).toBe(true);
});

test("is not ready while the database knows less than the chain, and says what; until it was checked against it, neither", async () => {
  const { life, health } = await begin();
  const key = { wallet: ACCOUNT, token: undefined, scope: "wallet", facts: {} } as const;
  expect(await health.readiness()).toMatchObject({ ready: true, database: { ready: true } });
  await addUnchecked(life.context, ACCOUNT);
  expect(await health.readiness()).toMatchObject({
    ready: false,
    database: { reason: expect.stringContaining("until") },
  });
  const nonce = { ...key, key: "nonce 1", kind: "nonce", text: "the chain counts more" } as const;
  life.store.addDifference(nonce, { ms: SLOT_MS, sinceBoot: { id: "boot", ms: 0 } });
  expect(await health.readiness()).toMatchObject({
    ready: false,
    database: { ready: false, reason: "the chain counts more", since: new Date(SLOT_MS).toISOString() },
  });
  for (const { id } of life.store.openDifferences()) life.store.settleDifference(id, { by: "ops", atMs: SLOT_MS });
  expect((await health.readiness()).ready).toBe(true);
  expect((await health.health()).healthy).toBe(true);
});

test("is not ready while the signer of a wallet is away, says whose, and hears nothing of one that is configured no more", async () => {
  const { outside, life, clock, health } = await begin();
  const watch = watchSigners(life.context.deps);
  await watch.heard("gone", new SigningError("away", "the signer at old:9000 does not answer"));
  expect(await health.readiness()).toMatchObject({ ready: true, signer: { ready: true, reason: null, away: [] } });
  await clock.advance(1_000);
  const since = new Date(clock.nowMs()).toISOString();
  await watch.heard("main", new SigningError("away", "the signer at vault:9000 does not answer"));
  expect(await health.readiness()).toMatchObject({
    ready: false,
    signer: { ready: false, reason: expect.stringContaining("vault:9000 does not answer"), since, away: ["main"] },
  });
  await turn(outside, life, 60);
  expect((await health.health()).healthy, "a restart would bring no signer back").toBe(true);
  await watch.heard("main", undefined);
  expect(await health.readiness()).toMatchObject({ ready: true, signer: { since: null, away: [] } });
});

/** Puts a run or an effect there that nothing in this process works on: the engine is not started. */
function stuck() {
  const outside = createOutside(SLOT_MS);
  const life = openLife(outside);
  const { clock } = outside;
  const [node, service] = [createReach({ clock }), createReach({ clock })];
  const engine = { tickAgeMs: () => 0, waitingFor: () => undefined, clocks: life.engine.clocks };
  const reads = createReadModel(life.db);
  const health = createHealthReader({
    mode: "live",
    clock,
    engine,
    node,
    service,
    signers: ["main", "spare"],
    reads,
    whyUnable: () => undefined,
  });
  const window = SLOT_MS + 60_000;
  const run = { id: "run_1", strategyId: "weekly", slotMs: SLOT_MS, slots: 1, state: "due" as const, swaps: [] };
  const rest = { reason: undefined, detail: undefined, specHash: "spec", windowEndsMs: window, retries: 0 };
  life.store.insertRun({ ...run, ...rest }, SLOT_MS);
  return { clock, node, service, health, life };
}

test("is unhealthy once a run that was due is stuck beyond its window", async () => {
  const { clock, health } = stuck();
  await clock.advance(6 * 60_000 + 1);
  expect((await health.health()).healthy).toBe(true);
  await clock.advance(60_000);
  expect(await health.health()).toMatchObject({
    healthy: false,
    problems: ["run run_1 has not ended, although its window is over"],
  });
});

test("is unhealthy once an effect is stuck beyond its bound", async () => {
  const { clock, health, life } = stuck();
  life.db.prepare("UPDATE runs SET window_ends_ms = ?").run(SLOT_MS + 100 * HOUR_MS);
  life.db
    .prepare("INSERT INTO effects (run_id, kind, version, payload, not_before_ms, created_at_ms) VALUES (?,?,?,?,?,?)")
    .run("run_1", "FetchQuote", 1, "{}", SLOT_MS, SLOT_MS);
  await clock.advance(900_001);
  expect((await health.health()).healthy).toBe(true);
  await clock.advance(60_000);
  expect((await health.health()).problems).toEqual([
    expect.stringMatching(/^effect \d+ \(FetchQuote of run_1\) has been due/),
  ]);
});

test("a jump of the wall clock makes nothing late at once, and a service that fails to answer excuses what waits for it", async () => {
  const { clock, service, health } = stuck();
  clock.jumpTo(clock.nowMs() + HOUR_MS);
  expect((await health.health()).healthy).toBe(true);
  await clock.advance(30_000);
  expect((await health.health()).healthy).toBe(true);
  service.failed("nobody answers");
  await clock.advance(60_000);
  expect((await health.health()).healthy).toBe(true);
  // Nobody has called it for five minutes: then it is not the service that is waited for.
  await clock.advance(300_000);
  await health.health();
  await clock.advance(60_000);
  expect((await health.health()).healthy).toBe(false);
});
