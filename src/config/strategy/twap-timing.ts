import { at, atKey, type Part, refuse, refuseKey, sound } from "../complaint.ts";
import { writeDuration } from "../suggest.ts";
import { startMsOf } from "./build-budget.ts";
import { isWritten, type StrategyFile } from "./scope.ts";
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
export function* buildTiming(file: StrategyFile, fields: TwapFields): Part<TwapTiming> {
  const { every, slices, start } = fields;
  const lengthSeconds = yield* sound(buildLength(file, fields));
  const isCut = yield* sound(checkCut(file, fields));
  if (lengthSeconds === undefined || isCut === undefined) return undefined;
  const cut = every ?? Math.floor(lengthSeconds / (slices ?? 1));
  const count = slices ?? Math.floor(lengthSeconds / cut);
  const path = every === undefined ? "slices" : "every";
  if (count < 1 || cut < 1)
    return yield* refuse`${path}: ${lengthSeconds}s cannot be cut like this: no slice comes to a whole second, or none fits -> use fewer slices or a longer duration`;
  if (count > MAX_SLICES)
    return yield* refuse`${path}: makes ${count} slices, at most ${MAX_SLICES} are allowed -> use fewer`;
  const pace = yield* buildPace(fields, cut);
  return pace === undefined ? undefined : { startMs: startMsOf(start), slices: count, everySeconds: cut, ...pace };
}

function* checkCut(file: StrategyFile, { every, slices }: TwapFields): Part<true> {
  if (every !== undefined && slices !== undefined)
    yield atKey`slices: needs exactly one of every and slices; there are both -> drop one of the two`;
  else if (!isWritten(file, "every", "slices", "schedule"))
    yield at`: needs exactly one of every and slices; none is there -> for example every: 2h`;
  return every === undefined && slices === undefined ? undefined : true;
}

function* buildLength(file: StrategyFile, { start, end, duration }: TwapFields): Part<number> {
  if (end !== undefined && duration !== undefined)
    return yield* refuseKey`end: needs exactly one of duration and end; there are both -> drop one of the two`;
  if (!isWritten(file, "end", "duration"))
    yield at`: needs exactly one of duration and end; none is there -> for example duration: 10d`;
  if (end === undefined) return duration;
  if (start === undefined) {
    if (isWritten(file, "start")) return undefined;
    return yield* refuse`end: needs a start too -> add start, or write duration instead of end`;
  }
  if (start === "now")
    return yield* refuse`end: how long it takes is not known before it has begun -> write duration instead of end`;
  const seconds = Math.ceil((end.lastMs - start.firstMs) / 1_000);
  if (seconds > 0) return seconds;
  return yield* refuse`end: does not lie after start -> name a later day, or an earlier start`;
}

/** A late start and the tries after it end before the next slice: else one slice would cost the next its slot. */
function* buildPace(
  { randomize, slice }: TwapFields,
  everySeconds: number,
): Part<Pick<TwapTiming, "jitterSeconds" | "windowSeconds">> {
  const jitterSeconds = randomize?.time;
  const room = everySeconds - (jitterSeconds ?? 0);
  const left = writeDuration(room * 1_000);
  if (room < 1)
    return yield* refuse`randomize.time: is not shorter than the ${writeDuration(everySeconds * 1_000)} from one slice to the next -> use a shorter time`;
  const window = slice?.window;
  if (window !== undefined && window > room)
    return yield* refuse`slice.window: is longer than the ${left} that are left until the next slice -> use at most ${left}`;
  return { jitterSeconds, windowSeconds: window ?? Math.max(1, room - Math.ceil(everySeconds / 10)) };
}
