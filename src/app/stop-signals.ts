/** Waits for a request to stop. */
export interface StopRequest {
  /** resolves at the first signal, when the output has no reader any more, or when the time is over; says which it was */
  readonly asked: Promise<string>;
  /** gives the timer back */
  done(): void;
}

/** Ctrl-C, a supervisor's stop, and the terminal that was closed. */
const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** A terminal and npm both pass one Ctrl-C on: what comes this soon after the first is the first. */
const SAME_SIGNAL_MS = 1_000;
const FORCED_EXIT = 130;
/** A longer timer fires at once. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** The first signal asks for a clean stop; a second one ends the process at once. */
export function stopOnSignals(forMs: number | undefined): StopRequest {
  let resolveAsked: (by: string) => void = () => undefined;
  const asked = new Promise<string>((resolve) => {
    resolveAsked = resolve;
  });
  let firstAtMs: number | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    const nowMs = performance.now();
    firstAtMs ??= nowMs;
    if (nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(FORCED_EXIT);
    resolveAsked(signal);
  };
  for (const signal of STOP_SIGNALS) process.on(signal, onSignal);
  // As `swapd sandbox | head` wants it. It is no signal: the stop that it asks for is not hurried by it.
  process.stdout.on("error", () => resolveAsked("the output has no reader any more"));
  const stopTimer =
    forMs === undefined ? () => undefined : callAfter(forMs, () => resolveAsked("the time that --for gave is over"));
  return { asked, done: stopTimer };
}

/** @returns ends the wait */
function callAfter(waitMs: number, call: () => void): () => void {
  const endsAtMs = performance.now() + waitMs;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const remainingMs = endsAtMs - performance.now();
    timer = remainingMs > LONGEST_TIMER_MS ? setTimeout(wait, LONGEST_TIMER_MS) : setTimeout(call, remainingMs);
  };
  wait();
  return () => clearTimeout(timer);
}
