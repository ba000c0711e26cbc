import { CommandFailure } from "./exit-codes.ts";
import { troubleOf } from "./start-trouble.ts";

const WHAT_IS_LEFT = {
  sandbox:
    "its rows stay readable until the next start; its chain may lack what came last, which `swapd audit` then reports as missing",
  rehearsal: "its rows stay readable until the next one, with `--rehearsal`",
} as const;

/** What a sandbox or a rehearsal ends with that was not asked to: chains are saved by the minute at most, rows with each commit. */
export function cutOff(
  what: keyof typeof WHAT_IS_LEFT,
  ended: unknown,
  redact: (text: string) => string,
): CommandFailure {
  const { message, exitCode } = troubleOf(ended);
  return new CommandFailure(exitCode, redact(`the ${what} stopped: ${message}; ${WHAT_IS_LEFT[what]}`));
}
