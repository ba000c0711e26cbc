import type { Decided } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import { commitAndNotify, writeAndNotify } from "./alerts.ts";
import { isEditionOf } from "./edition.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { decideEditions, passOverSlots } from "./register-strategies.ts";
import type { DecidedSlots, OutcomeListener, SlotOutcome } from "./slot-gaps.ts";

/** Which edition of each strategy is in force while files are edited. */
export interface Editions {
  /** the engine's context, whose strategies are the editions in force */
  readonly context: EngineContext;
  /** Writes down which files are there, before anything goes by the wall clock: a restart must not forget what is gone. */
  noteFiles(strategies: readonly LoadedStrategy[]): Promise<void>;
  /**
   * Takes over what the files say now. An edition applies from the strategy's next slot: while a run of the one before is
   * open, that one stays in force. A strategy without a file starts no further run.
   */
  adopt(wanted: readonly LoadedStrategy[]): Promise<void>;
  /** Once a second: editions whose predecessor's run has ended come into force. */
  settle(): Promise<void>;
}

/** Makes the editions. Nothing is in force before the first call of `adopt`. Calls must not overlap. */
export function createEditions(context: EngineContext, heard: OutcomeListener): Editions {
  const { store, logger, clock } = context.deps;
  let inForce: readonly LoadedStrategy[] = [];
  let wanted: readonly LoadedStrategy[] = [];
  let waiting: ReadonlySet<string> = new Set();
  let isAtWork = false;
  const settings = Object.defineProperty({ ...context.settings }, "strategies", { get: () => inForce });
  /** @param comeBack takes over those whose files were gone: what passed meanwhile is passed over */
  const takeOver = async (comeBack: boolean): Promise<void> => {
    const question = { kind: "editions", strategyIds: idsOf(wanted), fromMs: clock.nowMs() } as const;
    const decide = (read: Answered<"editions">): Decided<TakenOver> => {
      const back = comeBack ? passOver(context, read) : NOTHING;
      const rows = comeBack ? afterPassing(read, clock.nowMs()) : read;
      const open = wanted.map((strategy) => openEdition(strategy, rows) ?? strategy);
      const ready = wanted.filter((strategy, index) => strategy === open[index]);
      const late = wanted.filter((strategy, index) => strategy !== open[index]);
      const edited = decideEditions(context, ready, { rows, isAtWork });
      const over = { kind: "alerts-of-others-over", strategyIds: idsOf(wanted) } as const;
      return {
        changes: [...back.changes, ...(comeBack ? [over] : []), ...edited.changes],
        atMs: clock.nowMs(),
        value: { inForce: open, waiting: new Set(idsOf(late)), outcomes: [...back.outcomes, ...edited.outcomes] },
      };
    };
    const taken = await commitAndNotify(context.deps, { question, decide });
    const before = waiting;
    inForce = taken.inForce;
    waiting = taken.waiting;
    isAtWork = true;
    taken.outcomes.forEach(heard);
    for (const strategy of waiting) {
      if (!before.has(strategy)) logger.info({ strategy }, "the edited strategy applies once its open run has ended");
    }
  };
  return {
    context: { ...context, settings },
    noteFiles: (strategies) => writeAndNotify(context.deps, [{ kind: "files", strategyIds: idsOf(strategies) }]),
    adopt: async (strategies) => {
      wanted = strategies;
      await takeOver(true);
    },
    settle: async () => {
      if (waiting.size === 0) return;
      const busy = await store.read({ kind: "busy" });
      if ([...waiting].some((strategy) => !busy.has(strategy))) await takeOver(false);
    },
  };
}

/** What is in force, which editions wait for a run to end, and what became of slots. */
interface TakenOver {
  readonly inForce: readonly LoadedStrategy[];
  readonly waiting: ReadonlySet<string>;
  readonly outcomes: readonly SlotOutcome[];
}

const NOTHING: DecidedSlots = { changes: [], outcomes: [] };

function idsOf(strategies: readonly LoadedStrategy[]): readonly string[] {
  return strategies.map(({ spec }) => spec.id);
}

/** The edition that an open run began under, when it is another than the wanted one. */
function openEdition(
  { spec, specHash }: LoadedStrategy,
  { rows, busy }: Pick<Answered<"editions">, "rows" | "busy">,
): LoadedStrategy | undefined {
  const row = rows.get(spec.id);
  if (row === undefined || isEditionOf(row, { spec, specHash }) || !busy.has(spec.id)) return undefined;
  return { spec: row.spec, specHash: row.specHash };
}

function passOver(context: EngineContext, { rows, gone, ...slots }: Answered<"editions">): DecidedSlots {
  const back = [...rows.values()].filter(({ id }) => gone.has(id));
  const passed = back.map((row) => passOverSlots(context, row, slots));
  return { changes: passed.flatMap(({ changes }) => changes), outcomes: passed.flatMap(({ outcomes }) => outcomes) };
}

/** The rows as they are once strategies that came back have passed over their slots. */
function afterPassing(read: Answered<"editions">, nowMs: number): Answered<"editions"> {
  const rows = new Map(
    [...read.rows].map(([id, row]) => [
      id,
      read.gone.has(id) ? { ...row, lastSlotMs: Math.max(row.lastSlotMs, nowMs) } : row,
    ]),
  );
  return { ...read, rows };
}
