import { createInterface } from "node:readline";

/** Where answers come from: a terminal, or what is piped in. */
export interface LineSource {
  /** Shows a prompt and gives the next line; undefined once there is none any more. */
  next(prompt: string): Promise<string | undefined>;
  close(): void;
}

/** The lines of standard input. Prompts go to standard error, so that the output can be kept. */
export function processLines(): LineSource {
  const lines = createInterface({
    input: process.stdin,
    output: process.stderr,
    terminal: process.stdin.isTTY === true,
  });
  const waiting: string[] = [];
  let deliver: ((line: string | undefined) => void) | undefined;
  let isOver = false;
  const give = (line: string | undefined): boolean => {
    const to = deliver;
    deliver = undefined;
    to?.(line);
    return to !== undefined;
  };
  lines.on("line", (line) => {
    if (!give(line)) waiting.push(line);
  });
  lines.on("close", () => {
    isOver = true;
    give(undefined);
  });
  return {
    next: (prompt) => {
      if (isOver || waiting.length > 0) process.stderr.write(`${prompt}\n`);
      else {
        lines.setPrompt(prompt);
        lines.prompt();
      }
      if (waiting.length > 0) return Promise.resolve(waiting.shift());
      if (isOver) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        deliver = resolve;
      });
    },
    close: () => lines.close(),
  };
}
