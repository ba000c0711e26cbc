import { afterAll, beforeAll, describe, test, vi } from "vitest";
import { ACCOUNT_CASES, FILL_CASES, OUTFLOW_CASES } from "./support/chain-cases.ts";
import { FORGOTTEN_CASES } from "./support/forgotten-cases.ts";
import { buildOldWorld, findsTheSame } from "./support/old-world.ts";
import { ROW_CASES } from "./support/row-cases.ts";
import type { World } from "./support/world.ts";

// Each test audits a whole chain twice, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 120_000 });

let world: World;
beforeAll(async () => {
  world = await buildOldWorld();
});
afterAll(() => world.stop());

const GROUPS = { ROW_CASES, FORGOTTEN_CASES, FILL_CASES, OUTFLOW_CASES, ACCOUNT_CASES };

describe.each(Object.entries(GROUPS))("what is wrong is found as well when it was archived: %s", (_group, cases) => {
  test.each(cases)("$hazard", (one) => findsTheSame(world, one));
});
