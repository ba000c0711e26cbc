/** Waits for somebody to ask for the end. */
export interface StopRequest {
  /** resolves at the first SIGINT or SIGTERM, or when the time is over */
  readonly asked: Promise<void>;
  /** gives the signals back, so that a second one ends the process at once */
  done(): void;
}

/** The first signal asks for a clean stop; the second one, or anything after `done`, ends the process. */
export function stopOnSignals(forMs: number | undefined): StopRequest {
  let resolveAsked: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    resolveAsked = resolve;
  });
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(130);
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
