import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { NOW_MS, runSample, SLOT_MS } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { ACCOUNT, createOutside, Killed, type Life, openLife, turn } from "../support/engine-life.ts";
import { swapIn } from "../support/reading-samples.ts";

/** A strategy that is not due for days: nothing but the watch asks anybody. */
const RARELY = { schedule: { kind: "every", seconds: 864_000 } } as const;
const UNREACHABLE = {
  kind: "refused",
  code: "UNREACHABLE",
  message: "reset",
  status: undefined,
  retryable: true,
} as const;

function begin(nowMs = NOW_MS) {
  const outside = createOutside(nowMs, RARELY);
  return { outside, life: openLife(outside) };
}

const alertsOf = ({ db }: Life): unknown =>
  db.prepare("SELECT code, over_at_ms IS NOT NULL FROM alerts ORDER BY number").raw().all();

test("a node that is away is reported once, a minute later, with no run due, and it is over with its first answer", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  await turn(outside, life, 20);
  outside.chain.isDown = true;
  await turn(outside, life, 55);
  expect(alertsOf(life)).toEqual([]);
  await turn(outside, life, 300);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 0]]);
  expect(outside.reported).toMatchObject([{ severity: "critical", code: "NODE_UNREACHABLE" }]);
  outside.chain.isDown = false;
  await turn(outside, life, 16);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 1]]);
  await life.engine.stop();
});

test("a node that answers, but not what a start needs, is reported after a minute, and it is over when the work begins", async () => {
  const { outside, life } = begin();
  const { decimals } = outside.chain;
  outside.chain.decimals = () => Promise.reject(new ChainReadError("refused", "missing trie node"));
  await life.engine.start();
  await turn(outside, life, 55);
  expect(alertsOf(life)).toEqual([]);
  await turn(outside, life, 60);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 0]]);
  expect(outside.reported).toMatchObject([
    { severity: "critical", text: expect.stringContaining("missing trie node") },
  ]);
  outside.chain.decimals = decimals;
  await turn(outside, life, 30);
  expect([alertsOf(life), life.engine.waitingFor()]).toEqual([[["NODE_UNREACHABLE", 1]], undefined]);
  await life.engine.stop();
});

test("a node whose newest block stays the same is reported, although it answers, and it is over with a new block", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  await turn(outside, life, 20);
  const mine = outside.chain.mine.bind(outside.chain);
  outside.chain.mine = () => undefined;
  await turn(outside, life, 300);
  expect(alertsOf(life)).toEqual([]);
  await turn(outside, life, 120);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 0]]);
  expect(outside.reported[0]?.text).toMatch(/the newest block \d+ is \d+m\S* old/);
  outside.chain.mine = mine;
  await turn(outside, life, 30);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 1]]);
  await life.engine.stop();
});

test("a node that shows its newest block and refuses its final one is reported, and it is over with that", async () => {
  const { outside, life } = begin();
  await life.engine.start();
  await turn(outside, life, 20);
  outside.chain.finalized = () => Promise.reject(new ChainReadError("refused", "no such tag: finalized"));
  await turn(outside, life, 90);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 0]]);
  expect(outside.reported).toMatchObject([{ text: expect.stringContaining("no such tag: finalized") }]);
  Reflect.deleteProperty(outside.chain, "finalized");
  await turn(outside, life, 30);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 1]]);
  await life.engine.stop();
});

test("a node that is away while only an open swap is watched is reported", async () => {
  const { outside, life } = begin();
  const swap = swapIn("submitted", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless", gasless: "only" });
  await life.engine.start();
  addRun(life.store, runSample({ swaps: [swap] }));
  life.store.addEffects("run_1", [{ effect: { kind: "ReadChain", swapId: swap.id }, notBeforeMs: 0 }], 1);
  outside.chain.isDown = true;
  await turn(outside, life, 90);
  expect(alertsOf(life)).toEqual([["NODE_UNREACHABLE", 0]]);
  await life.engine.stop();
});

test("a service that is away is reported without a run, and it is over by itself", async () => {
  const { outside, life } = begin();
  const { statusCounts } = outside.service;
  outside.service.statusCounts = async () => UNREACHABLE as never;
  await life.engine.start();
  await turn(outside, life, 90);
  expect(alertsOf(life)).toEqual([["SERVICE_UNREACHABLE", 0]]);
  expect(outside.reported[0]?.text).toContain("UNREACHABLE: reset");
  outside.service.statusCounts = statusCounts;
  await turn(outside, life, 16);
  expect(alertsOf(life)).toEqual([["SERVICE_UNREACHABLE", 1]]);
  await life.engine.stop();
});

test.each([
  ["refuses our key", { code: "HTTP_401", message: "unknown key", status: 401 }],
  ["refuses our key by a name of its own", { code: "KEY_UNKNOWN", message: "unknown key", status: 401 }],
  ["is a page of a proxy", { code: "ANSWER_NOT_JSON", message: "<html>", status: 200 }],
  ["leads to a page where one logs in", { code: "REDIRECTED", message: "a redirect", status: undefined }],
  ["has an address that cannot be called", { code: "BAD_URL", message: "a character", status: undefined }],
])("a service that %s is reported also while its refusals of quotes come all the time", async (_what, answer) => {
  const refusal = { kind: "refused", retryable: false, ...answer } as const;
  const outside = createOutside(SLOT_MS - 5_000, { schedule: { kind: "every", seconds: 30 }, retryForSeconds: 20 });
  const life = openLife(outside);
  await life.engine.start();
  await turn(outside, life, 90);
  const { statusCounts } = outside.service;
  outside.service.refuses = refusal;
  outside.service.statusCounts = async () => refusal as never;
  await turn(outside, life, 500);
  expect(outside.reported.map(({ code }) => code)).toContain("SERVICE_UNREACHABLE");
  outside.service.refuses = undefined;
  outside.service.statusCounts = statusCounts;
  await turn(outside, life, 40);
  const open = life.db.prepare("SELECT count(*) FROM alerts WHERE code = 'SERVICE_UNREACHABLE' AND over_at_ms IS NULL");
  expect(open.pluck().get()).toBe(0);
  await life.engine.stop();
});

test("a service that answers is not asked for its answer more than once in five minutes", async () => {
  const { outside, life } = begin();
  let asked = 0;
  outside.service.statusCounts = async () => {
    asked += 1;
    return {};
  };
  await life.engine.start();
  await turn(outside, life, 900);
  expect(asked).toBeGreaterThan(1);
  expect(asked).toBeLessThan(6);
  await life.engine.stop();
});

test("a kill neither loses the alert nor doubles it, and one that was over meanwhile ends at the next start", async () => {
  const { outside, life } = begin();
  outside.chain.isDown = true;
  await life.engine.start().catch(() => undefined);
  await turn(outside, life, 90);
  life.kill();
  life.db.close();
  const second = openLife(outside);
  await second.engine.start().catch(() => undefined);
  await turn(outside, second, 120);
  expect(alertsOf(second)).toEqual([["NODE_UNREACHABLE", 0]]);
  second.kill();
  second.db.close();
  outside.chain.isDown = false;
  const third = openLife(outside);
  await third.engine.start();
  await turn(outside, third, 5);
  expect(alertsOf(third)).toEqual([["NODE_UNREACHABLE", 1]]);
  await third.engine.stop();
});

test("a mistake of our own in the check stops the process", async () => {
  const { outside, life } = begin(SLOT_MS);
  await life.engine.start();
  outside.chain.latest = async () => {
    throw new TypeError("undefined is not a function");
  };
  await turn(outside, life, 16);
  expect(life.errors.filter((error) => !(error instanceof Killed))).toMatchObject([{ name: "TypeError" }]);
});
