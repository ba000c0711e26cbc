import { EXIT } from "../src/app/exit-codes.ts";
import { DIFFERENCE_MEANINGS } from "../src/audit/report.ts";
import { consequenceOf } from "../src/domain/guard/consequence.ts";
import { DENIALS, type DenialCode } from "../src/domain/guard/denial.ts";
import {
  type ReasonExplanation,
  SIGNED_REASONS,
  SLOT_REASONS,
  STRATEGY_REASONS,
  UNSIGNED_REASONS,
} from "../src/domain/run/reasons.ts";
import { ERRORS } from "../src/service/errors/errors.ts";

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "It worked.",
  no: "The answer is no: a check found problems, an audit found a difference.",
  usage: "The command or its options are wrong.",
  invariant: "A broken invariant or an uncaught error. The process stopped on purpose; the next start recovers.",
  tryAgain:
    "It may pass by itself: another daemon, service or sandbox is at work, a port is in use, the disk is full. Start it again.",
  configuration:
    "A person must change a file: the configuration is broken, or chain, tokens, wallets or database are not the configured ones.",
};

/** The text of docs/ERRORS.md, from the tables in the code. */
export function errorsDocument(): string {
  const explained = (table: Readonly<Record<string, ReasonExplanation>>): string =>
    rows(["Reason", "Meaning", "What to do"], table, ({ meaning, whatToDo }) => [meaning, whatToDo]);
  return `${[
    "# Errors, denials and reasons",
    "Generated from the tables in the code by `npm run errors`; a test compares. Codes and reasons are stable: filter by them.",
    "## Denials",
    "What the daemon itself refuses to sign. `swapd why <strategy>` lists every check with value and limit. What follows: `fail` denies the swap at once, its run fails and a person is notified; `retry` asks again inside the slot's window and then denies; `defer` asks again inside the window and then skips; `skip` skips at once. Skips count as no failure.",
    rows(["Code", "Follows", "Meaning", "What to do"], DENIALS, ({ meaning, whatToDo }, code) => [
      consequenceOf(code as DenialCode),
      meaning,
      whatToDo,
    ]),
    "## Reasons",
    "### A slot got no run",
    explained(SLOT_REASONS),
    "### The strategy traded nothing",
    explained(STRATEGY_REASONS),
    "### A swap ended before anything was signed",
    explained(UNSIGNED_REASONS),
    "### A swap was signed",
    explained(SIGNED_REASONS),
    "## Differences that `swapd audit` finds",
    rows(["Code", "Meaning"], DIFFERENCE_MEANINGS, (meaning) => [`${meaning}.`]),
    "## Errors of the aggregation service",
    'Answered as `{"message", "code", "error"}`; the message names the parameter.',
    rows(["Error", "Code", "HTTP", "Message", "What to do"], ERRORS, ({ code, status, message, remedy }) => [
      String(code),
      String(status),
      `${message}.`,
      remedy,
    ]),
    "## Exit codes",
    rows(["Name", "Code", "Meaning"], EXIT, (code, name) => [String(code), EXIT_MEANINGS[name]]),
  ].join("\n\n")}\n`;
}

/** A Markdown table with one row for each entry, its key first. */
function rows<Key extends string, Value>(
  heading: readonly string[],
  table: Readonly<Record<Key, Value>>,
  cells: (value: Value, key: Key) => readonly string[],
): string {
  const lines = (Object.keys(table) as Key[]).map((key) => [`\`${key}\``, ...cells(table[key], key)]);
  return [heading, heading.map(() => "---"), ...lines]
    .map((line) => `| ${line.map((cell) => cell.replaceAll("|", "\\|").trim()).join(" | ")} |`)
    .join("\n");
}
