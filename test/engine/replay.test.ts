import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { createHistoryReader } from "../../src/adapters/sqlite/daemon/history-rows.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import { rebalanceSpec, SLOT_MS, USDC, WBTC, WETH } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, openLife, turn } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { replayAll } from "../support/replays.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";

const COLD = toAddress(`0x${"c".repeat(40)}`);
const counting = {
  external: { watched: [{ address: COLD, tokens: [WETH, USDC] }], stated: [{ token: WBTC, raw: 7n }] },
};
const owned = { recipient: ACCOUNT, wallet: { name: "main", address: ACCOUNT } };

/** A run whose first question comes to nothing, and that fills then. */
async function fillAfterTrouble(change: Partial<StrategySpec>): Promise<Life> {
  const outside = createOutside(SLOT_MS - 1_500, change);
  const life = openLife(outside);
  await life.engine.start();
  outside.service.refuses = refusal("RATE_LIMITED", true);
  await turn(outside, life, 4);
  outside.service.refuses = undefined;
  await turn(outside, life, 60);
  expect(life.errors).toEqual([]);
  expect(life.db.prepare("SELECT state FROM runs").pluck().get()).toBe("filled");
  expect(life.db.prepare("SELECT count(*) FROM retries").pluck().get()).toBeGreaterThan(0);
  return life;
}

test.each<[string, Partial<StrategySpec>]>([
  ["by our own transaction", { gasless: "never" }],
  ["gasless", { gasless: "only" }],
  ["in several swaps", { ...rebalanceSpec(), ...owned }],
  ["and counted what lies elsewhere", { ...rebalanceSpec(counting), ...owned }],
])("the stored steps of a run that filled %s after a retry give the same run again", async (_name, change) => {
  const life = await fillAfterTrouble(change);
  const { problems, runs } = replayAll(life.file);
  expect([problems, runs > 0]).toEqual([[], true]);
});

test("so do those of a run that was never answered, with all of its retries", async () => {
  const outside = createOutside(SLOT_MS - 1_500);
  const life = openLife(outside);
  await life.engine.start();
  outside.service.refuses = refusal("RATE_LIMITED", true);
  await turn(outside, life, 30);
  const counted = life.db.prepare("SELECT state, retries FROM runs").all();
  expect(counted).toEqual([{ state: "executing", retries: expect.any(Number) }]);
  expect(life.db.prepare("SELECT retries FROM runs").pluck().get()).toBeGreaterThan(1);
  expect(replayAll(life.file)).toEqual({ problems: [], runs: 1 });
});

// Written before a swap's contracts were distinguished: rows name one router.
test.each(["own-transaction", "gasless"])("stored steps of an older release give the same run again (%s)", (name) => {
  const file = join(temporaryDirectory(), "daemon.db");
  const packed = new URL(`../fixtures/databases/${name}.db.gz`, import.meta.url);
  writeFileSync(file, gunzipSync(readFileSync(packed)), { mode: 0o600 });
  const { problems, runs } = replayAll(file);
  expect([problems, runs > 0]).toEqual([[], true]);
});

test("a step that was changed in the file shows", async () => {
  const life = await fillAfterTrouble({ gasless: "never" });
  const reader = createHistoryReader(life.db);
  const id = life.db.prepare<[], string>("SELECT id FROM runs").pluck().get() ?? "";
  const before = reader.storedRun(id)?.steps.length ?? 0;
  life.db.prepare("DELETE FROM steps WHERE id = (SELECT max(id) FROM steps WHERE run_id = ?)").run(id);
  expect(reader.storedRun(id)?.steps).toHaveLength(before - 1);
  const { problems } = replayAll(life.file);
  expect(problems).toEqual([expect.stringContaining(`run ${id} taken again: transitions.`)]);
});

test("a database that no daemon of this release has opened yet has no steps, and is read all the same", async () => {
  const life = await fillAfterTrouble({ gasless: "never" });
  const id = life.db.prepare<[], string>("SELECT id FROM runs").pluck().get() ?? "";
  life.db.exec("DROP TABLE steps; DROP TABLE step_settings");
  expect(createHistoryReader(life.db).storedRun(id)).toMatchObject({ run: { id }, steps: [] });
});

test("settings are stored once for all steps that worked under them, and again when they change", async () => {
  const life = await fillAfterTrouble({ gasless: "never" });
  const count = (table: string): unknown => life.db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([count("step_settings"), Number(count("steps")) > 5]).toEqual([1, true]);
});
