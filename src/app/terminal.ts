import { fstatSync, writeFileSync } from "node:fs";
import { formatUnits } from "../domain/money/amount.ts";

/** Where a command writes: results to `out`, progress and complaints to `err`. */
export interface Terminal {
  out(text: string): void;
  err(text: string): void;
  /** colours and progress bars only at a terminal */
  readonly isInteractive: boolean;
}

const STANDARD_OUTPUT = 1;

/** Why a file that standard output leads to has not all that was written. */
let cutOff: NodeJS.ErrnoException | undefined;

/** Whether it leads to a file, or to a device that is no terminal. */
function isOutputFile(): boolean {
  try {
    const output = fstatSync(STANDARD_OUTPUT);
    return output.isFile() || (output.isCharacterDevice() && process.stdout.isTTY !== true);
  } catch {
    return false;
  }
}

/** Writes all of it: Node's own stream takes the part that a file has room for as the whole. */
function writeToFile(text: string): void {
  try {
    writeFileSync(STANDARD_OUTPUT, text);
  } catch (error) {
    cutOff ??= error as NodeJS.ErrnoException;
  }
}

/** For people: why the file that standard output leads to is not whole; undefined where it is, or is no file. */
export function outputTrouble(): string | undefined {
  if (cutOff === undefined) return undefined;
  const what = `swapd: the output was cut off: ${cutOff.message}. Its file is not whole`;
  return `${what}. What the command was to change is changed: look before you run it again`;
}

export const processTerminal: Terminal = {
  out: (text) => {
    if (isOutputFile()) writeToFile(`${text}\n`);
    else process.stdout.write(`${text}\n`);
  },
  err: (text) => {
    process.stderr.write(`${text}\n`);
  },
  isInteractive: process.stdout.isTTY === true && process.stderr.isTTY === true,
};

/**
 * Lets a process go on when nothing takes its output any more: a pipe without a reader, a terminal that was closed, a disk
 * that is full or may only be read, a file as large as it may be. Its work must not be interrupted by that.
 */
export function outliveReader(stream: { on(event: "error", hear: (error: Error) => void): unknown }): void {
  stream.on("error", () => undefined);
}

/** Resolves once all that was written to a stream is with its reader, or the reader is gone. */
export function readToItsEnd(stream: Pick<NodeJS.WriteStream, "writableLength" | "write" | "once">): Promise<void> {
  if (stream.writableLength === 0) return Promise.resolve();
  return new Promise((resolve) => {
    stream.once("close", resolve);
    stream.write("", () => resolve());
  });
}

/** A table with aligned columns; the first row is the heading. */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cell.length);
  }
  return rows
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** An instant in UTC, to the second. */
export function formatInstant(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** The ends of a hash, as explorers show it: `0x1086ee6c…2b82fd87`. Shorter texts stay as they are. */
export function shortened(hash: string): string {
  return hash.length <= 20 ? hash : `${hash.slice(0, 10)}…${hash.slice(-8)}`;
}

/** A raw amount of a token for people: at most eight places after the point, cut, never rounded up. */
export function formatTokenAmount(raw: string | null, token: { symbol: string; decimals: number }): string {
  if (raw === null) return "-";
  const [whole, fraction = ""] = formatUnits(BigInt(raw), token.decimals).split(".");
  const shown = fraction.slice(0, 8).replace(/0+$/, "");
  return `${whole}${shown === "" ? "" : `.${shown}`} ${token.symbol}`;
}
