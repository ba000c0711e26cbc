import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import type { SharedClock } from "../../ports/clock.ts";

/** The machine's monotonic clock. */
export function machineClock(): SharedClock {
  return { nowUs: () => Number(process.hrtime.bigint() / 1_000n), bootId: readBootId() };
}

function readBootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // Not Linux: the minute of the boot serves as well; a wrong guess only makes the pace start empty.
    return `booted-${Math.round((Date.now() / 1_000 - uptime()) / 60)}`;
  }
}
