import type { DryRun } from "../engine/dry-run.ts";

/** What a dry run means for the slot itself. */
export interface DryRunVerdict {
  readonly verdict: string;
  /** undefined where it would trade */
  readonly reason: string | undefined;
  readonly detail: string | undefined;
}

/** A dry run ends each swap before it is signed: that it did is no reason, and says nothing of the slot. */
export function describeDryRun({ run, waits, waitsFor, barred }: DryRun): DryRunVerdict {
  if (barred !== undefined) {
    const detail = `${barred.scope} is ${barred.mode}, set by ${barred.setBy}: ${barred.reason}`;
    return { verdict: "starts no run", reason: barred.mode, detail };
  }
  if (waits) return { verdict: "would ask again in a while", reason: waitsFor?.reason, detail: waitsFor?.detail };
  if (run.reason === "dry_run") return { verdict: "would trade", reason: undefined, detail: undefined };
  return { verdict: `${run.state}, ${run.reason ?? "no reason"}`, reason: run.reason, detail: run.detail };
}
