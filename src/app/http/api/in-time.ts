import type { Clock } from "../../../ports/clock.ts";

/**
 * An answer from outside, or what stands for it where it does not come in time. What was asked goes on, for who asks next.
 */
export async function inTime<T>(
  answer: Promise<T>,
  late: T,
  { clock, withinMs }: { readonly clock: Pick<Clock, "sleep">; readonly withinMs: number },
): Promise<T> {
  const settled = new AbortController();
  try {
    return await Promise.race([answer, clock.sleep(withinMs, settled.signal).then(() => late)]);
  } finally {
    settled.abort();
  }
}
