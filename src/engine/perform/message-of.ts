/** Text of an error from an adapter, which has redacted it. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
