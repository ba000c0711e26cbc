import { SUBJECT } from "../domain/run/alert.ts";
import { isMemoryOf, type StrategyMemory } from "../domain/strategy/strategy.ts";
import type { StrategyRow } from "../ports/daemon-rows.ts";
import { changeMode, raiseAlerts, tellAlerts } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";

/** Stored memory as JSON; undefined when the row holds none, which no kind of strategy can read. */
export function parseStoredMemory(text: string): StrategyMemory | undefined {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Whether this release can read what a strategy remembers. */
export function hasReadableMemory({ spec, memory }: Pick<StrategyRow, "spec" | "memory">): boolean {
  return isMemoryOf(spec, parseStoredMemory(memory));
}

/**
 * Halts a strategy whose memory cannot be read, and tells a person. It must not decide on what it does not know, and its
 * row is left for whoever can read it; all other strategies go on.
 */
export function quarantine({ deps }: EngineContext, { id, kind }: Pick<StrategyRow, "id" | "kind">): void {
  const { store, clock } = deps;
  const reason =
    `MEMORY_UNREADABLE: what it remembers is broken, or of a release that this one does not know (kind ${kind}); ` +
    "restore the database from a backup, or start the release that wrote it; or give its file another name, under " +
    `which it begins anew with budget, marks and all; then: swapd resume ${id}`;
  const alert = {
    severity: "critical",
    code: "MEMORY_UNREADABLE",
    subject: SUBJECT.mode(id),
    text: `strategy ${id} is halted, all others go on: ${reason}`,
  } as const;
  const raised = store.transaction(() => {
    if (store.mode(id)?.mode !== "halted") {
      changeMode(deps, { scope: id, mode: "halted", setBy: "swapd", reason, atMs: clock.nowMs() });
    }
    return raiseAlerts(deps, [alert], { strategy: id });
  });
  tellAlerts(deps, raised);
}
