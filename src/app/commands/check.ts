import { resolve } from "node:path";
import { loadConfiguration } from "../../config/load-configuration.ts";
import { formatProblems } from "../../config/problem.ts";
import { CommandFailure, EXIT } from "../exit-codes.ts";
import { configurationFile } from "../target.ts";
import type { Terminal } from "../terminal.ts";

/** `swapd check`: all problems of a configuration and the files it names, at once. Ends with 1 when there are any. */
export function check(
  file: string | undefined,
  options: { config?: string; json?: boolean },
  terminal: Terminal,
): void {
  const named = file ?? configurationFile(options);
  const loaded = loadConfiguration(resolve(named), process.env);
  if (loaded.ok) {
    const strategies = loaded.configuration.strategies.map(({ spec }) => spec.id);
    terminal.out(
      options.json === true
        ? JSON.stringify({ ok: true, strategies, problems: [] })
        : `${named} is fine: ${strategies.length} strategies (${strategies.join(", ")})`,
    );
    return;
  }
  terminal.out(
    options.json === true ? JSON.stringify({ ok: false, problems: loaded.problems }) : formatProblems(loaded.problems),
  );
  throw new CommandFailure(EXIT.no, "");
}
