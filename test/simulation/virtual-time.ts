import { hashOf } from "./chance.ts";

const realTurn = globalThis.setImmediate;
const RealDate = globalThis.Date;

interface Timer {
  readonly atMs: number;
  readonly order: number;
  work: (() => void) | undefined;
  readonly letGo: (() => void) | undefined;
}

/** So many events at one instant: something asks again without waiting. */
const MOST_AT_ONCE = 20_000;

/** Something in the daemon goes on without letting time pass. */
export class SpinError extends Error {}

/**
 * Time of a simulated world. It passes only when nothing can run any more. Everything that happens is a timer here; of
 * two at the same instant the one that was set first goes first.
 */
export class VirtualTime {
  readonly startMs: number;
  private elapsedMs = 0;
  private order = 0;
  private readonly heap: Timer[] = [];

  constructor(startMs: number) {
    this.startMs = startMs;
  }

  /** since the world began; what a monotonic clock says */
  get monotonicMs(): number {
    return this.elapsedMs;
  }

  /** the true time, Unix milliseconds */
  get trueMs(): number {
    return this.startMs + this.elapsedMs;
  }

  /** Does work after a while. @param letGo hears that the world ended before. @returns forgets it */
  after(delayMs: number, work: () => void, letGo?: () => void): () => void {
    const timer: Timer = { atMs: this.elapsedMs + Math.max(0, Math.ceil(delayMs)), order: this.order++, work, letGo };
    push(this.heap, timer);
    return () => {
      timer.work = undefined;
    };
  }

  /** Nothing happens in this world any more. */
  end(): void {
    for (const { letGo } of this.heap.splice(0)) letGo?.();
  }

  /** Lets the world turn until the instant. @param onStep after everything that happened */
  async runUntil(untilMs: number, onStep: () => boolean): Promise<void> {
    await outsideOfPromises(() => this.turn(untilMs, onStep));
  }

  private turn(untilMs: number, onStep: () => boolean): void {
    let atOnce = 0;
    for (;;) {
      settle();
      if (!onStep()) return;
      const next = this.heap[0];
      if (next === undefined || next.atMs > untilMs) {
        this.elapsedMs = Math.max(this.elapsedMs, untilMs);
        return;
      }
      pop(this.heap);
      atOnce = next.atMs > this.elapsedMs ? 0 : atOnce + 1;
      if (atOnce > MOST_AT_ONCE) throw new SpinError(`more than ${MOST_AT_ONCE} things happened in one instant`);
      this.elapsedMs = Math.max(this.elapsedMs, next.atMs);
      next.work?.();
    }
  }
}

let immediates: (() => void)[] = [];

/** Runs what can run without time passing, as Node does between two events, without the machine's own events between. */
const runMicrotasks = (process as unknown as { _tickCallback(): void })._tickCallback;

function settle(): void {
  do {
    const due = immediates;
    immediates = [];
    for (const work of due) work();
    runMicrotasks();
  } while (immediates.length > 0);
}

/** What waits for promises runs in none of them: there nothing else that waits would go on. */
function outsideOfPromises(work: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    realTurn(() => {
      try {
        work();
        resolve();
      } catch (error) {
        reject(error);
      }
    });
  });
}

/**
 * Takes the machine's time and chance away from the process: whoever of the project reads them throws, packages get the
 * time of the given world. Only for processes that do nothing but simulate.
 */
export function trapRealTime(current: () => VirtualTime): void {
  const trap = (name: string, stand: (...args: never[]) => unknown): unknown => {
    return (...args: never[]): unknown => {
      const caller = new Error("trap").stack?.split("\n")[2] ?? "";
      if (/\/src\//.test(caller)) throw new Error(`${name} was called in a simulation${caller}`);
      return stand(...args);
    };
  };
  let draws = 0;
  Object.assign(globalThis, {
    setTimeout: trap("setTimeout", (work: () => void, delayMs: number) => current().after(delayMs, work)),
    setInterval: trap("setInterval", () => {
      throw new Error("setInterval was called in a simulation");
    }),
    clearTimeout: (forget?: () => void) => forget?.(),
    clearInterval: () => undefined,
    setImmediate: (work: () => void) => {
      immediates.push(work);
    },
  });
  Object.defineProperty(performance, "now", { value: trap("performance.now", () => current().monotonicMs) });
  Object.defineProperty(Math, "random", {
    value: trap("Math.random", () => hashOf(`${draws++}`) / 2 ** 32),
  });
  const now = trap("Date.now", () => current().trueMs) as () => number;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, args: readonly number[]) =>
      args.length === 0 ? new target(now()) : new target(...(args as [number])),
    get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
  });
}

function isBefore(left: Timer, right: Timer): boolean {
  return left.atMs < right.atMs || (left.atMs === right.atMs && left.order < right.order);
}

function push(heap: Timer[], timer: Timer): void {
  let index = heap.length;
  heap.push(timer);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent];
    if (above === undefined || !isBefore(timer, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = timer;
}

function pop(heap: Timer[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const left = heap[child];
    if (left === undefined) break;
    const right = heap[child + 1];
    if (right !== undefined && isBefore(right, left)) child += 1;
    const smaller = heap[child];
    if (smaller === undefined || !isBefore(smaller, last)) break;
    heap[index] = smaller;
    index = child;
  }
  heap[index] = last;
}
