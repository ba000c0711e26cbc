import { createProgressBar } from "./progress-bar.ts";
import type { Terminal } from "./terminal.ts";

/** Of how many blocks the events were read so far. */
type Progress = (done: number, total: number) => void;

const QUIET_MS = 60_000;

/**
 * Shows on stderr how far an audit has read, which may take hours: a bar at a terminal, elsewhere a line a minute. One
 * that is done before that says nothing.
 */
export async function showReading<T>(
  read: (onProgress: Progress) => Promise<T>,
  terminal: Pick<Terminal, "err" | "isInteractive">,
  now: () => number,
): Promise<T> {
  const bar = createProgressBar("reading the chain", terminal);
  let saidAtMs = now();
  try {
    return await read((done, total) => {
      bar.show(done / total);
      if (terminal.isInteractive || now() - saidAtMs < QUIET_MS) return;
      saidAtMs = now();
      terminal.err(`the events of ${done} of ${total} blocks are read (${Math.floor((done / total) * 100)}%)`);
    });
  } finally {
    bar.end();
  }
}
