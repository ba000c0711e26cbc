import { monitorEventLoopDelay } from "node:perf_hooks";
import { startTicker } from "../../../../src/adapters/cron/ticker.ts";

/**
 * Runs the ticker on a clock that is set once it has ticked, by so many milliseconds, while timers go on as they do. Says
 * how long the next tick took and how long the event loop was held at most, as one line of JSON. What holds the loop
 * computes: a busy machine that gives this process no turn delays it as well, and uses none of its processor time.
 */
const byMs = Number(process.argv[2]);
const realNow = Date.now.bind(Date);
const RealDate = Date;
let aheadMs = 0;
globalThis.Date = class extends RealDate {
  constructor(...given: ConstructorParameters<typeof RealDate> | []) {
    super(...((given.length === 0 ? [realNow() + aheadMs] : given) as ConstructorParameters<typeof RealDate>));
  }

  static override now(): number {
    return realNow() + aheadMs;
  }
} as DateConstructor;

const delay = monitorEventLoopDelay({ resolution: 5 });
let jumpedAtMs: number | undefined;
let usedBefore = process.cpuUsage();
const stop = startTicker(() => {
  if (jumpedAtMs === undefined) {
    jumpedAtMs = performance.now();
    aheadMs = byMs;
    delay.enable();
    usedBefore = process.cpuUsage();
    return;
  }
  const afterMs = performance.now() - jumpedAtMs;
  delay.disable();
  const { user, system } = process.cpuUsage(usedBefore);
  stop();
  process.stdout.write(JSON.stringify({ afterMs, heldMs: Math.min(delay.max / 1_000_000, (user + system) / 1_000) }));
});
