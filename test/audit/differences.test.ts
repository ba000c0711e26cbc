import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { DIFFERENCE_MEANINGS } from "../../src/audit/report.ts";
import { ACCOUNT_CASES, FILL_CASES, OUTFLOW_CASES } from "./support/chain-cases.ts";
import { FORGOTTEN_CASES } from "./support/forgotten-cases.ts";
import { ROW_CASES } from "./support/row-cases.ts";
import { buildWorld, codesOf, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.stop());

const GROUPS = {
  rows: ROW_CASES,
  forgotten: FORGOTTEN_CASES,
  fills: FILL_CASES,
  outflows: OUTFLOW_CASES,
  accounts: ACCOUNT_CASES,
};

describe.each(Object.entries(GROUPS))("of %s", (_group, cases) => {
  test.each(cases)("reports $hazard, and nothing else", async ({ spoil, reports, keepsSums }) => {
    const report = await world.auditAfter(spoil, { keepsSums });
    expect(codesOf(report)).toEqual(reports);
    expect(report.clean).toBe(false);
    for (const { message, subject } of report.differences) {
      expect(message).toMatch(/^[A-Z0-9].*[.]$/);
      expect(subject).not.toBe("");
    }
  });
});

test("no kind of difference is without a case that shows it", () => {
  const shown = new Set(Object.values(GROUPS).flatMap((cases) => cases.flatMap(({ reports }) => reports)));
  expect([...shown].sort()).toEqual(Object.keys(DIFFERENCE_MEANINGS).sort());
});
