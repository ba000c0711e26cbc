import { SUBJECT } from "../domain/run/alert.ts";
import type { ModeRow } from "../domain/run/operating-mode.ts";
import { isMemoryOf, type StrategyMemory } from "../domain/strategy/strategy.ts";
import type { Change, Decided } from "../ports/changes.ts";
import type { StrategyRow } from "../ports/daemon-rows.ts";
import type { Answered } from "../ports/questions.ts";
import { commitAndNotify, raiseChange } from "./alerts.ts";
import type { EngineContext } from "./engine-context.ts";

/** The memory that was read last: a slot reads the same one several times. Memories are plain data that nobody changes. */
let known: { readonly text: string; readonly memory: StrategyMemory } | undefined;

/** Stored memory as JSON; undefined when the row holds none, which no kind of strategy can read. */
export function parseStoredMemory(text: string): StrategyMemory | undefined {
  if (known?.text === text) return known.memory;
  try {
    const memory: StrategyMemory = JSON.parse(text);
    known = { text, memory };
    return memory;
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
 * Halts a strategy whose memory cannot be read, and notifies a person. It must not decide on what it does not know, and
 * its row is left for a release that can read it; all other strategies go on.
 */
export async function quarantine(context: EngineContext, row: Pick<StrategyRow, "id" | "kind">): Promise<void> {
  const { clock } = context.deps;
  const question = { kind: "scope", scope: row.id } as const;
  const decide = ({ mode }: Answered<"scope">): Decided<undefined> => {
    const changes = quarantineChanges(context, row, mode === undefined ? [] : [mode]);
    return { changes, atMs: clock.nowMs(), value: undefined };
  };
  await commitAndNotify(context.deps, { question, decide });
}

/** What halts it and notifies a person. @param modes those that are set, its own among them */
export function quarantineChanges(
  { deps }: EngineContext,
  { id, kind }: Pick<StrategyRow, "id" | "kind">,
  modes: readonly ModeRow[],
): readonly Change[] {
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
  const halted = { scope: id, mode: "halted", setBy: "swapd", reason, atMs: deps.clock.nowMs() } as const;
  const isHalted = modes.some(({ scope, mode }) => scope === id && mode === "halted");
  const raised = raiseChange(deps, alert, { strategy: id });
  return isHalted ? [raised] : [{ kind: "mode", row: halted }, raised];
}
