import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { ACCOUNT_CASES, FILL_CASES, OUTFLOW_CASES } from "./support/chain-cases.ts";
import { FORGOTTEN_CASES } from "./support/forgotten-cases.ts";
import { archive, buildOldWorld, findsTheSame } from "./support/old-world.ts";
import { ROW_CASES } from "./support/row-cases.ts";
import { codesOf, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

let world: World;
beforeAll(async () => {
  world = await buildOldWorld();
});
afterAll(() => world.stop());

test("finds nothing in rows that were archived, and counts all of them", async () => {
  const before = await world.auditAfter(() => undefined);
  const after = await world.auditAfter(({ journal }) => expect(archive(journal)).toBe(7), {
    keepsSums: true,
  });
  expect(before.clean).toBe(true);
  expect(after).toEqual(before);
});

test("reads an archive in part, too: what came since is found where it is", async () => {
  let block = 0;
  const since = async (lets: boolean) =>
    await world.auditAfter(
      ({ journal }) => {
        if (lets) archive(journal);
        block = Number(journal.get("SELECT block_number FROM swaps WHERE id = 'gasless'"));
      },
      { keepsSums: true, ...(block === 0 ? {} : { since: { block } }) },
    );
  await since(false);
  const before = await since(false);
  const after = await since(true);
  expect([before.clean, before.checked.fills]).toEqual([true, 5]);
  expect(after).toEqual(before);
});

/** Some of every group; the long test has all of them. */
const SOME = [ROW_CASES, FORGOTTEN_CASES, FILL_CASES, OUTFLOW_CASES, ACCOUNT_CASES].flatMap((cases) =>
  cases.slice(0, 2),
);

describe("what is wrong is found as well when it was archived", () => {
  test.each(SOME)("$hazard", (one) => findsTheSame(world, one));
});

test("an archive that cannot be read is a difference of its own, and so are the rows that it had", async () => {
  for (const sql of ["UPDATE archives SET body = x'00ff' WHERE seq = 2", "DELETE FROM archives WHERE seq = 2"]) {
    const report = await world.auditAfter(
      ({ journal }) => {
        archive(journal);
        journal.run(sql);
      },
      { keepsSums: true },
    );
    expect(codesOf(report), sql).toContain("ROW_UNREADABLE");
    expect(report.differences.length, sql).toBeGreaterThan(3);
  }
});

test.each([
  ["a closed gap deleted", "DELETE FROM gaps WHERE strategy = 'quiet'", "history 1"],
  ["a closed gap changed", "UPDATE gaps SET reason = 'paused' WHERE strategy = 'quiet'", "history 1"],
  ["an archive dropped", "DELETE FROM archives WHERE seq = 3", "history 3"],
  ["an archived run changed", "UPDATE runs SET detail = 'x' WHERE archive = 4", "history 4"],
  ["the head cut back", "UPDATE history_head SET seq = 6", "history head"],
])("finds %s", async (_hazard, sql, subject) => {
  const report = await world.auditAfter(
    ({ journal }) => {
      journal.insert("gaps", {
        ...{ strategy: "quiet", first_slot_ms: 1, last_slot_ms: 2, count: 2, reason: "missed", recorded_at_ms: 1 },
      });
      archive(journal);
      journal.run(sql);
    },
    { keepsSums: true },
  );
  const found = report.differences.filter(({ code }) => code === "HISTORY_CHANGED").map((one) => one.subject);
  expect(found).toEqual([subject]);
});
