/** Structured fields of a log line. Amounts as strings; never a secret, never a provider URL. */
export type LogFields = Readonly<Record<string, unknown>>;

/** A logger takes a fixed sentence plus fields. The adapter redacts known secrets on top. */
export interface Logger {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
  child(fields: LogFields): Logger;
}
