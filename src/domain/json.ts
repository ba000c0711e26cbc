/** Whether a JSON value is an object with fields. */
export function isRecord(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

/** Whether a JSON value is a whole number from zero up, such as a count or an instant. */
export function isCount(json: unknown): json is number {
  return typeof json === "number" && Number.isSafeInteger(json) && json >= 0;
}
