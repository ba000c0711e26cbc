const TICK_MS = 5;
/** What a healthy machine may be late. */
const NORMAL_MS = 10;

/** How much a busy machine withheld from this process. */
export interface Lateness {
  readonly worstMs: number;
  /** share of the time in which no timer of this process ran although one was due */
  readonly withheldShare: number;
}

/** Watches how late timers run, so that a measurement on a busy machine is not charged to what is measured. */
export function watchLateness(): { stop(): Lateness } {
  const startedAt = performance.now();
  let dueAt = startedAt + TICK_MS;
  let worstMs = 0;
  let withheldMs = 0;
  const timer = setInterval(() => {
    const now = performance.now();
    const lateMs = now - dueAt;
    worstMs = Math.max(worstMs, lateMs);
    if (lateMs > NORMAL_MS) withheldMs += lateMs;
    dueAt = now + TICK_MS;
  }, TICK_MS);
  return {
    stop: () => {
      clearInterval(timer);
      return { worstMs, withheldShare: withheldMs / (performance.now() - startedAt) };
    },
  };
}
