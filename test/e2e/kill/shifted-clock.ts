/**
 * Loaded before the program (`node --import`), where KILL_CLOCK names jumps of the wall clock: `1500:-7200000,4000:0` sets
 * it two hours back 1.5 s after the start, and right again 2.5 s later. Timers and `performance.now()` go on as they do
 * when somebody sets the clock of a machine.
 */

interface Jump {
  readonly fromMs: number;
  readonly shiftMs: number;
}

const jumps: readonly Jump[] = (process.env.KILL_CLOCK ?? "").split(",").map((text) => {
  const [fromMs = Number.NaN, shiftMs = Number.NaN] = text.split(":").map(Number);
  if (Number.isNaN(fromMs + shiftMs))
    throw new Error(`KILL_CLOCK has ${JSON.stringify(text)}: give <ms>:<shift in ms>`);
  return { fromMs, shiftMs };
});

const TrueDate = Date;

function now(): number {
  const livedMs = performance.now();
  return TrueDate.now() + (jumps.findLast(({ fromMs }) => fromMs <= livedMs)?.shiftMs ?? 0);
}

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, args: [], newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name, target)),
});
