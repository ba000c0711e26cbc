import { expect, onTestFinished, test } from "vitest";
import { addressOnly } from "../../src/app/open-secrets.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { createLaneStore } from "../../src/engine/lane-store.ts";
import { ROUTER, SLOT_MS, USDC } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Outside, openLife, turn } from "../support/engine-life.ts";

const seldom = (gasless: "prefer" | "never"): Outside =>
  createOutside(SLOT_MS - 1_500, {
    gasless,
    retryForSeconds: 1_800,
    schedule: { kind: "every", seconds: 7_200, anchorSeconds: SLOT_MS / 1_000 },
  } as Partial<StrategySpec>);

test.each([
  ["prefer", "commit.facts-read.after"],
  ["never", "commit.facts-read.after"],
  ["never", "lane.reserve.after"],
] as const)(
  "what was written down to be signed while live is not signed in a dry run that follows (gasless: %s, killed at %s)",
  async (gasless, label) => {
    const outside = seldom(gasless);
    const live = openLife(outside, { killAt: (passed) => passed === label });
    await live.engine.start();
    await turn(outside, live, 30);
    expect([live.isDead(), outside.signed]).toEqual([true, []]);
    live.db.close();
    const dry = openLife(outside, { settings: { live: false } });
    onTestFinished(() => dry.engine.stop());
    await dry.engine.start();
    await turn(outside, dry, 60);
    expect([outside.signed, outside.service.submissions, dry.errors]).toEqual([[], [], []]);
    expect(await outside.chain.allowance({ token: USDC.address, owner: ACCOUNT, spender: ROUTER })).toBe(0n);
  },
);

test("what was signed while live is followed to its end in a dry run", async () => {
  const outside = seldom("never");
  const live = openLife(outside, { killAt: (passed) => passed === "lane.broadcast.after" });
  await live.engine.start();
  await turn(outside, live, 30);
  expect([live.isDead(), outside.signed.length]).toEqual([true, 1]);
  live.db.close();
  const dry = openLife(outside, { settings: { live: false } });
  onTestFinished(() => dry.engine.stop());
  await dry.engine.start();
  await turn(outside, dry, 60);
  expect(dry.db.prepare("SELECT purpose, state FROM lane_intents").all()).toEqual([
    { purpose: "approve", state: "final" },
  ]);
  expect([outside.signed.length, dry.errors]).toEqual([1, []]);
});

test("a transaction that is stuck is followed where the account is only watched, and nothing replaces it", async () => {
  const outside = seldom("never");
  const { baseFee } = outside.chain;
  const killAt = (passed: string): boolean => {
    if (passed !== "lane.broadcast.after") return false;
    outside.chain.baseFee = 3n * baseFee;
    return true;
  };
  const live = openLife(outside, { killAt });
  await live.engine.start();
  await turn(outside, live, 30);
  live.db.close();
  const dry = openLife(outside, { settings: { live: false }, signer: addressOnly(ACCOUNT) });
  onTestFinished(() => dry.engine.stop());
  await dry.engine.start();
  await turn(outside, dry, 120);
  const state = () => dry.db.prepare("SELECT state FROM lane_intents").pluck().all();
  expect([dry.errors, dry.isDead(), state()]).toEqual([[], false, ["broadcast"]]);
  outside.chain.baseFee = baseFee;
  await turn(outside, dry, 60);
  expect([dry.errors, state()]).toEqual([[], ["final"]]);
});

test("by an older copy of the database nothing is signed in a dry run, not even what replaces what was signed", async () => {
  const outside = seldom("never");
  const live = openLife(outside, { killAt: (passed) => passed === "lane.broadcast.after" });
  await live.engine.start();
  await turn(outside, live, 30);
  const intents = live.db.prepare("SELECT id FROM lane_intents").pluck().all() as string[];
  const { id, signatures, signings } = live.store.databaseState();
  if (id === undefined) throw new Error("the database has no name");
  const may = (beyond: number): Promise<boolean[]> => {
    const state = { id, signatures, signings: signings + beyond };
    const marker = { read: () => ({ state, baseline: undefined }), write: () => undefined };
    const { settings, deps } = live.context;
    const context = { settings: { ...settings, live: false }, deps: { ...deps, store: live.store, marker } };
    const { readToSign } = createLaneStore(context, () => undefined);
    const ask = (id: string) => readToSign({ account: ACCOUNT, chainId: 31_337, intent: { id } });
    return Promise.all(intents.map(async (id) => (await ask(id)).maySign));
  };
  expect([await may(0), await may(1)]).toEqual([[true], [false]]);
});
