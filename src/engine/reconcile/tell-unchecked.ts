import { SUBJECT } from "../../domain/run/alert.ts";
import { raiseAlerts, tellAlerts } from "../alerts.ts";
import type { EngineContext } from "../engine-context.ts";

const ASK_EVERY_MS = 15_000;
/** What takes no longer than this passes by itself. */
const PATIENCE_MS = 60_000;

/** What is known of the looks that hold the rows against the chain. */
interface Looks {
  isUnchecked(): boolean;
  /** why the last look came to nothing; undefined while none did, or the first one still reads */
  fault(): string | undefined;
}

/**
 * Tells once when a wallet is unchecked for a minute, and ends it when it no longer is. The node may answer everything but
 * logs: then nothing else would say why no slot begins.
 */
export async function keepTelling({ deps }: EngineContext, looks: Looks, signal: AbortSignal): Promise<void> {
  const { clock } = deps;
  let sinceMs: number | undefined;
  let isTold: boolean | undefined;
  while (!signal.aborted) {
    const nowMs = clock.monotonicMs();
    sinceMs = looks.isUnchecked() ? (sinceMs ?? nowMs) : undefined;
    const isLong = sinceMs !== undefined && nowMs - sinceMs >= PATIENCE_MS;
    if ((isLong || sinceMs === undefined) && isTold !== isLong) {
      write(deps, isLong, looks.fault());
      isTold = isLong;
    }
    await clock.sleep(ASK_EVERY_MS, signal);
  }
}

function write(deps: EngineContext["deps"], isLong: boolean, fault: string | undefined): void {
  const raised = deps.store.transaction(() => {
    if (!isLong) {
      deps.store.endAlerts(SUBJECT.check(), deps.clock.nowMs());
      return [];
    }
    const text = `what wallets did is not read back from the chain yet, so nothing of them is signed, stops neither: ${fault ?? "the first look still reads"}`;
    return raiseAlerts(deps, [{ severity: "critical", code: "DATABASE_UNCHECKED", subject: SUBJECT.check(), text }]);
  });
  tellAlerts(deps, raised);
}
