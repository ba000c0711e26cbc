/**
 * When a strategy is due. `cron` and `at` follow the wall clock of a time zone; `every` is elapsed time.
 * Instants are whole seconds.
 */
export type Schedule =
  | { readonly kind: "cron"; readonly expression: string; readonly timezone: string }
  | {
      readonly kind: "at";
      readonly days: readonly number[];
      readonly hour: number;
      readonly minute: number;
      readonly timezone: string;
    }
  | { readonly kind: "every"; readonly seconds: number };

/**
 * Offset of a zone from UTC at an instant, in minutes (east is positive). Zone data belongs to the platform, so it comes
 * in through this port.
 */
export interface ZoneOffsets {
  offsetMinutes(timezone: string, instantMs: number): number;
}
