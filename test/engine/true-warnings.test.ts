import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SUBJECT } from "../../src/domain/run/alert.ts";
import { EVERYBODYS } from "../../src/engine/same-ends.ts";
import { isWarnedOf, warningsAfter } from "../../src/engine/true-warnings.ts";
import type { AlertRow } from "../../src/ports/alert-store.ts";
import type { Change } from "../../src/ports/changes.ts";
import { alertSample, NOW_MS, USDC, WETH } from "../support/builders.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";

const PAIR = SUBJECT.pair("weekly", { sell: USDC, buy: WETH });
/** Subjects with the strategy that they are of: one belongs to the same strategy for good, or to none. */
const OWNERS: ReadonlyMap<string, string | undefined> = new Map([
  ...[PAIR, SUBJECT.funds("weekly"), SUBJECT.prices("weekly"), SUBJECT.slots("weekly")].map(ofWeekly),
  ...[SUBJECT.fill("run_1.0.1"), SUBJECT.swap("run_1.0.1"), SUBJECT.run("run_1"), SUBJECT.mode("weekly")].map(ofWeekly),
  [SUBJECT.funds("monthly"), "monthly"] as const,
  [SUBJECT.node(), undefined] as const,
  [SUBJECT.clock(), undefined] as const,
]);

function ofWeekly(subject: string) {
  return [subject, "weekly"] as const;
}

const instants = fc.integer({ min: NOW_MS - 5, max: NOW_MS + 3 });
const subjects = fc.constantFrom(...OWNERS.keys());
let ids = 0;

const alerts: fc.Arbitrary<AlertRow> = fc
  .record({
    subject: subjects,
    // A code has one severity.
    severity: fc.constantFrom("info", "warning", "critical"),
    atMs: instants,
  })
  .map((change) => {
    ids += 1;
    const strategy = OWNERS.get(change.subject);
    return alertSample({ ...change, strategy, code: `OF_${change.severity}`, id: `alert_${ids}` });
  });

const mode = { scope: "weekly", mode: "paused", setBy: "strategy", reason: "r", atMs: NOW_MS } as const;
const changes: fc.Arbitrary<Change> = fc.oneof(
  alerts.map((alert) => ({ kind: "alert", alert }) as const),
  subjects.map((subject) => ({ kind: "alerts-over", subject }) as const),
  instants.map((raisedUntilMs) => ({ kind: "wants-over", strategyId: "weekly", raisedUntilMs }) as const),
  fc.constant({ kind: "mode", row: mode } as const),
);

describe("the warnings that are true after changes", () => {
  test("are those that the rows report once the changes are written", async () => {
    const { store, db } = openDaemonDatabase();
    const write = (written: readonly Change[]) =>
      store.commit([
        { question: { kind: "nothing" }, decide: () => ({ changes: written, atMs: NOW_MS, value: undefined }) },
      ]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(changes, { maxLength: 12 }),
        fc.array(changes, { maxLength: 8 }),
        async (earlier, later) => {
          db.exec("DELETE FROM alerts");
          const rows = () =>
            [...store.trueWarnings("weekly", EVERYBODYS)].sort((a, b) =>
              `${a.subject} ${a.code}` < `${b.subject} ${b.code}` ? -1 : 1,
            );
          await write(earlier);
          const reported = warningsAfter(rows(), later, NOW_MS).filter(
            ({ strategy, subject }) => strategy === "weekly" || EVERYBODYS.includes(subject),
          );
          await write(later);
          const sorted = [...reported].sort((a, b) => (`${a.subject} ${a.code}` < `${b.subject} ${b.code}` ? -1 : 1));
          expect(sorted).toEqual(rows());
        },
      ),
      { numRuns: 80 },
    );
  });
});

test("what kept a strategy from trading warns of it only from an instant on, and a fill never of the next swap", () => {
  const of = (subject: string, raisedAtMs: number) => {
    const warning = { subject, code: "ANY", severity: "warning", strategy: "weekly", raisedAtMs } as const;
    return isWarnedOf([warning], { strategyId: "weekly", subjects: [], hindrancesSinceMs: NOW_MS });
  };
  const hindrances = [PAIR, SUBJECT.funds("weekly"), SUBJECT.prices("weekly"), SUBJECT.fill("run_1.0.1")];
  expect(hindrances.map((subject) => of(subject, NOW_MS - 1))).toEqual([false, false, false, false]);
  expect(hindrances.map((subject) => of(subject, NOW_MS))).toEqual([true, true, true, true]);
  expect(of(SUBJECT.run("run_1"), NOW_MS - 1)).toBe(true);
});
