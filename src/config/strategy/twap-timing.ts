import { writeDuration } from "../mend.ts";
import { problemAt, problemAtKey, REFUSED } from "../source.ts";
import type { StrategyFile } from "./scope.ts";
import type { TwapFields } from "./twap-schema.ts";

/** When the slices of a plan are due. */
export interface TwapTiming {
  readonly startMs: number | undefined;
  readonly slices: number;
  readonly everySeconds: number;
  /** a slice starts up to so much after its instant */
  readonly jitterSeconds: number | undefined;
  /** how long a slice that signed nothing is tried again */
  readonly windowSeconds: number;
}

/** Beyond this a plan is a schedule of its own; all sizes are computed at each slice. */
const MAX_SLICES = 10_000;

/** Of two keys exactly one says when the plan ends, and of two others one how it is cut. */
export function buildTiming(file: StrategyFile, fields: TwapFields): TwapTiming | undefined {
  const { source, problems } = file;
  const before = problems.length;
  const lengthSeconds = buildLength(file, fields);
  const { every, slices, start } = fields;
  if (every !== undefined && slices !== undefined) {
    const message = "needs exactly one of every and slices; there are both";
    problems.push(problemAtKey(source, ["slices"], message, "drop one of the two"));
  } else if (every === undefined && slices === undefined && !isWritten(file, ["every", "slices", "schedule"])) {
    const message = "needs exactly one of every and slices; none is there";
    problems.push(problemAt(source, [], message, "for example every: 2h"));
  }
  if (lengthSeconds === undefined || problems.length > before) return undefined;
  if (every === undefined && slices === undefined) return undefined;
  const cut = every ?? Math.floor(lengthSeconds / (slices ?? 1));
  const count = slices ?? Math.floor(lengthSeconds / cut);
  const path = every === undefined ? ["slices"] : ["every"];
  if (count < 1 || cut < 1) {
    const message = `${lengthSeconds}s cannot be cut like this: no slice comes to a whole second, or none fits`;
    problems.push(problemAt(source, path, message, "use fewer slices or a longer duration"));
    return undefined;
  }
  if (count > MAX_SLICES) {
    problems.push(problemAt(source, path, `makes ${count} slices, at most ${MAX_SLICES} are allowed`, "use fewer"));
    return undefined;
  }
  const pace = buildPace(file, fields, cut);
  return pace === undefined ? undefined : { startMs: start?.firstMs, slices: count, everySeconds: cut, ...pace };
}

/** Whether a key stands in the file, right or wrong: then its problem is told elsewhere. */
function isWritten({ source }: StrategyFile, keys: readonly string[]): boolean {
  const { data } = source;
  return data === REFUSED || (typeof data === "object" && data !== null && keys.some((key) => key in data));
}

function buildLength(file: StrategyFile, { start, end, duration }: TwapFields): number | undefined {
  const { source, problems } = file;
  if (end !== undefined && duration !== undefined) {
    const message = "needs exactly one of duration and end; there are both";
    problems.push(problemAtKey(source, ["end"], message, "drop one of the two"));
    return undefined;
  }
  if (end === undefined && duration === undefined && !isWritten(file, ["end", "duration"])) {
    const message = "needs exactly one of duration and end; none is there";
    problems.push(problemAt(source, [], message, "for example duration: 10d"));
  }
  if (end === undefined) return duration;
  if (start === undefined) {
    if (isWritten(file, ["start"])) return undefined;
    problems.push(problemAt(source, ["end"], "needs a start too", "add start, or write duration instead of end"));
    return undefined;
  }
  const seconds = Math.ceil((end.lastMs - start.firstMs) / 1_000);
  if (seconds > 0) return seconds;
  problems.push(problemAt(source, ["end"], "does not lie after start", "name a later day, or an earlier start"));
  return undefined;
}

/** A late start and the tries after it end before the next slice: else one slice would cost the next its slot. */
function buildPace(
  file: StrategyFile,
  fields: TwapFields,
  everySeconds: number,
): Pick<TwapTiming, "jitterSeconds" | "windowSeconds"> | undefined {
  const { source, problems } = file;
  const jitterSeconds = fields.randomize?.time;
  const room = everySeconds - (jitterSeconds ?? 0);
  if (room < 1) {
    const message = `is not shorter than the ${writeDuration(everySeconds * 1_000)} from one slice to the next`;
    problems.push(problemAt(source, ["randomize", "time"], message, "use a shorter time"));
    return undefined;
  }
  const window = fields.slice?.window;
  if (window !== undefined && window > room) {
    const message = `is longer than the ${writeDuration(room * 1_000)} that are left until the next slice`;
    problems.push(problemAt(source, ["slice", "window"], message, `use at most ${writeDuration(room * 1_000)}`));
    return undefined;
  }
  return { jitterSeconds, windowSeconds: window ?? Math.max(1, room - Math.ceil(everySeconds / 10)) };
}
