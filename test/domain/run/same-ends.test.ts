import { describe, expect, test } from "vitest";
import { countEnd, endOfRun, hasOneReason, type SameEnds } from "../../../src/domain/run/same-ends.ts";
import { runSample } from "../../support/builders.ts";

/** What is in a row after these ends, each a reason, `fill` for a trade, with a number for as many slots. */
function inARow(...ends: (string | readonly [string, number])[]): SameEnds | undefined {
  return ends
    .map((end) => (typeof end === "string" ? ([end, 1] as const) : end))
    .reduce<SameEnds | undefined>(
      (before, [reason, count], index) =>
        countEnd(before, { slotMs: index * 1_000, count, reason: reason === "fill" ? undefined : reason }),
      undefined,
    );
}

describe("slots in a row that ended alike", () => {
  test.each([
    [
      ["quote_unavailable", "quote_unavailable", "quote_unavailable"],
      ["quote_unavailable", 3],
    ],
    [[["overlap", 5] as const], ["overlap", 5]],
    [
      ["quote_unavailable", "overlap", "quote_unavailable", ["overlap", 2] as const],
      ["quote_unavailable", 5],
    ],
    [
      ["overlap", "overlap", "wallet_busy"],
      ["wallet_busy", 3],
    ],
    [
      ["wallet_busy", "wallet_busy", "quote_refused"],
      ["wallet_busy or quote_refused", 3],
    ],
    [
      ["wallet_busy", "overlap", "quote_refused", "quote_refused"],
      ["wallet_busy or quote_refused", 4],
    ],
    [
      ["quote_unavailable", "view_unavailable", "quote_unavailable", "view_unavailable", ["overlap", 2] as const],
      ["quote_unavailable or view_unavailable", 6],
    ],
    [
      ["wallet_busy", "quote_refused", "view_unavailable", "wallet_busy", "node_unavailable", "quote_refused"],
      ["quote_refused or view_unavailable or node_unavailable", 6],
    ],
  ])("%j: %j", (ends, [reason, count]) => {
    expect(inARow(...(ends as string[]))).toMatchObject({ reason, count });
  });

  test.each(["fill", "not_triggered", "within_bands", "paused", "missed", "outside_window", "dry_run"])(
    "%s is no trouble, and nothing is in a row after it",
    (end) => {
      expect(inARow("quote_unavailable", "quote_unavailable", end)).toBeUndefined();
      expect(inARow(end)).toBeUndefined();
    },
  );

  test("are counted anew after one that was no trouble", () => {
    expect(inARow("quote_unavailable", "view_unavailable", "not_triggered", "view_unavailable")).toEqual({
      ...{ reason: "view_unavailable", count: 1, firstSlotMs: 3_000 },
    });
  });

  test("have one reason, or several", () => {
    const has = (...ends: string[]) => hasOneReason({ reason: inARow(...ends)?.reason ?? "none" });
    expect([has("wallet_busy", "overlap", "wallet_busy"), has("wallet_busy", "quote_refused")]).toEqual([true, false]);
  });

  test("are counted from the first of them on", () => {
    expect(inARow("fill", "wallet_busy", "overlap", "wallet_busy")?.firstSlotMs).toBe(1_000);
    expect(inARow("fill", "wallet_busy", "view_unavailable")?.firstSlotMs).toBe(1_000);
  });

  test("a run ends its slot with a trade, or with its reason", () => {
    const ended = (change: Parameters<typeof runSample>[0]) => endOfRun(runSample(change)).reason;
    expect(ended({ state: "filled" })).toBeUndefined();
    expect(ended({ state: "partial", reason: "expired" })).toBeUndefined();
    expect(ended({ state: "skipped", reason: "wallet_busy" })).toBe("wallet_busy");
    expect(ended({ state: "failed" })).toBe("failed");
  });
});
