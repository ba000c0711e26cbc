import { expect, test } from "vitest";
import { NOW_MS, runSample, swapSample, USDC } from "../../../support/builders.ts";
import { addSwap, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

const DAY_MS = 86_400_000;

function begin() {
  const database = openDaemonDatabase();
  const { store } = database;
  const sold = (sinceMs: number): bigint => store.soldBySince("weekly", sinceMs).sold.get(USDC.address) ?? 0n;
  const add = (id: string): unknown => addSwap(store, swapSample({ id, gross: 100n }));
  const write = (id: string, kind: "spend" | "unspend" | "release", atMs: number): void => {
    const run = runSample({ swaps: [swapSample({ id })] });
    store.writeRecord(run, { kind, swapId: id, amount: 90n } as never, atMs);
  };
  return { ...database, sold, add, write };
}

test("BUD-1 counts what is reserved in every period, a fill in those in which it was seen to be, and nothing that came to nothing", () => {
  const { sold, add, write } = begin();
  const since = [0, NOW_MS - DAY_MS, NOW_MS + DAY_MS];
  add("one");
  expect(since.map(sold)).toEqual([100n, 100n, 100n]);
  write("one", "spend", NOW_MS);
  expect(since.map(sold)).toEqual([90n, 90n, 0n]);
  // A fork took it back: until the chain answers it counts as sold, whatever the period.
  write("one", "unspend", NOW_MS);
  expect(since.map(sold)).toEqual([90n, 90n, 90n]);
  write("one", "spend", NOW_MS + 2 * DAY_MS);
  expect(since.map(sold)).toEqual([90n, 90n, 90n]);
  add("two");
  write("two", "release", NOW_MS);
  expect(since.map(sold)).toEqual([90n, 90n, 90n]);
});

test("BUD-1 a clock that was set back does not count a fill in a time before its block", () => {
  const { store, sold, add } = begin();
  add("one");
  const filled = swapIn("confirmed", { id: "one" });
  const blockMs = NOW_MS + DAY_MS;
  const fill = { ...filled.fill, blockTimeSeconds: blockMs / 1_000 } as typeof filled.fill;
  const run = runSample({ swaps: [{ ...filled, fill }] });
  store.writeRecord(run, { kind: "spend", swapId: "one", amount: 100n }, NOW_MS);
  expect([sold(NOW_MS), sold(blockMs), sold(blockMs + DAY_MS)]).toEqual([100n, 100n, 0n]);
});

test("BUD-10 what a person accepted counts from when he did, under the strategy's name", () => {
  const { db, sold } = begin();
  db.prepare(
    `INSERT INTO differences (id, wallet, kind, scope, key, text, facts, found_at_ms, settled_by, settled_at_ms)
     VALUES (7, 'w', 'fill', 'wallet', 'k', 't', '{}', 1, 'ops', ?)`,
  ).run(NOW_MS);
  db.prepare("INSERT INTO accepted_sales (difference_id, strategy, token, amount) VALUES (7, 'weekly', ?, '5')").run(
    USDC.address,
  );
  expect([sold(0), sold(NOW_MS), sold(NOW_MS + 1)]).toEqual([5n, 5n, 0n]);
});
