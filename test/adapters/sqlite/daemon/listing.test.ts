import { expect, test } from "vitest";
import { createListing } from "../../../../src/adapters/sqlite/daemon/listing.ts";
import { runSample, SLOT_MS } from "../../../support/builders.ts";
import { addRun, addStrategy, openDaemonDatabase } from "../../../support/daemon-database.ts";
import { swapIn } from "../../../support/reading-samples.ts";

test("fills since an instant end at the newest one before it: a long history is not read to its beginning", async () => {
  const { db, store } = openDaemonDatabase();
  addStrategy(store);
  // On a chain the oldest block has no such time: it shows whether anybody got there.
  for (const [block, blockTimeSeconds] of [
    [1, 900],
    [2, 100],
    [3, 300],
    [4, 400],
  ] as const) {
    const id = `run_${block}`;
    const swap = swapIn("final");
    const fill = swap.fill && { ...swap.fill, blockNumber: block, blockTimeSeconds };
    const hash = `0x${String(block).padStart(64, "0")}` as const;
    const swaps = [{ ...swap, id: `${id}.0.1`, runId: id, hash, fill }];
    addRun(store, runSample({ id, slotMs: SLOT_MS + block * 60_000, state: "filled", swaps }));
  }
  const { fills } = createListing(db);
  const blocks = async (asked: Parameters<typeof fills>[0]) => (await fills(asked)).map(({ block }) => block);
  expect(await blocks({ limit: 9 })).toEqual([4, 3, 2, 1]);
  for (const strategy of [undefined, "weekly"]) {
    expect(await blocks({ strategy, sinceMs: 300_000, limit: 9 })).toEqual([4, 3]);
    expect(await blocks({ strategy, sinceMs: 300_999, limit: 1 })).toEqual([4]);
    expect(await blocks({ strategy, sinceMs: 500_000, limit: 9 })).toEqual([]);
  }
});
