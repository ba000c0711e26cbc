import { test } from "vitest";
import { killOnTheWay } from "../support/fallback-life.ts";

test("a kill at each place on the way neither shows what was private nor sells twice", {
  timeout: 600_000,
}, async () => {
  await killOnTheWay(1);
});
