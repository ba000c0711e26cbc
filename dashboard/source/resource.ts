import { useEffect, useState } from "preact/hooks";
import type { AnswerOf, OperationId, PathOf } from "./answers.ts";
import { ask, Refusal } from "./api.ts";
import { beat } from "./live.ts";
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

const MOST_KEPT = 60;
/** What was read last, so that a page shows at once what it showed before. */
const kept = new Map<string, unknown>();

function keep(path: string, value: unknown): void {
  kept.delete(path);
  kept.set(path, value);
  for (const oldest of kept.keys()) {
    if (kept.size <= MOST_KEPT) break;
    kept.delete(oldest);
  }
}

/** Forgets everything, when another person may look at the page. */
export function forgetReadings(): void {
  kept.clear();
}

/** Reads something and keeps it current. Without a path nothing is read. */
export function useReading<Id extends OperationId>(
  operation: Id,
  path: PathOf<Id> | undefined,
  options: ReadingOptions = {},
): Reading<AnswerOf<Id>> {
  const [, setVersion] = useState(0);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  const [asked, setAsked] = useState(0);
  const pulse = options.live === true ? beat.value : 0;
  const { everyMs } = options;
  useEffect(() => {
    if (path === undefined) return;
    let isOver = false;
    const read = (): void => {
      ask(operation, path).then(
        (value) => {
          keep(path, value);
          if (isOver) return;
          setTrouble(undefined);
          setVersion((version) => version + 1);
        },
        (error: unknown) => {
          if (error instanceof Refusal) noteRefusal(error);
          if (!isOver) setTrouble(error instanceof Error ? error.message : String(error));
        },
      );
    };
    read();
    const timer = everyMs === undefined ? undefined : setInterval(read, everyMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [operation, path, pulse, asked, everyMs]);
  const value = path === undefined ? undefined : (kept.get(path) as AnswerOf<Id> | undefined);
  return { value, trouble, again: () => setAsked((count) => count + 1) };
}
