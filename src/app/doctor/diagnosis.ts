import type { Finding } from "../finding.ts";

/** What of a running swapd a diagnosis is about, in the order in which it is shown. */
export const PARTS = [
  "daemon",
  "settings",
  "clock",
  "endpoints",
  "service",
  "database",
  "keys",
  "allowances",
  "signed",
  "lanes",
  "disk",
  "channels",
  "alerts",
] as const;

/** `not tried`: nobody knows, because what it would be read from could not be read. */
export type DiagnosisState = "ok" | "warning" | "error" | "not tried";

/** One thing that was looked at. */
export interface Diagnosis {
  readonly part: (typeof PARTS)[number];
  readonly what: string;
  readonly state: DiagnosisState;
  /** what was found, in people's units */
  readonly found: string;
  /** the command that mends it, or shows what does; undefined where nothing is to be done */
  readonly mend?: string | undefined;
}

/** A diagnosis that is not in order has its command. */
export type Judged = Omit<Diagnosis, "part">;

/** In order, nothing to be done. */
export function fine(what: string, found: string): Judged {
  return { what, state: "ok", found };
}

/** A finding of `swapd check`, as one of these. */
export function judgedOf({ what, found, whatToDo, isWarning, command = "swapd check" }: Finding): Judged {
  if (whatToDo !== undefined) return { what, state: "error", found: `${found}: ${whatToDo}`, mend: command };
  return isWarning === true ? { what, state: "warning", found, mend: command } : fine(what, found);
}

/** Marks what was judged as about one part. */
export function about(part: Diagnosis["part"], judged: readonly Judged[]): readonly Diagnosis[] {
  return judged.map((one) => ({ part, ...one }));
}
