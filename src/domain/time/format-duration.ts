const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const;

/** What is still to pass, rounded up: a time that is not over is never `0s`. */
export function formatTimeLeft(leftMs: number): string {
  return formatDuration(Math.ceil(leftMs / 1_000) * 1_000);
}

/** The two largest units: 7h12m, 3d4h, 42s. */
export function formatDuration(durationMs: number): string {
  let seconds = Math.floor(durationMs / 1_000);
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (parts.length < 2 && (count > 0 || parts.length > 0)) parts.push(`${count}${name}`);
  }
  return parts.filter((part, index) => index === 0 || !part.startsWith("0")).join("") || "0s";
}
