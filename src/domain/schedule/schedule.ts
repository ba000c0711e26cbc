/**
 * A stretch of the day on some days of the week (0 is Sunday), by the wall clock, in minutes since midnight. `until` is
 * not part of it; where it is not after `from`, the stretch ends on the next day.
 */
export interface WeekWindow {
  readonly days: readonly number[];
  readonly fromMinute: number;
  readonly untilMinute: number;
}

/** Calendar days from a first to a last one, both included, as day numbers counted from 1970-01-01. */
export interface DayRange {
  readonly firstDay: number;
  readonly lastDay: number;
}

/** What narrows any schedule. What is absent narrows nothing. */
export interface ScheduleLimits {
  /** slots lie, and runs start, only inside of one of these */
  readonly windows?: readonly WeekWindow[] | undefined;
  /** no slot lies, and no run starts, on one of these days */
  readonly blackouts?: readonly DayRange[] | undefined;
  /** a run starts up to so much after its slot */
  readonly jitterSeconds?: number | undefined;
}

/** An instant of every so many seconds. */
export interface ElapsedSchedule extends ScheduleLimits {
  readonly kind: "every";
  readonly seconds: number;
  /** the first instant, Unix seconds; undefined counts from the Unix epoch */
  readonly anchorSeconds?: number | undefined;
  /** whose wall clock windows and blackouts follow; UTC when absent */
  readonly timezone?: string | undefined;
}

/** Readings of the wall clock of a time zone. */
export type WallSchedule = ScheduleLimits & { readonly timezone: string } & (
    | { readonly kind: "cron"; readonly expression: string }
    | {
        readonly kind: "at";
        readonly days: readonly number[];
        /** when present, days of the month instead; one that a month does not have is its last day */
        readonly monthDays?: readonly number[] | undefined;
        readonly hour: number;
        readonly minute: number;
      }
  );

/**
 * When a strategy is due. `cron` and `at` follow the wall clock of a time zone; `every` is elapsed time.
 * Instants are whole seconds.
 */
export type Schedule = ElapsedSchedule | WallSchedule;

/**
 * Offset of a zone from UTC at an instant, in minutes (east is positive). Zone data belongs to the platform, so it comes
 * in through this port.
 */
export interface ZoneOffsets {
  offsetMinutes(timezone: string, instantMs: number): number;
}
