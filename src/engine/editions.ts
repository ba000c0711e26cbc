import { isEditionOf } from "./edition.ts";
import type { EngineContext, LoadedStrategy } from "./engine-context.ts";
import { type OutcomeListener, passOverSlots, registerStrategies } from "./scheduler.ts";

/** Which edition of each strategy is in force while files are edited. */
export interface Editions {
  /** the engine's context, whose strategies are the editions in force */
  readonly context: EngineContext;
  /** Writes down which files are there, before anything goes by the wall clock: a restart must not forget what is gone. */
  noteFiles(strategies: readonly LoadedStrategy[]): void;
  /**
   * Takes over what the files say now. An edition applies from the strategy's next slot: while a run of the one before is
   * open, that one stays in force. A strategy without a file starts no further run.
   */
  adopt(wanted: readonly LoadedStrategy[]): void;
  /** Once a second: editions whose predecessor's run has ended come into force. */
  settle(): void;
}

/** Makes the editions. Nothing is in force before the first call of `adopt`. */
export function createEditions(context: EngineContext, heard: OutcomeListener): Editions {
  const { store, logger } = context.deps;
  let inForce: readonly LoadedStrategy[] = [];
  let wanted: readonly LoadedStrategy[] | undefined;
  let waiting = new Set<string>();
  let isAtWork = false;
  const settings = Object.defineProperty({ ...context.settings }, "strategies", { get: () => inForce });
  const takeOver = (): void => {
    const before = waiting;
    waiting = new Set();
    inForce = (wanted ?? []).map((strategy) => {
      const open = openEdition(strategy);
      if (open !== undefined) waiting.add(strategy.spec.id);
      return open ?? strategy;
    });
    const ready = (wanted ?? []).filter(({ spec }) => !waiting.has(spec.id));
    registerStrategies({ ...context, settings: { ...context.settings, strategies: ready } }, heard, isAtWork);
    isAtWork = true;
    for (const strategy of waiting) {
      if (!before.has(strategy)) logger.info({ strategy }, "the edited strategy applies once its open run has ended");
    }
  };
  /** The edition that an open run began under, when it is another than the wanted one. */
  const openEdition = ({ spec, specHash }: LoadedStrategy): LoadedStrategy | undefined => {
    const row = store.strategy(spec.id);
    if (row === undefined || isEditionOf(row, { spec, specHash }) || !store.hasOpenRun(spec.id)) return undefined;
    return { spec: row.spec, specHash: row.specHash };
  };
  return {
    context: { ...context, settings },
    noteFiles: (strategies) => store.markGone(strategies.map(({ spec }) => spec.id)),
    adopt: (strategies) => {
      const gone = store.goneStrategies();
      for (const { spec } of strategies) if (gone.has(spec.id)) passOverSlots(context, spec.id, heard);
      wanted = strategies;
      const ids = strategies.map(({ spec }) => spec.id);
      store.endAlertsOfOthers(ids, context.deps.clock.nowMs());
      takeOver();
    },
    settle: () => {
      if ([...waiting].some((strategy) => !store.hasOpenRun(strategy))) takeOver();
    },
  };
}
