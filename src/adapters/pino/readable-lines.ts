import type { DestinationStream } from "pino";

/** Fields that begin a line, or that only machines need: a person finds them by `swapd show`. */
const NOT_LISTED = new Set(["level", "time", "msg", "strategy", "runId", "from", "to", "stack"]);
const LONGEST_VALUE = 200;

const COLOURS: Readonly<Record<string, string>> = { warn: "\u001b[33m", error: "\u001b[31m", debug: "\u001b[2m" };
const PLAIN = "\u001b[0m";

/**
 * Passes the logger's JSON lines on as one line an event for people: when, how grave, which strategy, what, and its
 * fields. It writes what it is given at once, in this process, so that nothing is lost when the process ends.
 */
export function readableLines(to: DestinationStream, options: { readonly colours: boolean }): DestinationStream {
  return {
    write: (line) => {
      to.write(`${readableLine(line, options.colours)}\n`);
    },
  };
}

/** One event as a person reads it; a line that is no JSON stays as it is. */
export function readableLine(line: string, colours: boolean): string {
  const entry = parsed(line);
  if (entry === undefined) return line.trimEnd();
  const { level, time, msg, strategy } = entry;
  const head = [
    typeof time === "string" ? time.slice("2026-01-01T".length, "2026-01-01T00:00:00".length) : "",
    level === "info" ? "" : `${String(level)}:`,
    strategy === undefined ? "" : `${String(strategy)}:`,
    oneLine(String(msg ?? "")),
  ];
  const fields = Object.entries(entry).flatMap(([name, value]) =>
    NOT_LISTED.has(name) || value === null || value === undefined ? [] : [`${name} ${fieldText(value)}`],
  );
  const text = `${head.filter((part) => part !== "").join(" ")}${fields.length === 0 ? "" : `; ${fields.join(", ")}`}`;
  const colour = colours ? COLOURS[String(level)] : undefined;
  return colour === undefined ? text : `${colour}${text}${PLAIN}`;
}

function parsed(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    // The logger writes JSON; whatever else comes is shown rather than lost.
    return undefined;
  }
}

/** Of an error its message: the stack is in the JSON form. */
function fieldText(value: unknown): string {
  const isError = typeof value === "object" && value !== null && "message" in value && "stack" in value;
  const text = isError ? String(value.message) : typeof value === "string" ? value : JSON.stringify(value);
  const short = oneLine(text);
  return short.length <= LONGEST_VALUE ? short : `${short.slice(0, LONGEST_VALUE)}...`;
}

/** Control characters of a foreign text must neither break a line nor reach the terminal. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}
