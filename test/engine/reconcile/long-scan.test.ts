import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { toAddress } from "../../../src/domain/money/address.ts";
import { SLOT_MS } from "../../support/builders.ts";
import { addUnchecked } from "../../support/databases-in-turn.ts";
import { createOutside, type Life, openLife, turn, turnUntil } from "../../support/engine-life.ts";

function begin(gasless: "only" | "never") {
  const outside = createOutside(SLOT_MS - 1_500, { gasless });
  return { outside, open: () => openLife(outside) };
}

function statesOf({ db }: Life): unknown[] {
  return db.prepare("SELECT state FROM runs ORDER BY slot_ms").pluck().all();
}

const openAlerts = ({ db }: Life): unknown[] =>
  db.prepare("SELECT code FROM alerts WHERE over_at_ms IS NULL AND code = 'DATABASE_UNCHECKED'").pluck().all();

test("a check that reads for minutes keeps nobody from following what is in flight; its runs go on afterwards", async () => {
  const { outside, open } = begin("never");
  const first = open();
  await first.engine.start();
  expect(await turnUntil(outside, first, { maxSeconds: 30, isDone: () => outside.chain.sent.length > 0 })).toBe(true);
  first.kill();
  first.db.close();
  const { logs } = outside.chain;
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  outside.chain.logs = async (filter) => {
    await released;
    return await logs.call(outside.chain, filter);
  };
  const life = open();
  onTestFinished(() => life.engine.stop());
  const started = life.engine.start();
  const isApproved = (): boolean =>
    life.db.prepare("SELECT count(*) FROM lane_intents WHERE state = 'final'").pluck().get() === 1;
  expect(await turnUntil(outside, life, { maxSeconds: 40, isDone: isApproved })).toBe(true);
  await started;
  expect(outside.signed.length).toBe(1);
  release();
  await turn(outside, life, 30);
  expect([statesOf(life)[0], life.errors]).toEqual(["filled", []]);
});

test("logs that no endpoint gives, while everything else answers, are reported after a minute and over by themselves", async () => {
  const { outside, open } = begin("only");
  const { logs } = outside.chain;
  outside.chain.logs = () => Promise.reject(new ChainReadError("unreachable", "eth_getLogs: no answer within 10 s"));
  const life = open();
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 45);
  expect(openAlerts(life)).toEqual([]);
  await turn(outside, life, 300);
  expect(openAlerts(life)).toEqual(["DATABASE_UNCHECKED"]);
  const reported = outside.reported.filter(({ code }) => code === "DATABASE_UNCHECKED");
  expect(reported).toMatchObject([{ severity: "critical", text: expect.stringContaining("eth_getLogs: no answer") }]);
  expect(outside.signed).toEqual([]);
  outside.chain.logs = logs;
  await turn(outside, life, 90);
  expect([openAlerts(life), life.errors]).toEqual([[], []]);
  expect(statesOf(life)).toContain("filled");
});

test("a wallet that was not checked against the chain, and that nobody looks at any more, holds up nothing", async () => {
  const { outside, open } = begin("only");
  const { logs } = outside.chain;
  outside.chain.logs = () => Promise.reject(new ChainReadError("unreachable", "eth_getLogs: no answer within 10 s"));
  const first = open();
  await first.engine.start();
  expect(first.store.openDifferences()).toMatchObject([{ kind: "unchecked" }]);
  await addUnchecked({ deps: first.context.deps }, toAddress(`0x${"77".repeat(20)}`));
  first.kill();
  first.db.close();
  const dry = openLife(outside, { settings: { live: false } });
  await dry.engine.start();
  await turn(outside, dry, 30);
  // So does `db accept`.
  for (const wallet of dry.context.deps.signers.keys()) await addUnchecked({ deps: dry.context.deps }, wallet);
  await turn(outside, dry, 90);
  await dry.engine.stop();
  expect([dry.store.openDifferences(), openAlerts(dry), dry.errors]).toEqual([[], [], []]);
  expect(statesOf(dry)).toContain("skipped");
  await addUnchecked({ deps: dry.context.deps }, toAddress(`0x${"77".repeat(20)}`));
  dry.db.close();
  outside.chain.logs = logs;
  const life = open();
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 90);
  expect([life.store.openDifferences(), openAlerts(life), life.errors]).toEqual([[], [], []]);
});
