import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startTicker } from "../../../src/adapters/cron/ticker.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2028, 1, 28, 23, 59, 57, 250);

/** What the ticker promises: the longest time between two ticks, whatever is done to the wall clock. */
const BOUND_MS = 2_000;

describe("by a clock that only the test moves", () => {
  let stop: () => void = () => undefined;
  let ticksAtMs: number[] = [];
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"], now: START_MS });
    ticksAtMs = [];
    stop = startTicker(() => ticksAtMs.push(performance.now()));
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });

  async function pass(durationMs: number): Promise<void> {
    await vi.advanceTimersByTimeAsync(durationMs);
  }

  /** The longest time without a tick since an instant of the monotonic clock. */
  function longestPauseMs(sinceMs: number): number {
    const marks = [sinceMs, ...ticksAtMs.filter((atMs) => atMs > sinceMs), performance.now()];
    return Math.max(...marks.slice(1).map((atMs, index) => atMs - (marks[index] ?? atMs)));
  }

  it("ticks at every whole second, over the end of a leap February too", async () => {
    await pass(5_000);
    expect(ticksAtMs).toHaveLength(5);
    expect(new Set(ticksAtMs.map((atMs) => atMs % 1_000)).size).toBe(1);
  });

  const jumps = [
    ["half a second", 500],
    ["three seconds", 3_000],
    ["an hour", 60 * MINUTE_MS],
    ["ten days", 10 * DAY_MS],
    ["eleven years", 11 * 366 * DAY_MS],
  ] as const;
  it.each(jumps)("goes on within two seconds when the clock is set %s ahead, and back again", async (_name, byMs) => {
    await pass(3_000);
    for (const direction of [1, -1]) {
      const jumpedAtMs = performance.now();
      vi.setSystemTime(Date.now() + direction * byMs);
      await pass(10_000);
      expect(longestPauseMs(jumpedAtMs)).toBeLessThanOrEqual(BOUND_MS);
    }
  });

  it("ticks once, not once for each second that a jump left out", async () => {
    await pass(3_000);
    const before = ticksAtMs.length;
    vi.setSystemTime(Date.now() + DAY_MS);
    await pass(1_000);
    expect(ticksAtMs.length - before).toBeLessThanOrEqual(2);
  });

  it("goes on while the clock is set back before every tick", async () => {
    for (let times = 0; times < 20; times++) {
      vi.setSystemTime(Date.now() - 700);
      await pass(900);
    }
    expect(longestPauseMs(0)).toBeLessThanOrEqual(BOUND_MS);
  });

  it("is silent once it is stopped", async () => {
    await pass(2_000);
    stop();
    const counted = ticksAtMs.length;
    await pass(2 * DAY_MS);
    expect(ticksAtMs).toHaveLength(counted);
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("in a process of its own, whose clock is set while it runs", () => {
  it.each([
    ["ten days ahead", 10 * DAY_MS],
    ["two hours back", -120 * MINUTE_MS],
  ])("ticks within two seconds, holds up nothing and prints nothing when set %s", async (_name, byMs) => {
    const program = fileURLToPath(new URL("support/jumping-process.ts", import.meta.url));
    const child = spawn(process.execPath, [program, String(byMs)], { stdio: ["ignore", "pipe", "pipe"] });
    const output: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(String(chunk)));
    await once(child, "close");
    // One line, its own: nothing of node-cron's.
    const { afterMs, heldMs } = JSON.parse(output.join("")) as { afterMs: number; heldMs: number };
    expect(afterMs).toBeLessThanOrEqual(BOUND_MS);
    expect(heldMs).toBeLessThan(100);
  });
});
