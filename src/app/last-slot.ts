import type { StatusRows } from "../ports/read-model.ts";

/**
 * The last slot of a strategy that has its end or run; undefined where none came yet: its row begins with the instant at
 * which it was first seen.
 */
export function lastSlotOf(
  { id, runs, lastSlotMs }: StatusRows["strategies"][number],
  gaps: StatusRows["gaps"],
): number | undefined {
  const hadOne = Object.keys(runs).length > 0 || gaps.some(({ strategy }) => strategy === id);
  return hadOne ? lastSlotMs : undefined;
}
