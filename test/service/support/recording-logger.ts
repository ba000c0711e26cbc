import type { LogFields, Logger } from "../../../src/ports/logger.ts";

/** Keeps what was logged, so that a test can look at it. */
export function createRecordingLogger(): Logger & {
  readonly lines: { level: string; fields: LogFields; message: string }[];
} {
  const lines: { level: string; fields: LogFields; message: string }[] = [];
  const at = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, fields, message });
  const logger = { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { ...logger, child: () => ({ ...logger, child: () => createRecordingLogger() }) };
}
