import type { GapHistory } from "../ports/history.ts";

/**
 * Whether slots without a run are what an instant is about, and not a run before it. Of those that go on after the
 * instant only the first one is known to lie before it: an extra run may stand between them.
 */
export function isOfGap(
  { firstSlotMs, lastSlotMs }: Pick<GapHistory, "firstSlotMs" | "lastSlotMs">,
  { run, atMs }: { readonly run: { readonly slotMs: number } | undefined; readonly atMs: number },
): boolean {
  return run === undefined || (lastSlotMs <= atMs ? lastSlotMs : firstSlotMs) > run.slotMs;
}
