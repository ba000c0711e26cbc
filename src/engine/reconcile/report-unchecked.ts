import { SUBJECT } from "../../domain/run/alert.ts";
import type { Change } from "../../ports/changes.ts";
import { commitAndNotify, raiseChange } from "../alerts.ts";
import type { EngineContext } from "../engine-context.ts";

const ASK_EVERY_MS = 15_000;
/** What takes no longer than this passes by itself. */
const PATIENCE_MS = 60_000;

/** With a check by the hour, a loss is found an hour later than it would be. */
const OVERDUE_MS = 3_600_000;

/** Why the last check came to nothing, and since when none came to an end: by the monotonic clock. */
export interface Failing {
  readonly fault: string;
  readonly sinceMs: number;
}

/** What was said last; undefined: not known since the start. */
type Said = "nothing" | "unchecked" | "overdue" | undefined;

/**
 * Reports once when a wallet is unchecked for a minute, or no check came to an end for an hour, and ends it when that is
 * over. The node may answer everything but logs: then nothing else would say why no slot begins, or that what leaves the
 * wallets is noticed by nobody.
 * @param failing undefined while no check failed, or the first one still reads
 */
export async function keepReporting(
  { deps }: EngineContext,
  failing: () => Failing | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = deps;
  let sinceMs: number | undefined;
  let said: Said;
  while (!signal.aborted) {
    const before = { sinceMs, said };
    const now = await commitAndNotify(deps, {
      question: { kind: "standing", keys: [], wallets: [] },
      decide: ({ open }) => {
        const nowMs = clock.monotonicMs();
        const since = open.some(({ kind }) => kind === "unchecked") ? (before.sinceMs ?? nowMs) : undefined;
        const toSay = whatToSay(nowMs, since, failing());
        const isNews = toSay !== undefined && toSay !== before.said;
        return {
          changes: isNews ? [sayingOf(deps, toSay, failing()?.fault)] : [],
          atMs: clock.nowMs(),
          value: { sinceMs: since, said: isNews ? toSay : before.said },
        };
      },
    });
    ({ sinceMs, said } = now);
    await clock.sleep(ASK_EVERY_MS, signal);
  }
}

/** @returns undefined where it is too early to say anything */
function whatToSay(nowMs: number, uncheckedSinceMs: number | undefined, failing: Failing | undefined): Said {
  if (uncheckedSinceMs !== undefined) return nowMs - uncheckedSinceMs >= PATIENCE_MS ? "unchecked" : undefined;
  return failing !== undefined && nowMs - failing.sinceMs >= OVERDUE_MS ? "overdue" : "nothing";
}

function sayingOf(deps: EngineContext["deps"], said: Exclude<Said, undefined>, fault: string | undefined): Change {
  if (said === "nothing") return { kind: "alerts-over", subject: SUBJECT.check() };
  const why = fault ?? "the first check still reads";
  const text =
    said === "unchecked"
      ? `what the wallets did has not been read back from the chain yet, so nothing is signed for them, not even stops: ${why}`
      : `what the wallets did has not been read back from the chain for an hour and more: what leaves them is noticed by nobody, and trading goes on: ${why}`;
  return raiseChange(deps, { severity: "critical", code: "DATABASE_UNCHECKED", subject: SUBJECT.check(), text });
}
