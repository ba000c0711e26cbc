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
  const timer = forMs === undefined ? undefined : setTimeout(resolveAsked, forMs, "the time that --for gave is over");
  return {
    asked,
    done: () => {
      if (timer !== undefined) clearTimeout(timer);
    },
  };
}
