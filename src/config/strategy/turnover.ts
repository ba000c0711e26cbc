import { z } from "zod";
import type { Ppm } from "../../domain/money/fraction.ts";
import { share } from "../units.ts";
import { whole } from "./common-schema.ts";

/** A limit of turnover, by the day, by the run, or both. */
export interface TurnoverLimits {
  readonly perDay: Ppm | undefined;
  readonly perRun: Ppm | undefined;
}

const EXAMPLE = "10% per day";

/** "10% per day", "5% per run", or a map with both. */
export function turnover(description: string) {
  const part = share(description, ["%"], whole);
  const text = z
    .string({ error: `needs text with its unit, for example "${EXAMPLE}"` })
    .meta({ description, pattern: "^[0-9]+(\\.[0-9]+)?% per (day|run)$", examples: [EXAMPLE] })
    .transform((written, context): TurnoverLimits => {
      const match = /^(\S+) per (day|run)$/.exec(written);
      const read = part.safeParse(match?.[1] ?? "");
      if (match !== null && read.success && read.data > 0n) {
        return match[2] === "day" ? { perDay: read.data, perRun: undefined } : { perDay: undefined, perRun: read.data };
      }
      const [number = "10%"] = /^[0-9]+(?:\.[0-9]+)?%/.exec(written.trim()) ?? [];
      const suggestion = `write ${number} per day or ${number} per run`;
      context.addIssue({ code: "custom", message: `"${written}" is no turnover`, params: { suggestion } });
      return z.NEVER;
    });
  const both = z
    .strictObject({ per_day: part.optional(), per_run: part.optional() })
    .transform(({ per_day, per_run }): TurnoverLimits => ({ perDay: per_day, perRun: per_run }));
  return z.union([text, both], { error: `needs ${EXAMPLE}, or { per_day: 10%, per_run: 5% }` });
}
