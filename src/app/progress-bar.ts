import type { Terminal } from "./terminal.ts";

const WIDTH = 30;
const LEAST_STEP = 0.01;

/** Shows on stderr how far long work is; nothing where nobody looks. */
export interface ProgressBar {
  show(share: number): void;
  /** takes the line away */
  end(): void;
}

/** Makes a bar with a title. */
export function createProgressBar(title: string, terminal: Pick<Terminal, "isInteractive">): ProgressBar {
  let shown = -1;
  const write = (text: string): void => {
    if (terminal.isInteractive) process.stderr.write(text);
  };
  return {
    show: (share) => {
      if (share - shown < LEAST_STEP && share < 1) return;
      shown = share;
      const full = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
      write(`\r${title} [${"#".repeat(full)}${" ".repeat(WIDTH - full)}] ${Math.floor(share * 100)}%`);
    },
    end: () => write(`\r${" ".repeat(title.length + WIDTH + 8)}\r`),
  };
}
