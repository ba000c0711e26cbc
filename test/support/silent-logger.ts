import type { LogFields, Logger } from "../../src/ports/logger.ts";

/** A logger that keeps its lines instead of printing them. */
export function silentLogger(): Logger & { readonly lines: { level: string; fields: LogFields; message: string }[] } {
  const lines: { level: string; fields: LogFields; message: string }[] = [];
  const at = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, fields, message });
  const logger = {
    lines,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (): Logger => logger,
  };
  return logger;
}
