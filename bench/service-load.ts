import { loadService } from "../test/service/support/service-load.ts";

/**
 * A mixed load on the aggregation service from eight clients, with three keys and without, each of which offers twice its
 * limit: no wrong limit decision, right headers on every answer, quotes in time, and memory that does not grow. Ends with
 * 1 when a gate is missed. Run it alone: client, service and chain share the machine.
 */
const GATES = { quoteP95Ms: 20, heapGrowth: 0.05 };
/** What is kept for a while, quotes for twice their lifetime, must reach its full size during the warm-up. */
const QUOTE_LIFETIME_SECONDS = 5;
const WARM_UP_SECONDS = 15;
const seconds = Number(process.argv[2] ?? "60");

const report = await loadService({
  warmUpSeconds: WARM_UP_SECONDS,
  seconds,
  quoteLifetimeSeconds: QUOTE_LIFETIME_SECONDS,
});
const { before, after } = report.heapBytes;
const row = {
  seconds,
  answers: report.answers,
  quotes: report.quotes,
  refused: report.refused,
  failed: report.failures.length,
  wrongDecisions: report.wrongDecisions.length,
  wrongHeaders: report.wrongHeaders.length,
  quoteP95Ms: Math.round(report.quoteP95Ms * 100) / 100,
  heapMegabytes: Math.round(after / 10_000) / 100,
  heapGrowth: Math.round(((after - before) / before) * 10_000) / 10_000,
};
console.table([row]);
for (const problem of [...report.failures, ...report.wrongDecisions, ...report.wrongHeaders].slice(0, 20))
  console.log(problem);
console.log(JSON.stringify({ bench: "service-load", gates: GATES, row }));
const holds =
  row.failed === 0 &&
  row.wrongDecisions === 0 &&
  row.wrongHeaders === 0 &&
  row.quoteP95Ms < GATES.quoteP95Ms &&
  row.heapGrowth < GATES.heapGrowth;
process.exit(holds ? 0 : 1);
