import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";

/** What writes changes, by their kinds. */
export type Writers<K extends Change["kind"] = Change["kind"]> = {
  /** @returns what is to be logged */
  readonly [Kind in K]: (change: Extract<Change, { kind: Kind }>, atMs: number) => AlertRow | undefined;
};

/** A writer that says nothing. */
export function quietly<C>(write: (change: C, atMs: number) => unknown): (change: C, atMs: number) => undefined {
  return (change, atMs) => void write(change, atMs);
}
