import { audit } from "../../src/audit/audit.ts";

/** Audits once, as a process of its own does, and prints how long it took and what it needed. */
const options = JSON.parse(process.argv[2] ?? "{}") as Parameters<typeof audit>[0];
const beganMs = performance.now();
const report = await audit(options);
const row = {
  auditMs: Math.round(performance.now() - beganMs),
  residentMb: Math.round(process.resourceUsage().maxRSS / 1_024),
  fills: report.checked.fills,
  differences: report.differences.length,
  first: report.differences[0]?.message,
};
console.log(JSON.stringify(row));
