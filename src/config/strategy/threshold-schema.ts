import { z } from "zod";
import { toPpm } from "../../domain/money/fraction.ts";
import { count, map, maybe, or } from "../fields.ts";
import { instant } from "../instants.ts";
import { money, seconds, share } from "../units.ts";
import { commonFields, symbol, whole } from "./common-schema.ts";

const MAX_LEGS = 20;
const MAX_FLOOR_STEPS = 5;
const half = { max: toPpm(500_000) };
const LEG_ID = /^[a-z][a-z0-9-]{0,31}$/;

const id = z
  .string({ error: 'needs a name, for example "stop"' })
  .regex(LEG_ID, { error: "needs small letters, digits and hyphens, a letter first, 32 at most" })
  .meta({ description: "the leg's name; it lasts for ever, because the leg's memory hangs on it" });

const sell = z
  .union(
    [
      money("a fixed amount", "0.5 WETH"),
      z.strictObject({ amount: share("a share of the free balance", ["%"], whole), of: symbol("the token to sell") }),
    ],
    { error: 'needs "0.5 WETH", or { amount: 25%, of: WETH }' },
  )
  .meta({
    description:
      "how much is sold: a fixed amount, or a share of the free balance; in a ladder of the original allocation",
  });

const when = map("one trigger, and how it is confirmed", {
  crosses_above: money("the price, reached from below", "4500 USDC").optional(),
  crosses_below: money("the price, reached from above", "2400 USDC").optional(),
  above: money("the price, wherever it came from; needs a cooldown", "4500 USDC").optional(),
  below: money("the price, wherever it came from; needs a cooldown", "2400 USDC").optional(),
  limit: money("the worst price of the fill, net of all fees", "4500 USDC").optional(),
  trail: share("how far the price falls from its highest", ["%", "bps"], half).optional(),
  activate_at: money("the price from which on it trails", "4000 USDC").optional(),
  for: seconds("how long the condition has to hold", "10m").optional(),
  samples: count("in how many checks the condition has to hold", { min: 1, max: 1_000 }).optional(),
});

const floorStep = share("how far from the trigger the worst fill may lie, all fees included", ["%", "bps"], half);
const floor = z
  .union(
    [
      floorStep,
      money("the worst price of a fill, all fees included", "2300 USDC"),
      z.array(floorStep).min(2).max(MAX_FLOOR_STEPS),
    ],
    { error: 'needs a share such as 3%, a price such as "2300 USDC", or a list of shares' },
  )
  .meta({ description: "the worst price of a fill; of a list each attempt that found no fill takes the next share" });

const rearm = map("when it may fire again; without it, it sells once in its life", {
  above: money("the price on the far side, after crosses_below", "2600 USDC").optional(),
  below: money("the price on the far side, after crosses_above", "4200 USDC").optional(),
  cooldown: seconds("the least time between two sales", "3d"),
  repeat: count("how often it is armed again at most", { min: 1, max: 1_000 }).optional(),
});

const ifAlreadyTrue = z.enum(["wait", "fire"]).meta({ description: "at the very first check; wait by default" });
const onMissed = z.enum(["fire-if-still-true", "ignore"]).meta({
  description: "what follows from a crossing that nobody saw; an exit fires if it is still true, an entry ignores it",
});

const legFields = {
  when,
  sell,
  floor: floor.optional(),
  rearm: rearm.optional(),
  if_already_true: ifAlreadyTrue.optional(),
  on_missed: onMissed.optional(),
};

const leg = z.strictObject({ id, ...legFields });

/** Keys of a threshold file: one leg at the top, or legs in `oco` and `ladder`. */
export const thresholdSchema = z.strictObject({
  kind: z.literal("threshold"),
  ...commonFields,
  buy: symbol("the token to buy"),
  id: id.optional(),
  ...legFields,
  when: when.optional(),
  sell: sell.optional(),
  oco: maybe(
    z.array(leg).min(1, { error: "has no leg" }).max(MAX_LEGS),
    "legs of which one cancels the others, once it has traded for the last time",
  ),
  ladder: maybe(
    z.array(leg).min(2, { error: "a ladder has at least two levels" }).max(MAX_LEGS),
    "levels of which each sells its share of the original allocation, once",
  ),
  allocation: money(
    "what all legs together may sell; with a ladder what is free at the first sale by default",
    "2 WETH",
  ).optional(),
  min_fill: money(
    "a share is not sold where that would be less, however little is there or left",
    "0.05 WETH",
  ).optional(),
  max_gap: seconds(
    "a longer time without a check may have missed crossings; three intervals by default",
    "5m",
  ).optional(),
  attempts: or(
    count("a trigger is given back after so many signed swaps that came to nothing; 3 by default", { min: 1, max: 20 }),
    3,
  ),
  until: instant("the end: nothing is begun after it", "ends").optional(),
});

/** The keys of a threshold file, read. */
export type ThresholdFields = z.output<typeof thresholdSchema>;

/** One leg, read; at the top of a file without a name. */
export type LegFields = Omit<z.output<typeof leg>, "id">;
