import { type DestinationStream, type Logger as Pino, pino } from "pino";
import type { Redactor } from "../../net/redact.ts";
import { Secret } from "../../net/secret.ts";
import type { LogFields, Logger } from "../../ports/logger.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

const DEEPEST = 6;
const LONGEST_TEXT = 4_000;

/**
 * Creates the logger: one JSON line an entry. Every text goes through the redactor first, also keys, nested fields and
 * the messages and stacks of errors; bigint becomes its decimal text.
 * @param options.destination where lines go; default: standard output
 */
export function createLogger(options: {
  level: LogLevel;
  redactor: Redactor;
  destination?: DestinationStream;
}): Logger {
  const base = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  const settings = { ...base, formatters: { level: (label: string) => ({ level: label }) } };
  const root = options.destination === undefined ? pino(settings) : pino(settings, options.destination);
  return wrap(root, options.redactor);
}

function wrap(logger: Pino, redactor: Redactor): Logger {
  function entry(level: "debug" | "info" | "warn" | "error") {
    return (fields: LogFields, message: string): void => {
      if (logger.isLevelEnabled(level)) logger[level](cleanFields(fields, redactor), redactor.redact(message));
    };
  }
  return {
    debug: entry("debug"),
    info: entry("info"),
    warn: entry("warn"),
    error: entry("error"),
    child: (fields) => wrap(logger.child(cleanFields(fields, redactor)), redactor),
  };
}

function cleanFields(fields: LogFields, redactor: Redactor): Record<string, unknown> {
  return clean({ ...fields }, redactor, 0) as Record<string, unknown>;
}

function clean(value: unknown, redactor: Redactor, depth: number): unknown {
  if (typeof value === "string") return cut(redactor.redact(value));
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "function" || typeof value === "symbol") return `[${typeof value}]`;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Secret) return value.toJSON();
  if (value instanceof Date) return value.toISOString();
  if (depth >= DEEPEST) return "[deeper]";
  if (value instanceof Error) return cleanError(value, redactor, depth);
  if (Array.isArray(value)) return value.map((item) => clean(item, redactor, depth + 1));
  const entries = Object.entries(value).map(([key, item]) => [redactor.redact(key), clean(item, redactor, depth + 1)]);
  return Object.fromEntries(entries);
}

function cleanError(error: Error, redactor: Redactor, depth: number): Record<string, unknown> {
  return {
    type: error.name,
    message: cut(redactor.redact(error.message)),
    stack: cut(redactor.redact(error.stack ?? "")),
    ...("code" in error ? { code: clean(error.code, redactor, depth + 1) } : {}),
    ...(error.cause === undefined ? {} : { cause: clean(error.cause, redactor, depth + 1) }),
  };
}

function cut(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT)}...`;
}
