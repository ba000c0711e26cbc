/** Why a swap that passed every check waits: a person has to approve it, or was told of it and may stop it. */
export type HoldKind = "approval" | "announcement";

/** What a person said to a run that waits. */
export interface HoldAnswer {
  readonly decision: "approved" | "refused";
  readonly by: string;
  /** Unix milliseconds */
  readonly atMs: number;
}

/** A run that waits for a person, or did. */
export interface Hold {
  readonly kind: HoldKind;
  /** the swap that had passed its checks when it began */
  readonly swapId: string;
  /** Unix milliseconds: an approval is no longer taken, or an announced swap goes on */
  readonly untilMs: number;
  /** Unix milliseconds: until when what goes on then may be tried */
  readonly windowEndsMs: number;
  /**
   * an announcement that no channel has taken so far, or that the first one took later than it was made: its time begins
   * then; absent where none sends it, and in rows of before
   */
  readonly told?: "never" | "late" | undefined;
  /** undefined: nobody has answered */
  readonly answer: HoldAnswer | undefined;
}

/** A person's no to a run; undefined where nobody said it. */
export function refusalIn(holds: readonly Hold[] | undefined): HoldAnswer | undefined {
  return holds?.flatMap(({ answer }) => answer ?? []).find(({ decision }) => decision === "refused");
}

/**
 * Until when a swap that a person let go may be tried: as long as any swap, from his last word to it on. Unix milliseconds;
 * there is no such end where nobody answered, or an approval is still waited for, and for other swaps of its run: what
 * begins after it, or in its place, has a window of its own.
 */
export function endAfterAnswer(holds: readonly Hold[] = [], swapId: string, windowMs: number): number {
  const own = holds.filter((hold) => hold.swapId === swapId);
  const waits = own.some(({ kind, answer }) => kind === "approval" && answer === undefined);
  const answers = own.flatMap(({ answer }) => answer?.atMs ?? []);
  return waits || answers.length === 0 ? Number.POSITIVE_INFINITY : Math.max(...answers) + windowMs;
}
