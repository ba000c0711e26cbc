import type { ModeRow } from "../../../domain/run/operating-mode.ts";
import type { SameEnds } from "../../../domain/run/same-ends.ts";
import type { EndedSlots } from "../../../domain/schedule/ended-slots.ts";
import type { LotOrder } from "../../../ports/book-rows.ts";
import type { GapRow, OperatorRequest, StrategyRow } from "../../../ports/daemon-rows.ts";

/** Rows of the daemon's own life. */
export interface OperationStore {
  strategy(id: string): StrategyRow | undefined;
  saveStrategy(row: StrategyRow, atMs: number): void;
  /** The last handled slots of these strategies; one that is not known has no entry. */
  lastSlots(strategyIds: readonly string[]): ReadonlyMap<string, number>;
  /** Slots after an instant, or the last handled one where that is earlier, that have their end or run; by strategy. */
  endedAhead(strategyIds: readonly string[], fromMs?: number): ReadonlyMap<string, readonly EndedSlots[]>;
  setLastSlot(strategyId: string, lastSlotMs: number): void;
  /** Marks all strategies but these as gone: they have no file. */
  markGone(strategyIds: readonly string[]): void;
  /** Of every strategy that was ever loaded. */
  strategyIds(): readonly string[];
  /** Strategies that were marked as gone and did not come back. */
  goneStrategies(): ReadonlySet<string>;
  /** A strategy's file is there again, and slots up to an instant have their end. */
  comeBack(strategyId: string, lastSlotMs: number): void;
  mode(scope: string): ModeRow | undefined;
  modes(): readonly ModeRow[];
  setMode(row: ModeRow): void;
  /** Records slots without a run; joins the strategy's last gap when it ended at `joinsAtMs` for the same reason. */
  addGap(gap: GapRow, joinsAtMs: number, atMs: number): void;
  /** How the last slots of a strategy came to nothing for one reason; undefined after a trade. */
  sameEnds(strategyId: string): SameEnds | undefined;
  /** Writes down which lots the sales after it take. */
  addLotOrder(order: Omit<LotOrder, "id">): void;
  /** The time of the newest block with a fill, 0 where none is known. */
  newestFillMs(): number;
  addRequest(request: Omit<OperatorRequest, "id">): number;
  /** The id of the newest request, 0 before the first. */
  newestRequest(): number;
  openRequests(): readonly OperatorRequest[];
  answerRequest(id: number, answer: string, atMs: number): void;
  /** what came of a request, undefined while it was not taken */
  answerOf(id: number): string | undefined;
  /** When the daemon was last known to be at work; undefined before its first life. */
  lastAliveMs(): number | undefined;
  addDaemonEvent(kind: string, detail: string, atMs: number): void;
}
