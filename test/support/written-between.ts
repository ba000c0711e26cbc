import type { DaemonStore } from "../../src/adapters/sqlite/daemon/store.ts";
import type { QuestionKind } from "../../src/ports/questions.ts";

/**
 * The same rows, as a database answers that is not in this process: the first unit that asks a question of a kind is
 * submitted, then something else happens, and only then its rows are read.
 */
export function writtenBetween<Store extends Pick<DaemonStore, "commit">>(
  store: Store,
  kind: QuestionKind,
  happen: () => void | Promise<void>,
): Store {
  let isOver = false;
  const commit: DaemonStore["commit"] = async (units) => {
    if (!isOver && units.some(({ question }) => (question.kind as QuestionKind) === kind)) {
      isOver = true;
      await happen();
    }
    return await store.commit(units);
  };
  return { ...store, commit };
}
