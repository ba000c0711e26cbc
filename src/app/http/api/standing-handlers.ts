import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Configuration, LoadedStrategy } from "../../../config/configuration.ts";
import type { Problem } from "../../../config/problem.ts";
import type { StatusRows } from "../../../ports/read-model.ts";
import { standingQuestion } from "../../read-standing.ts";
import type { ApiSources } from "./api-sources.ts";
import { describeDaemon, describeStatus, describeStrategies } from "./describe-status.ts";
import { describeStrategy, loadedStrategy, type StrategyParts } from "./describe-strategy.ts";
import type { Handlers } from "./handlers.ts";
import { noStrategy, notInForce } from "./history-handlers.ts";
import { onceInAWhile } from "./once-in-a-while.ts";

type Answered = "getInfo" | "getStatus" | "listStrategies" | "getStrategy";

/** A file that is larger is no strategy. */
const LONGEST_FILE = 100_000;
/** Files are read again at most so often, however many ask. */
const LOAD_EVERY_MS = 10_000;

/** Answers how the daemon and its strategies stand. */
export function createStandingHandlers(sources: ApiSources): Handlers<Answered> {
  const { reads, listing, clock, health, zones } = sources;
  const problemsNow = onceInAWhile(() => readProblems(sources), { clock, maxAgeMs: LOAD_EVERY_MS });
  const readRows = async (configuration: Configuration, nowMs: number): Promise<StatusRows> =>
    await reads.status(standingQuestion(configuration, nowMs));
  return {
    getInfo: async () => describeDaemon(sources.configuration()),
    getStatus: async () => {
      const [configuration, nowMs] = [sources.configuration(), clock.nowMs()];
      return describeStatus({
        ...{ configuration, nowMs, rows: await readRows(configuration, nowMs), waiting: await listing.waiting(nowMs) },
        ...{ health: await health.health(), readiness: await health.readiness() },
      });
    },
    listStrategies: async () => {
      const [configuration, nowMs] = [sources.configuration(), clock.nowMs()];
      return { strategies: describeStrategies({ configuration, nowMs, rows: await readRows(configuration, nowMs) }) };
    },
    getStrategy: async ({ id }) => {
      const [configuration, nowMs] = [sources.configuration(), clock.nowMs()];
      const loaded = loadedStrategy(configuration, id);
      const rows = await readRows(configuration, nowMs);
      const status = describeStrategies({ configuration, rows, nowMs }).find((one) => one.id === id);
      if (status === undefined) throw noStrategy(id);
      if (loaded === undefined) throw notInForce(id);
      const row = rows.strategies.find((one) => one.id === id);
      const file = await readText(loaded);
      const problems = file?.isEdited === true ? await problemsNow() : [];
      return describeStrategy({
        ...{ loaded, file, status, memory: row?.memory },
        problems: problems.filter((problem) => problem.file === loaded.file),
        next: {
          ...{ afterMs: Math.max(row?.lastSlotMs ?? 0, nowMs), zones },
          ended: rows.standing?.endedAhead.get(id) ?? [],
        },
      });
    },
  };
}

/** The text of a strategy's file as it is now. */
async function readText({ file, hash: known }: LoadedStrategy): Promise<StrategyParts["file"]> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined || text.length > LONGEST_FILE) return undefined;
  return { text, isEdited: hash("sha256", text) !== known };
}

/** What is wrong with the files as they are now. */
async function readProblems({ load }: ApiSources): Promise<readonly Problem[]> {
  const loaded = await load?.();
  return loaded === undefined || loaded.ok ? [] : loaded.problems;
}
