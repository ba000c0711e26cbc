import { join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createRateLimiter } from "../../../src/adapters/limiter/rate-limiter.ts";
import type { LimitedAnswer } from "../../../src/ports/rate-limiter.ts";
import { openDatabase } from "../../../src/storage/database.ts";
import { silentLogger } from "../../support/silent-logger.ts";
import { temporaryDirectory } from "../../support/temporary-directory.ts";
import { VirtualTime } from "../../support/virtual-time.ts";

const SECOND = 1_000_000;
const START = new VirtualTime().nowUs();
/** A wait that can have been stated; what is further ahead than a day is damage. */
const LONGEST_STORED_BLOCK_S = 15;
const SECONDS = 40;
/** Whatever happens, the next call follows the longest stated wait within this. */
const BOUND = 10 * SECOND;

const near = (mostSeconds: number) => fc.integer({ min: START - 600 * SECOND, max: START + mostSeconds * SECOND });
const absurd = fc.constantFrom(-(2 ** 53), 2 ** 53, START + 90_000 * SECOND);
const storedPace = fc.record({
  boot_id: fc.constantFrom("boot", "another boot"),
  next_slot_us: fc.oneof(near(6), near(60), absurd),
  blocked_until_us: fc.oneof(near(LONGEST_STORED_BLOCK_S), absurd),
  cautious: fc.constantFrom(0, 1),
  rate_per_second: fc.constantFrom(-1, 0, 1e-300, 0.001, 1, 1e300),
  rate_at_us: fc.oneof(near(1), absurd),
  limit_seen: fc.constantFrom(null, -1, 0, 1e-9, 1, 7, 1e300),
});
const ending = fc.record({
  what: fc.oneof(
    { weight: 5, arbitrary: fc.constant("answered") },
    { weight: 2, arbitrary: fc.constant("lost") },
    { weight: 2, arbitrary: fc.constant("killed") },
    { weight: 1, arbitrary: fc.constant("refused") },
  ),
  afterMs: fc.integer({ min: 0, max: 900 }),
  retryAfter: fc.integer({ min: 0, max: 4 }),
});
type Ending = typeof ending extends fc.Arbitrary<infer Value> ? Value : never;
type StoredPace = typeof storedPace extends fc.Arbitrary<infer Value> ? Value : never;

interface Plan {
  readonly stored: StoredPace;
  readonly limit: number;
  readonly endings: readonly Ending[];
  readonly latenesses: readonly number[];
}

function answer(status: number, retryAfter: number): LimitedAnswer {
  return { status, header: (name) => (status === 429 && name === "retry-after" ? String(retryAfter) : null) };
}

/** Two processes with calls that always wait, on one file. */
class World {
  readonly calls: number[] = [];
  readonly late: string[] = [];
  private readonly file = join(temporaryDirectory(), "limiter.db");
  private readonly time: VirtualTime;
  private readonly stop = new AbortController();
  private readonly plan: Plan;
  private dueUs: number;
  private ended = 0;

  constructor(plan: Plan) {
    this.plan = plan;
    let timers = 0;
    this.time = new VirtualTime({ latenessUs: () => plan.latenesses[timers++ % plan.latenesses.length] ?? 0 });
    this.open().close();
    const db = openDatabase({ file: this.file });
    const columns = Object.keys(plan.stored).map((name) => `${name} = @${name}`);
    db.prepare(`UPDATE pace SET ${columns.join(", ")}`).run(plan.stored);
    db.close();
    const blockedUs = plan.stored.blocked_until_us - START;
    const isStated = blockedUs > 0 && blockedUs <= LONGEST_STORED_BLOCK_S * SECOND;
    this.dueUs = START + (isStated ? blockedUs : 0) + BOUND;
  }

  async run(): Promise<void> {
    const lives = Promise.all([this.live(), this.live()]);
    await this.time.runUntil(START + SECONDS * SECOND);
    if (this.time.nowUs() > this.dueUs) this.late.push("no call was let go any more");
    this.stop.abort();
    await lives;
  }

  private open() {
    const bounds = { maxQueue: 100, longestWaitMs: 120_000, longestRetryAfterMs: 86_400_000 };
    return createRateLimiter(
      {
        file: this.file,
        baseUrl: "http://127.0.0.1:1/",
        apiKey: undefined,
        limitPerSecond: this.plan.limit,
        ...bounds,
      },
      { clock: this.time.clock, sharedClock: this.time.shared(), logger: silentLogger() },
    );
  }

  private async live(): Promise<void> {
    let limiter = this.open();
    let beside = 0;
    while (!this.stop.signal.aborted) {
      // Calls wait alongside, whose end nobody hears of: the loop of the limiter never rests.
      for (; beside < 2; beside++) {
        void limiter.acquire("background").then((permission) => {
          beside--;
          this.note(permission);
        });
      }
      const permission = await limiter.acquire("quote", { signal: this.stop.signal });
      if (permission !== "granted") break;
      this.note(permission);
      const { what, afterMs, retryAfter } = this.plan.endings[this.ended++ % this.plan.endings.length] as Ending;
      await this.time.clock.sleep(afterMs, this.stop.signal);
      if (what === "killed") {
        limiter.close();
        limiter = this.open();
        continue;
      }
      if (what === "refused") {
        this.dueUs = Math.max(this.dueUs, this.time.nowUs() + retryAfter * SECOND + BOUND);
      }
      limiter.observe(what === "lost" ? "lost" : answer(what === "refused" ? 429 : 200, retryAfter));
    }
    limiter.close();
  }

  private note(permission: unknown): void {
    if (permission !== "granted") return;
    const nowUs = this.time.nowUs();
    this.calls.push(nowUs);
    if (nowUs > this.dueUs) this.late.push(`${(nowUs - this.dueUs) / SECOND} s late`);
    this.dueUs = Math.max(this.dueUs, nowUs + BOUND);
  }
}

function mostInOneSecond(calls: readonly number[]): number {
  return Math.max(0, ...calls.map((last, index) => calls.filter((at, n) => n <= index && at > last - SECOND).length));
}

it("lets calls go on in time and never above the rate, whatever is stored, lost and killed", {
  timeout: 60_000,
}, async () => {
  const lateness = fc.constantFrom(0, 500, 2_000, 7_000, 60_000);
  const plans = fc.record({
    stored: storedPace,
    limit: fc.constantFrom(1, 2, 5, 20),
    endings: fc.array(ending, { minLength: 1, maxLength: 12 }),
    latenesses: fc.array(lateness, { minLength: 1, maxLength: 5 }),
  });
  const property = fc.asyncProperty(plans, async (plan) => {
    const world = new World(plan);
    await world.run();
    expect(world.late).toEqual([]);
    expect(mostInOneSecond(world.calls)).toBeLessThanOrEqual(plan.limit);
  });
  await fc.assert(property, { numRuns: 12 });
});
