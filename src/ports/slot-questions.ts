import type { Address } from "../domain/money/address.ts";
import type { Hold } from "../domain/run/hold.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import type { Run } from "../domain/run/run.ts";
import type { SameEnds } from "../domain/run/same-ends.ts";
import type { EndedSlots } from "../domain/schedule/ended-slots.ts";
import type { TrueWarning } from "./alert-store.ts";
import type { EffectGroup, OperatorRequest, PendingEffect, StrategyRow } from "./daemon-rows.ts";
import type { LaneHalt } from "./lane-store.ts";
import type { Difference } from "./reconciliation-store.ts";
import type { ModeRows } from "./view-questions.ts";

/** What slots of strategies go by. Instants in milliseconds. */
export interface SlotRows {
  /** the last handled slot of each strategy that has a row */
  readonly lastSlots: ReadonlyMap<string, number>;
  /** slots after the last handled one that have their end or run already, the earliest first; few strategies have any */
  readonly endedAhead: ReadonlyMap<string, readonly EndedSlots[]>;
  readonly modes: readonly ModeRow[];
  /** what the chain shows and the rows do not, and which is not accepted yet */
  readonly differences: readonly Difference[];
  /** when a person last accepted what another database did, by wallet */
  readonly accepted: ReadonlyMap<Address, number>;
  /** strategies with an open run */
  readonly busy: ReadonlySet<string>;
  /** how the last slots of these strategies came to nothing for one reason; no entry after a trade */
  readonly sameEnds: ReadonlyMap<string, SameEnds>;
  /** all that people are warned of now */
  readonly warnings: readonly TrueWarning[];
}

/** What is asked for slots, editions, operators' requests and effects. */
export interface SlotQuestions {
  readonly slots: { readonly asked: { readonly strategyIds: readonly string[] }; readonly rows: SlotRows };
  /** The same of one strategy, with the slots from an instant or its last handled one on that have a run. */
  readonly "next-slot": {
    readonly asked: { readonly strategyId: string; readonly fromMs: number };
    readonly rows: SlotRows & { readonly taken: readonly number[] };
  };
  /** The same, with the slots that have their end or run from an instant or the last handled one on. */
  readonly editions: {
    readonly asked: { readonly strategyIds: readonly string[]; readonly fromMs: number };
    readonly rows: SlotRows & {
      readonly rows: ReadonlyMap<string, StrategyRow>;
      /** strategies that were marked as gone and did not come back */
      readonly gone: ReadonlySet<string>;
    };
  };
  /** Strategies with an open run. */
  readonly busy: { readonly asked: object; readonly rows: ReadonlySet<string> };
  /** A strategy, or all of them: its mode, whether it has a row, and the accounts that are halted now. */
  readonly scope: {
    readonly asked: { readonly scope: string };
    readonly rows: {
      readonly mode: ModeRow | undefined;
      readonly isKnown: boolean;
      readonly halts: readonly LaneHalt[];
      /** of everything and of each strategy */
      readonly modes: readonly ModeRow[];
    };
  };
  /** What the message of a start says. */
  readonly start: {
    readonly asked: object;
    readonly rows: { readonly mode: ModeRow | undefined; readonly lastAliveMs: number | undefined };
  };
  /** Every mode that was ever set, by scope. */
  readonly modes: { readonly asked: object; readonly rows: readonly ModeRow[] };
  /** The newest request that is written down; 0 before the first. */
  readonly "newest-request": { readonly asked: object; readonly rows: number };
  /** What came of a request; undefined while it was not taken. */
  readonly "request-answer": { readonly asked: { readonly requestId: number }; readonly rows: string | undefined };
  /** Operators' requests that are not answered yet, the oldest first. */
  readonly requests: { readonly asked: object; readonly rows: readonly OperatorRequest[] };
  /** The time of the newest block with a fill; 0 where none is known. */
  readonly "newest-fill": { readonly asked: object; readonly rows: number };
  /** Runs that have not begun, the oldest slots first. */
  readonly "due-runs": { readonly asked: { readonly limit: number }; readonly rows: readonly string[] };
  /** Effects of a group that are due, the longest due first; those in flight are among them. */
  readonly "due-effects": {
    readonly asked: { readonly nowMs: number; readonly limit: number; readonly group: EffectGroup };
    readonly rows: readonly PendingEffect[];
  };
  /** When the next effect is due; undefined: none is written down. */
  readonly "next-effect": { readonly asked: object; readonly rows: number | undefined };
  /** An effect that is about to be begun: its run, and how often it was begun before. */
  readonly effect: {
    readonly asked: { readonly effectId: number; readonly runId: string };
    readonly rows: { readonly run: Run; readonly begun: number };
  };
  /** A run that a person names, what it waits for, and what may keep it from trading whatever is said. */
  readonly hold: {
    readonly asked: { readonly runId: string };
    readonly rows: ModeRows & {
      readonly run: Run | undefined;
      readonly holds: readonly Hold[];
      readonly halts: readonly LaneHalt[];
      readonly isBarred: boolean;
    };
  };
  /** What the chain shows and the rows do not, and which is not accepted yet. */
  readonly differences: { readonly asked: object; readonly rows: readonly Difference[] };
}
