/** An instant for people: `2026-01-31T09:00:00.000Z`. */
export function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}
