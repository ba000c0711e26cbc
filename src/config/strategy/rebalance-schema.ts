import { z } from "zod";
import { flag, maybe, maybeMap, or, orExample, text } from "../fields.ts";
import { money, seconds, share } from "../units.ts";
import { commonFields, symbol, whole } from "./common-schema.ts";
import { turnover } from "./turnover.ts";

const measures = {
  relative: share("drift in relation to the target weight", ["%", "bps"]).optional(),
  absolute: share("drift in points of weight", ["pp"], whole).optional(),
};

const measured = z.strictObject(measures);

const target = z.union(
  [
    z.literal("rest"),
    share("the token's weight", ["%"], whole),
    z.strictObject({
      weight: z.union([z.literal("rest"), share("the token's weight", ["%"], whole)], {
        error: "needs a share such as 60%, or rest",
      }),
      exit: flag("whether all of a token with the weight 0% is sold").optional(),
      with: maybe(
        z.array(symbol("the coin's other form")).length(1, { error: "needs one token: a coin has one other form" }),
        "the native coin of a wrapped token, or the other way round: it counts with the token, and is never traded",
      ),
      bands: maybeMap("bands of this token, in place of those of all", {
        ...measures,
        soft: measured.optional(),
        hard: measured.optional(),
      }),
    }),
  ],
  { error: "needs a share such as 60%, or rest" },
);

const bands = z
  .union(
    [
      z.literal("none"),
      z.strictObject({
        ...measures,
        soft: maybeMap("obeys confirmation and cooldown", {
          ...measures,
          for: seconds("how long a weight must be outside before it counts", "1h").optional(),
          cooldown: seconds("the least time since the last completed rebalance", "2d").optional(),
        }),
        hard: maybeMap("wider than soft, and ignores the cooldown", {
          ...measures,
          for: seconds("how long a weight must be outside before it counts", "10m").optional(),
        }),
        trigger: or(
          z.enum(["any", "all"]),
          "any",
          "with relative and absolute in one band: whether any or all must be exceeded; any",
        ),
        max_gap: seconds(
          "longer than this without a check, and a confirmation begins anew; 1d or two intervals",
          "1d",
        ).optional(),
      }),
    ],
    { error: "needs bands such as { relative: 20% }, or none" },
  )
  .meta({ description: "how far a weight may drift before anything is traded; none trades at every slot" });

const destination = z
  .union(
    [
      z.enum(["target", "edge"]),
      z.strictObject({
        to: z.enum(["target", "edge", "fraction"]),
        inward: share("how far inside the edge it stops, as a share of the band", ["%"], whole).optional(),
        share: share("the share of the way to the targets", ["%"], whole).optional(),
      }),
    ],
    { error: "needs target, edge, { to: edge, inward: 15% } or { to: fraction, share: 50% }" },
  )
  .meta({ description: "where a rebalance stops; target by default" });

/** Each address is looked up at each slot. */
const MAX_EXTERNAL = 20;

const external = maybe(
  z
    .array(
      z.union(
        [
          money("an amount that lies where nobody can look, on an exchange for example", "1.5 WETH"),
          z.strictObject({
            address: text("an address in quotes, or the name of another wallet", "0x..."),
            tokens: maybe(
              z.array(symbol("a token of the mix")).min(1, { error: "is empty" }),
              "what of it counts; all of the mix by default",
            ),
          }),
        ],
        { error: 'needs { address: "0x..." }, or an amount such as "1.5 WETH"' },
      ),
    )
    .min(1, { error: "is empty" })
    .max(MAX_EXTERNAL),
  "what lies elsewhere: it counts for the weights, and is never traded",
);

/** Keeps a mix of tokens at target weights. */
export const rebalanceSchema = z.strictObject({
  kind: z.literal("rebalance"),
  ...commonFields,
  quote: symbol("the token that the mix and its smallest trade are counted in"),
  targets: z
    .record(z.string(), target, { error: "needs weights by token, for example { WETH: 60%, USDC: rest }" })
    .meta({ description: "the weight of each token; they sum to 100%, or one of them is rest" }),
  bands,
  destination: destination.optional(),
  trades: z.strictObject({
    min: money("the smallest trade, in the quote token", "50 USDC"),
    max_turnover: turnover("the most that is traded, as a share of the mix").optional(),
    order: or(
      z.enum(["sells-first", "pair-by-pair"]),
      "sells-first",
      "over a token: all sells first, or each buy right behind its sell; sells-first",
    ),
    via: symbol("a token that every swap goes over; swaps are direct without it").optional(),
    leg_timeout: orExample(seconds("how long a buy that spends what a sell brought is tried; 6h", "6h")),
    on_incomplete: or(
      z.enum(["hold", "retry"]),
      "hold",
      "after a sell without its buy: wait for a person, or buy at the next slots; hold",
    ),
  }),
  cash: z
    .strictObject({
      asset: symbol("a token of the mix"),
      min: money("how much of it is set aside and never sold", "500 USDC"),
    })
    .optional(),
  on_deposit: or(
    z.enum(["buy-underweight", "ignore"]),
    "ignore",
    "whether new money is put to work at once, without selling anything else; ignore",
  ),
  external,
});

export type RebalanceFields = z.output<typeof rebalanceSchema>;
