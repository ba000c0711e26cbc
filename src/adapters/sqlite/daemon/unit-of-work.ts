import type { AlertRow } from "../../../ports/alert-store.ts";
import type { Change } from "../../../ports/changes.ts";
import type { Answered, Question, QuestionKind } from "../../../ports/questions.ts";
import type { Unit, UnitOfWork, Written } from "../../../ports/unit-of-work.ts";
import { isLocked } from "../../../storage/storage-fault.ts";

/** What units of work are made of. */
interface Parts {
  transaction<T>(work: () => T): T;
  snapshot<T>(work: () => T): T;
  answer<K extends QuestionKind>(question: Question<K>): Answered<K>;
  write(changes: readonly Change[], atMs: number): readonly AlertRow[];
}

/** Answered from memory, or by a single statement: asked many times a second, and a snapshot for them costs more than they do. */
const NEED_NO_SNAPSHOT: ReadonlySet<QuestionKind> = new Set<QuestionKind>([
  "due-runs",
  "due-effects",
  "next-effect",
  "differences",
  "lane-open",
]);

/**
 * Units of work on a connection. They are carried out in the order of their calls, and none comes between the reading and
 * the writing of another.
 */
export function createUnitOfWork({ transaction, snapshot, answer, write }: Parts): UnitOfWork {
  const carryOut = <K extends QuestionKind, T>(units: readonly Unit<K, T>[]): readonly Written<T>[] =>
    units.map(({ question, decide }) => {
      const { changes, atMs, value } = decide(answer(question));
      return { value, alerts: write(changes, atMs) };
    });
  const together = createTogether(transaction);
  return {
    read: async (question) =>
      NEED_NO_SNAPSHOT.has(question.kind) ? answer(question) : snapshot(() => answer(question)),
    commit: (units) => together(() => carryOut(units)),
  };
}

/** @returns what runs work in a transaction of its own or with other work, and resolves when that is durable */
type Together = <T>(work: () => T) => Promise<T>;

interface Waiting {
  /** Within a transaction. */
  work(): void;
  succeed(): void;
  fail(error: unknown): void;
}

/**
 * Puts what is asked for in one turn of the event loop into one transaction: a transaction costs more than what most of
 * them write, and the answers of checks that travelled together come together. Where any of it throws all is taken back,
 * and each is run in a transaction of its own: a broken invariant withholds nothing but its own outcome. Where another
 * process holds the file all of them fail.
 */
function createTogether(transaction: Parts["transaction"]): Together {
  let waiting: Waiting[] = [];
  const runAlone = (one: Waiting): void => {
    try {
      transaction(() => one.work());
    } catch (error) {
      one.fail(error);
      return;
    }
    one.succeed();
  };
  const run = (all: readonly Waiting[]): void => {
    try {
      transaction(() => {
        for (const { work } of all) work();
      });
    } catch (error) {
      // Each alone would wait for the lock once more, and the whole process with it.
      for (const one of all) {
        if (isLocked(error)) one.fail(error);
        else runAlone(one);
      }
      return;
    }
    for (const { succeed } of all) succeed();
  };
  const runAll = (): void => {
    const all = waiting;
    waiting = [];
    const [first] = all;
    if (first !== undefined && all.length === 1) runAlone(first);
    else run(all);
  };
  return <T>(work: () => T) =>
    new Promise<T>((resolve, reject) => {
      let value: T;
      // What else is asked for in this turn of the event loop has its turn before this one.
      if (waiting.length === 0) setImmediate(runAll);
      waiting.push({
        work: () => {
          value = work();
        },
        succeed: () => resolve(value),
        fail: reject,
      });
    });
}
