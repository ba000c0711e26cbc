import type { LaneDecided, LaneRows } from "../ports/lane-unit-of-work.ts";
import { accountOf, type LaneParts, nothing } from "./lane-context.ts";

/**
 * Stops all signing for an account that is not halted until a person looks.
 * @param why.count so many transactions of it are in blocks
 * @param why.isTrueOf whether it is so by the rows of that instant: a person may have accepted it meanwhile
 */
export async function haltAccount(
  { options, deps }: LaneParts,
  why: { readonly reason: string; count(rows: LaneRows): number; isTrueOf(rows: LaneRows): boolean },
): Promise<void> {
  const question = accountOf(options);
  const { account } = question;
  const { reason } = why;
  const isHalted = await deps.store.commit({
    question,
    decide: (rows): LaneDecided<boolean> => {
      if (rows.halt !== undefined || !why.isTrueOf(rows)) return nothing({ options, deps }, false);
      const atMs = deps.clock.nowMs();
      const change = { ...question, reason, transactionCount: why.count(rows), atMs };
      return { changes: [{ kind: "account-halted", halt: change }], atMs, value: true };
    },
  });
  if (!isHalted) return;
  deps.logger.error({ account, reason }, "the account is halted: nothing is signed until a person releases it");
}
