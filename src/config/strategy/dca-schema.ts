import { z } from "zod";
import { wrong } from "../complaint.ts";
import { map, maybe, maybeMap, or, readAs } from "../fields.ts";
import { dollars, money, multiple, seconds, share, start } from "../units.ts";
import { commonFields, symbol, whole } from "./common-schema.ts";

const TOKEN_NAME = /^[A-Za-z][A-Za-z0-9._-]{0,31}$/;

/** A token's name where an amount with its token may stand as well. */
const name = (description: string) =>
  z
    .string()
    .meta({ description, pattern: TOKEN_NAME.source, examples: ["WETH"] })
    .transform(readAs((text: string) => (TOKEN_NAME.test(text) ? text : wrong`"${text}" is no name of a token`)));

const LOOKBACK = "how far back it looks: an hour to a year";

/** Sells for one token or several at each slot. */
export const dcaSchema = z.strictObject({
  kind: z.literal("dca"),
  ...commonFields,
  sell: maybe(
    z.union(
      [
        money("how much is sold at each slot"),
        name("the token to sell, when value says how much"),
        z.strictObject({ amount: share("a share of the free balance", ["%"], whole), of: symbol("the token to sell") }),
      ],
      {
        error: ({ input }) => {
          const number = typeof input === "number" ? input : 100;
          return `needs text with its unit, for example "${number} USDC", or { amount: 2%, of: USDC }`;
        },
      },
    ),
    "what is sold at each slot; left out when buy is an amount",
  ),
  value: dollars("with a token in sell: as much of it as is worth so many dollars").optional(),
  buy: z
    .union(
      [
        z.record(
          z.string(),
          z.union([z.literal("rest"), share("the token's share of each order", ["%"], whole)], {
            error: "needs a share such as 60%, or rest",
          }),
        ),
        money("how much is bought at each slot; it may cost max_sell", "0.01 WETH"),
        name("the token to buy"),
      ],
      { error: "needs the name of a token, or { WETH: 60%, WBTC: 40% }" },
    )
    .meta({ description: "the token to buy, several with the share of each, or an amount to buy" }),
  max_sell: money("the most that the amount to buy may cost, all fees included", "50 USDC").optional(),
  min_sell: money("an order of less is left out", "10 USDC").optional(),
  start: start("when it begins to buy, or now; with the next slot by default", "2027-01-01").optional(),
  only_if: maybeMap("buys only at such a price", {
    price: z
      .string({ error: 'needs a comparison in quotes, for example "<= 6000 USDC"' })
      .meta({ description: "a comparison with an amount of another token", examples: ["<= 6000 USDC"] }),
    of: symbol("the token whose price it is; the bought one by default").optional(),
  }),
  dips: maybeMap("buys more when the price has fallen", {
    reference: map("what the price is compared with: the highest price, or the mean, of that time", {
      high: seconds(LOOKBACK, "30d").optional(),
      sma: seconds(LOOKBACK, "30d").optional(),
    }),
    tiers: z
      .array(
        z.strictObject({
          drop: share("how far the price is under the reference", ["%"], whole),
          multiply: multiple("by how much the order is multiplied then", { min: 1, max: 100 }),
        }),
      )
      .min(1, { error: "needs at least one tier" })
      .max(20, { error: "has more than 20 tiers" })
      .meta({ description: "of the tiers that are reached the deepest applies" }),
    max_multiplier: multiple("no multiplier is larger", { min: 1, max: 100 }).optional(),
    of: symbol("the token whose price it is; the bought one by default").optional(),
  }),
  carry: maybeMap("adds what was not sold because fees were too high to a later order; not done by default", {
    max_multiple: multiple("an order with what was carried over is at most so many slots' amounts", {
      min: 1,
      max: 100,
    }),
  }),
  on_insufficient: or(
    z.enum(["skip", "partial", "pause"]),
    "skip",
    "when too little is free: nothing, what there is, or stop; skip by default",
  ),
});

/** The keys of a dca file that are in order. */
export type DcaFields = Partial<z.output<typeof dcaSchema>>;
