import { expect, test } from "vitest";
import { HUNDRED_USDC, NOW_MS, ROUTER, runSample, USDC, WALLET } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { intentRow } from "../../../support/lane-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

/** Written anew by `vitest -u`. */
const SCHEMA = "../../../fixtures/schema.sql";

test("the schema is exactly the one that is written down: stored rows outlive releases", async () => {
  const { db } = openDaemonDatabase();
  const statements = db
    .prepare<[], string>("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name")
    .pluck()
    .all();
  await expect(`${statements.map((sql) => `${sql};`).join("\n\n")}\n`).toMatchFileSnapshot(SCHEMA);
});

test("work that throws leaves nothing behind, however deep it was when it threw", () => {
  const { store } = openDaemonDatabase();
  const work = (): void =>
    store.transaction(() => {
      store.insertRun(runSample({ state: "due" }), NOW_MS);
      store.transaction(() => store.addDaemonEvent("started", "live", NOW_MS));
      throw new Error("killed");
    });
  expect(work).toThrow("killed");
  expect(store.run("run_1")).toBeUndefined();
  expect(store.insertRun(runSample({ state: "due" }), NOW_MS)).toBe(true);
});

test("the lane's rows and the run's rows are one commit: neither is there without the other", () => {
  const { store, lanes, db } = openDaemonDatabase();
  const both = (end: () => void): void =>
    lanes.transaction(() => {
      lanes.insertIntent(intentRow({ id: "run_1.0.1.swap" }));
      store.transaction(() => store.insertRun(runSample({ state: "due" }), NOW_MS));
      end();
    });
  const rows = (): unknown =>
    db.prepare("SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM lane_intents)").pluck().get();
  const killed = (): void => {
    throw new Error("killed");
  };
  expect(() => both(killed)).toThrow("killed");
  expect(rows()).toBe(0);
  both(() => undefined);
  expect(rows()).toBe(2);
});

test("everything is there again when the file is opened anew", () => {
  const { store, db, file } = openDaemonDatabase();
  addStrategy(store);
  const run = addRun(store, runSample({ swaps: [swapIn("signed", { mode: "gasless" })] }));
  const right = { wallet: WALLET, token: USDC.address, spender: ROUTER };
  store.transaction(() => {
    store.addEffects(run.id, [{ effect: { kind: "SubmitGasless", swapId: "run_1.0.1" }, notBeforeMs: 0 }], NOW_MS);
    store.writeRecord(run, { kind: "open-capability", swapId: "run_1.0.1", ...right, untilSeconds: 9 }, NOW_MS);
    store.writeRecord(run, { kind: "memory", memory: '{"version":1,"kept":true}' }, NOW_MS);
    store.setMode({ scope: "global", mode: "paused", setBy: "ops", reason: "holiday", atMs: 1 });
  });
  expect(store.beginEffect(1)).toBe(0);
  const before = { run: store.run(run.id), strategy: store.strategy("weekly"), modes: store.modes() };
  db.close();
  const again = openDaemonDatabase(file).store;
  expect({ run: again.run(run.id), strategy: again.strategy("weekly"), modes: again.modes() }).toEqual(before);
  expect(again.strategy("weekly")?.memory).toBe('{"version":1,"kept":true}');
  expect(again.reserved(WALLET, USDC.address)).toBe(HUNDRED_USDC);
  expect(again.isTokenBusy(WALLET, USDC.address, "")).toBe(true);
  expect(again.dueEffects(0, 10, "others")).toMatchObject([{ effect: { kind: "SubmitGasless" } }]);
  expect(again.beginEffect(1)).toBe(1);
  expect(again.runOfIntent("run_1.0.1.swap")).toEqual({ runId: "run_1", swapId: "run_1.0.1" });
});
