import { z } from "zod";
import { flag, map, maybe, or } from "../fields.ts";
import { dollars, money, seconds } from "../units.ts";
import { commonFields, symbol } from "./common-schema.ts";

const threshold = money("an amount, or a worth in USD", "500 USD");

/** Sells what is above a threshold, or keeps the native coin between two. */
export const sweepSchema = z.strictObject({
  kind: z.literal("sweep"),
  ...commonFields,
  limits: maybe(
    commonFields.limits
      .unwrap()
      .extend({ max_per_day: dollars("the most that this strategy sells in 24 hours").optional() }),
    "limits of this strategy, never looser than the policy, which is the default",
  ),
  from: z
    .union([symbol("the token to sell"), z.array(symbol("a token to sell")).min(1).max(50)], {
      error: "needs a token, or a list of tokens",
    })
    .meta({ description: "the tokens to sell; a gas tank takes the first that has enough" }),
  to: symbol("the token to buy; the native coin for a gas tank"),
  when: map("one of above and native_below", {
    above: maybe(
      z.union([threshold, z.record(z.string(), threshold)], {
        error: 'needs "500 USD", "0.5 WETH", or marks by token',
      }),
      "a token is sold down once its free balance is above this",
    ),
    native_below: money("the native coin is refilled once the wallet holds less of it", "0.02 ETH").optional(),
  }),
  keep: maybe(
    z.record(z.string(), money("how much of a token always stays", "0.2 WETH")),
    "what is never sold, by token; nothing by default",
  ),
  refill_to: money("the upper threshold of a gas tank", "0.06 ETH").optional(),
  last_resort: money(
    "native coin above the policy's gas reserve that other strategies leave for a refill's own gas; half of the way to native_below by default",
    "0.004 ETH",
  ).optional(),
  lot: map("bounds of one swap", {
    min: dollars("the least worth of one swap"),
    max: dollars("the most worth of one swap; nearly the policy's max_trade by default").optional(),
  }),
  cooldown: or(seconds("the least time after a run that sold; ten minutes by default", "6h"), 600),
  exit: or(flag("it leaves a position, so it trades in the mode exits-only too; false by default"), false),
});

export type SweepFields = Partial<z.output<typeof sweepSchema>>;
