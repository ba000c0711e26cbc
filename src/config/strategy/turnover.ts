import { z } from "zod";
import type { Ppm } from "../../domain/money/fraction.ts";
import { type Complaint, wrong } from "../complaint.ts";
import { readAs } from "../fields.ts";
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
    .transform(
      readAs((written: string): TurnoverLimits | Complaint => {
        const [, number = "", per] = /^(\S+) per (day|run)$/.exec(written) ?? [];
        const { data } = part.safeParse(number);
        if (data !== undefined && data > 0n)
          return per === "day" ? { perDay: data, perRun: undefined } : { perDay: undefined, perRun: data };
        const [meant = "10%"] = /^[0-9]+(?:\.[0-9]+)?%/.exec(written.trim()) ?? [];
        return wrong`"${written}" is no turnover -> write ${meant} per day or ${meant} per run`;
      }),
    );
  const both = z
    .strictObject({ per_day: part.optional(), per_run: part.optional() })
    .transform(({ per_day, per_run }): TurnoverLimits => ({ perDay: per_day, perRun: per_run }));
  return z.union([text, both], { error: `needs ${EXAMPLE}, or { per_day: 10%, per_run: 5% }` });
}
