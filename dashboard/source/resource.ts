import { useEffect, useState } from "preact/hooks";
import type { AnswerOf, OperationId, PathOf } from "./answers.ts";
import { ask } from "./api.ts";
import { beat } from "./live.ts";
import { createReadings } from "./model/readings.ts";
import { noteRefusal } from "./session.ts";

export interface Reading<T> {
  /** the last one that came; it stays while a newer one is asked for */
  readonly value: T | undefined;
  readonly trouble: string | undefined;
  readonly again: () => void;
}

export interface ReadingOptions {
  /** is read again when something happened */
  readonly live?: boolean;
  /** is read again after so long */
  readonly everyMs?: number;
}

const readings = createReadings((path, end) =>
  // Only typed paths get here.
  ask("getInfo", path as PathOf<"getInfo">, end).catch((error: unknown) => {
    noteRefusal(error);
    throw error;
  }),
);

/** Forgets everything, when another person may look at the page. */
export const forgetReadings = readings.forget;

/** Reads something and keeps it current, once for all who show it. Without a path nothing is read. */
export function useReading<Id extends OperationId>(
  _operation: Id,
  path: PathOf<Id> | undefined,
  options: ReadingOptions = {},
): Reading<AnswerOf<Id>> {
  const [, setVersion] = useState(0);
  const pulse = options.live === true ? beat.value : 0;
  const { everyMs } = options;
  useEffect(() => {
    if (path === undefined) return;
    return readings.show(path, () => setVersion((version) => version + 1));
  }, [path]);
  useEffect(() => {
    if (path === undefined) return;
    readings.want(path);
    const timer = everyMs === undefined ? undefined : setInterval(() => readings.want(path), everyMs);
    return () => clearInterval(timer);
  }, [path, pulse, everyMs]);
  const { value, trouble } = readings.latest(path);
  const again = (): void => {
    if (path !== undefined) readings.want(path);
  };
  return { value: value as AnswerOf<Id> | undefined, trouble, again };
}
