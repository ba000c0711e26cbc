import { readFileSync } from "node:fs";
import { audit } from "../../src/audit/audit.ts";

/** Audits once, as a process of its own does, and prints how long it took and what it needed. */
/** The kernel's own figure: what Node reports begins with the memory of the process that started this one. */
function mostResidentMb(): number {
  const [, kilobytes] = /^VmHWM:\s+([0-9]+) kB$/m.exec(readFileSync("/proc/self/status", "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

const options = JSON.parse(process.argv[2] ?? "{}") as Parameters<typeof audit>[0];
const beganMs = performance.now();
const report = await audit(options);
const row = {
  auditMs: Math.round(performance.now() - beganMs),
  residentMb: mostResidentMb(),
  fills: report.checked.fills,
  differences: report.differences.length,
  first: report.differences[0]?.message,
};
console.log(JSON.stringify(row));
