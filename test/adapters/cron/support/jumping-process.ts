import { monitorEventLoopDelay } from "node:perf_hooks";
import { startTicker } from "../../../../src/adapters/cron/ticker.ts";

/**
 * Runs the ticker on a clock that is set once it has ticked, by so many milliseconds, while timers go on as they do. Says
 * how long the next tick took and how long the event loop was held at most, as one line of JSON.
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
const stop = startTicker(() => {
  if (jumpedAtMs === undefined) {
    jumpedAtMs = performance.now();
    aheadMs = byMs;
    delay.enable();
    return;
  }
  const afterMs = performance.now() - jumpedAtMs;
  delay.disable();
  stop();
  process.stdout.write(JSON.stringify({ afterMs, heldMs: delay.max / 1_000_000 }));
});
