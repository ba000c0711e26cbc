import { expect, test } from "vitest";
import { readDigest } from "../../../../src/adapters/sqlite/daemon/digest-rows.ts";
import { NOW_MS } from "../../../support/builders.ts";
import { openDaemonDatabase } from "../../../support/daemon-database.ts";

const DAY_MS = 86_400_000;

test("a slot that joins a gap of a week ago is one slot of its day, and not all of the gap's", () => {
  const { store } = openDaemonDatabase();
  const told: unknown[] = [];
  for (let day = 0; day <= 15; day += 1) {
    const atMs = NOW_MS + day * DAY_MS;
    if (day % 7 === 0) {
      const gap = { strategy: "weekly", firstSlotMs: atMs, lastSlotMs: atMs, count: 1, reason: "paused" } as const;
      store.addGap(gap, atMs - 7 * DAY_MS, atMs);
    }
    const { gaps, next } = readDigest(store, "day", atMs);
    store.saveDigestMark("day", { ...next, untilMs: atMs });
    if (gaps.length > 0) told.push({ day, gaps });
  }
  expect(store.gapsSince(0)).toMatchObject([{ reason: "paused", count: 3 }]);
  const one = [{ reason: "paused", count: 1 }];
  expect(told).toEqual([0, 7, 14].map((day) => ({ day, gaps: one })));
});
