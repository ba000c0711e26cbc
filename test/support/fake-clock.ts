import type { BootInstant, Clock } from "../../src/ports/clock.ts";

/** A clock that only a test moves. What sleeps wakes when its instant is passed, in the order of the instants. */
export class FakeClock implements Clock {
  private wallMs: number;
  private elapsedMs = 0;
  private bootId = "boot";
  private sleepers: { readonly atMs: number; wake(): void }[] = [];

  constructor(nowMs: number) {
    this.wallMs = nowMs;
  }

  nowMs(): number {
    return this.wallMs;
  }

  monotonicMs(): number {
    return this.elapsedMs;
  }

  sinceBoot(): BootInstant {
    return { id: this.bootId, ms: this.elapsedMs };
  }

  /** The machine boots again: only the wall clock goes on. */
  reboot(): void {
    this.bootId += "+";
  }

  /** Sets the wall clock alone, as an operator or a time server would. */
  jumpTo(nowMs: number): void {
    this.wallMs = nowMs;
  }

  async sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      // A signal asks all its listeners at each new one: those of sleeps that are over would slow down a long test.
      const wake = (): void => {
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      this.sleepers.push({ atMs: this.elapsedMs + durationMs, wake });
      signal?.addEventListener("abort", wake, { once: true });
    });
  }

  /** Lets time pass, and everything that waited for it run until it waits again. */
  async advance(durationMs: number): Promise<void> {
    this.wallMs += durationMs;
    this.elapsedMs += durationMs;
    const due = this.sleepers.filter(({ atMs }) => atMs <= this.elapsedMs).sort((a, b) => a.atMs - b.atMs);
    this.sleepers = this.sleepers.filter(({ atMs }) => atMs > this.elapsedMs);
    for (const sleeper of due) sleeper.wake();
    await quiet();
  }
}

/** More than what goes on without time passing has to wait for one after the other: each commit takes a turn. */
const TURNS = 8;

/** Resolves when everything that could run without time passing has run. */
export async function quiet(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
