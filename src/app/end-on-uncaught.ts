import { troubleOf } from "./start-trouble.ts";
import type { Terminal } from "./terminal.ts";

/** Who is told why a process ends. */
export interface Ending extends Pick<Terminal, "err"> {
  /** writes it down for those who look later */
  readonly note?: (words: string, error: unknown) => void;
}

/**
 * From here on, what a timer throws and what an unawaited promise rejects with ends the process like any other
 * failure of a running daemon: with its exit code, and without secrets.
 * @param what runs here, as people call it
 * @returns ends that
 */
export function endOnUncaught(redact: (text: string) => string, terminal: Ending, what = "daemon"): () => void {
  const end = (error: unknown): never => endProcess(error, redact, terminal, what);
  process.on("uncaughtException", end);
  return () => void process.off("uncaughtException", end);
}

/** Ends the process at once: nothing is stopped step by step, the next start recovers. */
export function endProcess(error: unknown, redact: (text: string) => string, terminal: Ending, what = "daemon"): never {
  const { exitCode, message } = troubleOf(error);
  const words = redact(`the ${what} stops, the next start recovers: ${message}`);
  terminal.err(words);
  try {
    terminal.note?.(words, error);
  } catch (fault) {
    // It ends in any case, and for the first reason.
    terminal.err(redact(`why it stops was not written down: ${String(fault)}`));
  }
  process.exit(exitCode);
}
