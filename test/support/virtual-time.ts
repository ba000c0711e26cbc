import type { Clock, SharedClock } from "../../src/ports/clock.ts";

interface Sleeper {
  readonly atUs: number;
  wake(): void;
}

/** Rounds of everything that can run without time passing. */
const TURNS = 3;

/** Time that jumps from one sleeper to the next, for code with a monotonic clock shared by processes and a port's clock. */
export class VirtualTime {
  private elapsedUs: number;
  private sleepers: Sleeper[] = [];
  /** how late a timer is, by its number, microseconds */
  private readonly latenessUs: () => number;

  constructor(options: { readonly startUs?: number; readonly latenessUs?: () => number } = {}) {
    this.elapsedUs = options.startUs ?? 3_600_000_000;
    this.latenessUs = options.latenessUs ?? (() => 0);
  }

  nowUs(): number {
    return this.elapsedUs;
  }

  /** The clock of one process of the machine. */
  get clock(): Clock {
    return {
      nowMs: () => 1_700_000_000_000 + this.elapsedUs / 1_000,
      monotonicMs: () => this.elapsedUs / 1_000,
      sinceBoot: () => ({ id: "boot", ms: this.elapsedUs / 1_000 }),
      sleep: (durationMs, signal) => this.sleep(durationMs, signal),
    };
  }

  shared(bootId = "boot"): SharedClock {
    return { bootId, nowUs: () => this.elapsedUs };
  }

  /** Lets time pass up to an instant, and everything that waited for an earlier one run in its order. */
  async runUntil(untilUs: number): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < TURNS; turn++) await new Promise((resolve) => setImmediate(resolve));
      const next = this.sleepers.reduce<Sleeper | undefined>(
        (first, sleeper) => (first === undefined || sleeper.atUs < first.atUs ? sleeper : first),
        undefined,
      );
      if (next === undefined || next.atUs > untilUs) break;
      this.sleepers = this.sleepers.filter((sleeper) => sleeper !== next);
      this.elapsedUs = Math.max(this.elapsedUs, next.atUs);
      next.wake();
    }
    this.elapsedUs = Math.max(this.elapsedUs, untilUs);
  }

  private sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const atUs = this.elapsedUs + Math.max(0, Math.ceil(durationMs)) * 1_000 + this.latenessUs();
      const sleeper: Sleeper = { atUs, wake: () => resolve() };
      this.sleepers.push(sleeper);
      const abort = (): void => {
        this.sleepers = this.sleepers.filter((other) => other !== sleeper);
        resolve();
      };
      signal?.addEventListener("abort", abort, { once: true });
    });
  }
}
