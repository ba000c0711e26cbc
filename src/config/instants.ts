import { z } from "zod";
import { DAY_MS } from "../domain/time/durations.ts";
import { type Complaint, wrong } from "./complaint.ts";
import { readAs } from "./fields.ts";
import { suggestInstant } from "./suggest.ts";

const PATTERN = /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:T((?:[01][0-9]|2[0-3]):[0-9]{2}(?::[0-9]{2})?)Z)?$/;

/**
 * An instant in UTC: 2027-12-31T08:00Z, or a day. A day stands for its first moment, or for its last one where it is the
 * end of something, so that the day itself still belongs to it. Unix milliseconds.
 */
export function instant(description: string, day: "begins" | "ends") {
  const example = day === "begins" ? "2026-11-03T08:00Z" : "2027-12-31";
  return z
    .string({ error: () => `needs a day or an instant, for example ${example}` })
    .meta({ description, pattern: PATTERN.source, examples: [example] })
    .transform(readAs(read));

  function read(text: string): number | Complaint {
    const [match, date = "", time] = PATTERN.exec(text) ?? [];
    const startMs = Date.parse(`${date}T${time ?? "00:00"}Z`);
    // Date.parse takes 31 February for a day of March
    const isReal = !Number.isNaN(startMs) && new Date(startMs).toISOString().startsWith(date);
    if (match !== undefined && isReal) return time === undefined && day === "ends" ? startMs + DAY_MS - 1 : startMs;
    const fix = suggestInstant(text.trim()) ?? `for example ${example}, or 2026-11-03T08:00Z`;
    return wrong`"${text}" is no day and no instant in UTC -> write ${fix}`;
  }
}
