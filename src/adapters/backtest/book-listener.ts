import type { ModeRow } from "../../domain/run/operating-mode.ts";
import type { PriceEvidence } from "../../domain/run/records.ts";
import type { Fill, Run, Swap } from "../../domain/run/run.ts";
import type { AlertRow } from "../../ports/alert-store.ts";
import type { GapRow } from "../../ports/daemon-rows.ts";

/** A fill at the instant at which its money counts as spent. */
export interface BookedFill {
  readonly run: Run;
  readonly swap: Swap;
  readonly fill: Fill;
  /** those that the swap was cleared by */
  readonly prices: PriceEvidence | undefined;
  readonly atMs: number;
}

/** Somebody who counts what is written. */
export interface BookListener {
  gap(gap: GapRow): void;
  /** a run that has begun or gone on, up to its end, and not after it */
  moved(run: Run): void;
  /** in the order of their instants */
  filled(filled: BookedFill): void;
  mode(row: ModeRow): void;
  alert(alert: AlertRow): void;
  alertsOver(subject: string): void;
}
