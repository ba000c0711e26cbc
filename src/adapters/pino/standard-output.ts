import pino, { type DestinationStream } from "pino";

/** What waits while nobody reads, in bytes: some four thousand lines. */
const MOST_WAITING_BYTES = 1_048_576;
const TRIES_EVERY_MS = 250;
/** So long the end of a process waits for a reader of the last lines. */
const ENDS_WITHIN_MS = 2_000;
const ENDING_TRIES_EVERY_MS = 20;
/** How a write ends when a pipe has no reader any more: pino writes no further line then. */
const READER_GONE = "EPIPE";

/**
 * Standard output for the lines of a log: each is written at once, so that the last one before a kill is there, too.
 * Where it is a pipe whose reader takes nothing, as of a container whose log driver stalls, or a file that takes no more (a
 * full disk, one that may only be read, a bound of its size), nothing waits for that: lines wait in memory, and what comes
 * beyond 1 MB of them is lost. The end of the process waits two seconds.
 * @param lost hears how many lines were lost, once there is room again
 */
export function openStandardOutput(lost: (lines: number) => void): DestinationStream {
  const output = pino.destination({ dest: 1, sync: true, maxLength: MOST_WAITING_BYTES, retryEAGAIN: () => false });
  let dropped = 0;
  let hasRoom = true;
  let retry: NodeJS.Timeout | undefined;
  const write = (text: string): void => {
    hasRoom = true;
    output.write(text);
    if (hasRoom) goOn();
    else wait();
  };
  const tryAgain = (): void => write("");
  const insist = (): void => {
    const untilMs = performance.now() + ENDS_WITHIN_MS;
    const pause = new Int32Array(new SharedArrayBuffer(4));
    while (retry !== undefined && performance.now() < untilMs) {
      Atomics.wait(pause, 0, 0, ENDING_TRIES_EVERY_MS);
      tryAgain();
    }
  };
  const wait = (): void => {
    if (retry !== undefined) return;
    retry = setInterval(tryAgain, TRIES_EVERY_MS).unref();
    process.once("exit", insist);
  };
  const goOn = (): void => {
    if (retry === undefined) return;
    clearInterval(retry);
    process.off("exit", insist);
    retry = undefined;
    const lines = dropped;
    dropped = 0;
    if (lines > 0) lost(lines);
  };
  output.on("drop", () => {
    dropped += 1;
    hasRoom = false;
  });
  output.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== READER_GONE) hasRoom = false;
  });
  return {
    write: (line) => {
      // What there is room for again goes first, or this line would be lost for want of room.
      if (retry !== undefined) tryAgain();
      write(line);
    },
  };
}
