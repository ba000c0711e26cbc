import { CommandFailure } from "../../src/app/exit-codes.ts";
import type { Terminal } from "../../src/app/terminal.ts";

/** How a command ended, and all that it printed. */
export interface Said {
  readonly code: number;
  readonly text: string;
}

/** Runs a command in this process. @throws what is no failure of a command */
export async function said(command: (terminal: Terminal) => Promise<void>): Promise<Said> {
  const lines: string[] = [];
  const say = (text: string): void => void lines.push(text);
  try {
    await command({ out: say, err: say, isInteractive: false });
    return { code: 0, text: lines.join("\n") };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { code: error.exitCode, text: [...lines, error.message].join("\n") };
  }
}
