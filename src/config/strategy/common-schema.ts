import { z } from "zod";
import { ONE_PPM, toPpm } from "../../domain/money/fraction.ts";
import { CATCH_UP_POLICIES } from "../../domain/schedule/catch-up.ts";
import { address, count, flag, map, maybe, maybeMap, or, orEmpty, text } from "../fields.ts";
import { dollars, gasPrice, instant, money, seconds, share } from "../units.ts";

const half = { max: toPpm(500_000) };
/** Bound of a share that may be all of it. */
export const whole = { max: ONE_PPM };

/** A token by its name in the main file. */
export const symbol = (description: string) => text(description, "WETH");

/** Windows and blackouts beyond this are a calendar, not a schedule. */
const MAX_STRETCHES = 400;

const schedule = map("when the strategy is due: one of cron, at and every", {
  cron: text("five fields: minute hour day-of-month month day-of-week", "0 9 * * 1").optional(),
  at: text("a time of day, with days of the week or of the month before it", "Mon 09:00").optional(),
  every: seconds("elapsed time, counted from the anchor", "6h").optional(),
  anchor: text("the first instant of every; the Unix epoch by default", "2026-11-03T08:00Z").optional(),
  timezone: text("an IANA time zone for cron, at, windows and blackouts; UTC by default", "Europe/Berlin").optional(),
  jitter: seconds("a run starts up to so much after its slot, always the same for a slot", "10m").optional(),
  windows: maybe(
    z
      .array(text("a stretch of the day, with days of the week before it", "Mon-Fri 09:00-17:00"))
      .min(1)
      .max(MAX_STRETCHES),
    "slots lie, and runs start, only inside of one of these",
  ),
  blackouts: maybe(
    z.array(text("a date, or a range of dates", "2026-12-24..2027-01-02")).max(MAX_STRETCHES),
    "no slot lies, and no run starts, on these dates",
  ),
});

const catchUp = map("what becomes of missed slots", {
  policy: maybe(
    z.enum(CATCH_UP_POLICIES),
    "what becomes of slots that passed while they could not be run: none runs, the newest, each, or one run for all; latest by default",
  ),
  window: seconds(
    "how late a slot may start; for latest half of the time to the next slot by default, six hours at most",
    "6h",
  ).optional(),
  max_runs: count("for all: the most slots that wait for their turn; 3 by default", { min: 1, max: 100 }).optional(),
  max_multiple: count("for accumulate: the most slots that one run stands for; 2 by default", {
    min: 1,
    max: 100,
  }).optional(),
});

/** Keys of every kind of strategy. */
export const commonFields = {
  wallet: text("the wallet's name in the main file", "main"),
  schedule,
  catch_up: catchUp.optional(),
  limits: maybeMap("limits of this strategy, never looser than the policy, which is the default", {
    slippage: share("the largest slippage the signature allows", ["%", "bps"], half).optional(),
    price_impact: share("the largest price impact", ["%", "bps"], half).optional(),
    max_fee: share("gas and service fees as a share of the trade", ["%", "bps"], half).optional(),
    max_gas_price: gasPrice("the highest fee per gas").optional(),
  }),
  execution: orEmpty(undefined, {
    gasless: or(z.enum(["prefer", "only", "never"]), "never", "whether a relayer pays the gas; never by default"),
    rfq: or(flag("whether RFQ protocols may quote"), false),
    approve_above: dollars("a swap that sells more waits for `swapd approve <run>`").optional(),
    approve_within: seconds("how long it waits for that; half a day by default", "12h").optional(),
    announce: seconds(
      "people are told so long before a swap, and may stop it with `swapd skip <run>`",
      "1h",
    ).optional(),
  }),
  recipient: text(
    "a wallet's name or an address, one of the policy's recipients; the wallet itself by default",
    "main",
  ).optional(),
  affiliate: z
    .strictObject({
      address: address("who gets the affiliate fee"),
      fee: share("the fee as a share of the sold amount", ["%", "bps"], half),
    })
    .optional(),
  budget: maybeMap("what it may sell, and where it ends", {
    per_day: money(
      "what it may sell on a day of the calendar; in dollars where a kind sells several tokens",
    ).optional(),
    per_week: money("what it may sell in a week, from Monday to Sunday").optional(),
    per_month: money("what it may sell in a month of the calendar").optional(),
    total: money("what it may sell in its whole life", "5200 USDC").optional(),
    timezone: text("at whose midnight a day begins; the schedule's time zone by default", "Europe/Berlin").optional(),
    until: instant("the last day or instant at which it trades").optional(),
    max_runs: count("how often it may trade", { min: 1, max: 1_000_000 }).optional(),
  }),
  retry_for: seconds(
    "how long an attempt that signed nothing is repeated; half the interval by default, an hour at most",
    "1h",
  ).optional(),
};

const common = z.strictObject(commonFields);

export type CommonFields = z.output<typeof common>;
