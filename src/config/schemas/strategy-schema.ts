import { z } from "zod";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { address, flag, text } from "../fields.ts";
import { gasPrice, money, seconds, share } from "../units.ts";

const half = { max: ((ONE_PPM as bigint) / 2n) as typeof ONE_PPM };
const whole = { max: ONE_PPM };

const symbol = (description: string) => text(description, "WETH");

const schedule = z
  .strictObject({
    cron: text("five fields: minute hour day-of-month month day-of-week", "0 9 * * 1").optional(),
    at: text("a time of day, with days of the week before it", "Mon 09:00").optional(),
    every: seconds("elapsed time, counted from the Unix epoch", "6h").optional(),
    timezone: text("an IANA time zone for cron and at; UTC by default", "Europe/Berlin").optional(),
  })
  .meta({ description: "when the strategy is due: one of cron, at and every" });

const common = {
  wallet: text("the wallet's name in the main file", "main"),
  schedule,
  limits: z
    .strictObject({
      slippage: share("the largest slippage the signature allows", ["%", "bps"], half).optional(),
      price_impact: share("the largest price impact", ["%", "bps"], half).optional(),
      max_fee: share("gas and service fees as a share of the trade", ["%", "bps"], half).optional(),
      max_gas_price: gasPrice("the highest fee per gas").optional(),
    })
    .optional()
    .meta({ description: "limits of this strategy, never looser than the policy, which is the default" }),
  execution: z
    .strictObject({
      gasless: z
        .enum(["prefer", "only", "never"])
        .optional()
        .meta({ description: "whether a relayer pays the gas; never by default" }),
      rfq: flag("whether RFQ protocols may quote").optional(),
    })
    .optional(),
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
  retry_for: seconds(
    "how long an attempt that signed nothing is repeated; half the interval by default, an hour at most",
    "1h",
  ).optional(),
};

/** Sells a fixed amount at each slot. */
export const dcaSchema = z.strictObject({
  kind: z.literal("dca"),
  ...common,
  sell: money("how much is sold at each slot"),
  buy: symbol("the token to buy"),
  budget: z.strictObject({ total: money("what it may sell in its whole life", "5200 USDC") }).optional(),
});

/** Keeps a mix of tokens at target weights. */
export const rebalanceSchema = z.strictObject({
  kind: z.literal("rebalance"),
  ...common,
  quote: symbol("the token that sells bring and buys spend"),
  targets: z
    .record(
      z.string(),
      z.union([z.literal("rest"), share("the token's weight", ["%"], whole)], {
        error: "needs a share such as 60%, or rest",
      }),
      {
        error: "needs weights by token",
      },
    )
    .meta({ description: "the weight of each token; they sum to 100%, or one of them is rest" }),
  bands: z
    .strictObject({
      relative: share("drift in relation to the target weight", ["%", "bps"]).optional(),
      absolute: share("drift in points of weight", ["pp"]).optional(),
    })
    .meta({ description: "how far a weight may drift before anything is traded" }),
  trades: z.strictObject({ min: money("the smallest trade, in the quote token", "50 USDC") }),
});

/** Sells when a price crosses a level. */
export const thresholdSchema = z.strictObject({
  kind: z.literal("threshold"),
  ...common,
  sell: z.union(
    [
      money("a fixed amount", "0.5 WETH"),
      z.strictObject({ amount: share("a share of the free balance", ["%"], whole), of: symbol("the token to sell") }),
    ],
    { error: 'needs "0.5 WETH", or { amount: 25%, of: WETH }' },
  ),
  buy: symbol("the token to buy"),
  when: z
    .strictObject({
      crosses_above: money("the price of the other token, from below", "4500 USDC").optional(),
      crosses_below: money("the price of the other token, from above", "2400 USDC").optional(),
    })
    .meta({ description: "one of crosses_above and crosses_below" }),
  if_already_true: z.enum(["wait", "fire"]).optional().meta({ description: "at the very first look; wait by default" }),
  rearm: z
    .strictObject({
      above: money("the price on the far side, after crosses_below", "2600 USDC").optional(),
      below: money("the price on the far side, after crosses_above", "4200 USDC").optional(),
      cooldown: seconds("the least time between two sales", "3d"),
    })
    .optional()
    .meta({ description: "when it may fire again; without it, it sells once in its life" }),
});

/** The schema of each kind of strategy. A new kind is a line here. */
export const strategySchemas = {
  dca: dcaSchema,
  rebalance: rebalanceSchema,
  threshold: thresholdSchema,
} as const;

export type DcaFile = z.output<typeof dcaSchema>;
export type RebalanceFile = z.output<typeof rebalanceSchema>;
export type ThresholdFile = z.output<typeof thresholdSchema>;
export type CommonFields = Pick<
  DcaFile,
  "wallet" | "schedule" | "limits" | "execution" | "recipient" | "affiliate" | "retry_for"
>;
