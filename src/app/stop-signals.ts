/** Waits for somebody to ask for the end. */
export interface StopRequest {
  /** resolves at the first SIGINT or SIGTERM, or when the time is over */
  readonly asked: Promise<void>;
  /** gives the signals back, so that a second one ends the process at once */
  done(): void;
}

/** A terminal and npm both pass one Ctrl-C on: what comes this soon after the first is the first. */
const SAME_SIGNAL_MS = 1_000;
const FORCED_EXIT = 130;

/** The first signal asks for a clean stop; the second one, or anything after `done`, ends the process. */
export function stopOnSignals(forMs: number | undefined): StopRequest {
  let resolveAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    resolveAsked = resolve;
  });
  let firstAtMs: number | undefined;
  const onSignal = (): void => {
    const nowMs = performance.now();
    firstAtMs ??= nowMs;
    if (nowMs - firstAtMs > SAME_SIGNAL_MS) process.exit(FORCED_EXIT);
    resolveAsked();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  const timer = forMs === undefined ? undefined : setTimeout(resolveAsked, forMs);
  return {
    asked,
    done: () => {
      if (timer !== undefined) clearTimeout(timer);
    },
  };
}
