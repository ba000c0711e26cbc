import { SUBJECT } from "../../domain/run/alert.ts";
import type { Change } from "../../ports/changes.ts";
import { commitAndNotify, raiseChange } from "../alerts.ts";
import type { EngineContext } from "../engine-context.ts";

const ASK_EVERY_MS = 15_000;
/** What takes no longer than this passes by itself. */
const PATIENCE_MS = 60_000;

/**
 * Reports once when a wallet is unchecked for a minute, and ends it when it no longer is. The node may answer everything but
 * logs: then nothing else would say why no slot begins.
 * @param fault why the last check came to nothing; undefined while none did, or the first one still reads
 */
export async function keepReporting(
  { deps }: EngineContext,
  fault: () => string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = deps;
  let sinceMs: number | undefined;
  let isReported: boolean | undefined;
  while (!signal.aborted) {
    const before = { sinceMs, isReported };
    const now = await commitAndNotify(deps, {
      question: { kind: "standing", keys: [], wallets: [] },
      decide: ({ open }) => {
        const nowMs = clock.monotonicMs();
        const since = open.some(({ kind }) => kind === "unchecked") ? (before.sinceMs ?? nowMs) : undefined;
        const isLong = since !== undefined && nowMs - since >= PATIENCE_MS;
        const isNews = (isLong || since === undefined) && before.isReported !== isLong;
        return {
          changes: isNews ? [said(deps, isLong, fault())] : [],
          atMs: clock.nowMs(),
          value: { sinceMs: since, isReported: isNews ? isLong : before.isReported },
        };
      },
    });
    sinceMs = now.sinceMs;
    isReported = now.isReported;
    await clock.sleep(ASK_EVERY_MS, signal);
  }
}

function said(deps: EngineContext["deps"], isLong: boolean, fault: string | undefined): Change {
  if (!isLong) return { kind: "alerts-over", subject: SUBJECT.check() };
  const text = `what the wallets did has not been read back from the chain yet, so nothing is signed for them, not even stops: ${fault ?? "the first check still reads"}`;
  return raiseChange(deps, { severity: "critical", code: "DATABASE_UNCHECKED", subject: SUBJECT.check(), text });
}
