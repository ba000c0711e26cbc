import type { Path } from "./complaint.ts";

/** Where a strategy file first names a token: as a key, as a value, or with an amount. The whole file when it does not. */
export function placeOfToken(data: unknown, symbol: string): Path {
  return find(data, symbol, []) ?? [];
}

function find(value: unknown, symbol: string, path: Path): Path | undefined {
  if (typeof value === "string") return value.split(/[\s,/]+/).includes(symbol) ? path : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [key, child] of entries as [string | number, unknown][]) {
    if (key === symbol) return [...path, key];
    const found = find(child, symbol, [...path, key]);
    if (found !== undefined) return found;
  }
  return undefined;
}
