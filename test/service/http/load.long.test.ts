import { expect, test } from "vitest";
import { loadService } from "../support/service-load.ts";

// The long form, with its gates for time and memory: npm run bench -- service-load
test("eight clients that offer twice their limits get exactly their limits, second by second, and right headers", async () => {
  const report = await loadService({ warmUpSeconds: 1, seconds: 5, quoteLifetimeSeconds: 60 });
  expect(report.wrongDecisions).toEqual([]);
  expect(report.wrongHeaders).toEqual([]);
  // How much is offered and worked off in time is the machine's matter; what is decided is decided rightly.
  expect(report.failures.filter((failure) => !/"error":"(?:BUSY|QUOTE_TIMEOUT)"/.test(failure))).toEqual([]);
  expect(report.quotes).toBeGreaterThan(20);
  expect(report.refused).toBeGreaterThan(5);
});
