import type { RunEvent } from "../domain/run/events.ts";
import type { Run } from "../domain/run/run.ts";
import type { StepQuestion, StepRows } from "./changes.ts";
import type { LaneQuestions } from "./lane-questions.ts";
import type { ReconciliationQuestions } from "./reconciliation-questions.ts";
import type { SlotQuestions } from "./slot-questions.ts";
import type { ViewQuestions } from "./view-questions.ts";
import type { WatchQuestions } from "./watch-questions.ts";

/** What is asked of the rows, by its kind, and what they answer. Plain data both. */
export interface Questions
  extends LaneQuestions,
    ReconciliationQuestions,
    SlotQuestions,
    ViewQuestions,
    WatchQuestions {
  /** Nothing: what is written depends on no row. */
  readonly nothing: { readonly asked: object; readonly rows: undefined };
  /** What a step of a run is decided on. */
  readonly step: {
    readonly asked: { readonly runId: string; readonly event: RunEvent; readonly of: StepQuestion };
    readonly rows: { readonly run: Run } & StepRows;
  };
}

/** What may be asked of the rows. */
export type QuestionKind = keyof Questions;

/** Something that is asked of the rows: its kind, and plain data. */
export type Question<K extends QuestionKind> = { readonly kind: K } & Questions[K]["asked"];

/** What the rows answer: plain data, read whole and as of one instant. */
export type Answered<K extends QuestionKind> = Questions[K]["rows"];
