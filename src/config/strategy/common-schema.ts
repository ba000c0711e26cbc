import { z } from "zod";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { address, flag, text } from "../fields.ts";
import { gasPrice, seconds, share } from "../units.ts";

const half = { max: ((ONE_PPM as bigint) / 2n) as typeof ONE_PPM };
/** Bound of a share that may be all of it. */
export const whole = { max: ONE_PPM };

/** A token by its name in the main file. */
export const symbol = (description: string) => text(description, "WETH");

const schedule = z
  .strictObject({
    cron: text("five fields: minute hour day-of-month month day-of-week", "0 9 * * 1").optional(),
    at: text("a time of day, with days of the week before it", "Mon 09:00").optional(),
    every: seconds("elapsed time, counted from the Unix epoch", "6h").optional(),
    timezone: text("an IANA time zone for cron and at; UTC by default", "Europe/Berlin").optional(),
  })
  .meta({ description: "when the strategy is due: one of cron, at and every" });

/** Keys of every kind of strategy. */
export const commonFields = {
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

const common = z.strictObject(commonFields);

export type CommonFields = z.output<typeof common>;
