import { z } from "zod";
import { ONE_PPM } from "../../domain/money/fraction.ts";
import { count, secretReference, text } from "../fields.ts";
import { dollars, gasPrice, money, seconds, share } from "../units.ts";
import { serviceProfile } from "./main-schema.ts";

const half = { max: ((ONE_PPM as bigint) / 2n) as typeof ONE_PPM };

/** The owner's ceilings. Strategies may only be stricter. */
export const policySchema = z.strictObject({
  version: z.literal(1, { error: "needs the number 1" }).meta({ description: "the version of this format" }),
  max_trade: dollars("the largest single trade at reference prices"),
  max_per_day: dollars("the most that is sold in any 24 hours at reference prices"),
  max_per_month: dollars("the most that is sold in any 30 days at reference prices").optional(),
  min_trade: dollars("the smallest single trade at reference prices").optional(),
  recipients: z
    .array(z.string({ error: "needs the name of a wallet, or an address in quotes" }).min(1))
    .min(1, { error: "needs at least one recipient" })
    .max(1_000)
    .meta({ description: "who may receive what is bought: names of wallets, or addresses in quotes" }),
  tokens: z
    .array(z.string({ error: "needs the name of a token, or an address in quotes" }).min(1))
    .min(1, { error: "needs at least one token; without the key all tokens of the main file may be traded" })
    .max(1_000)
    .optional()
    .meta({
      description: "what may be sold and bought: names of the main file, or addresses in quotes; absent: all of it",
    }),
  spenders: z
    .array(z.string({ error: "needs an address in quotes" }).min(1))
    .min(1, { error: "needs at least one contract; without the key it is the pinned settlement contract" })
    .max(100)
    .optional()
    .meta({
      description: "contracts that may be approved, addresses in quotes; absent: the pinned settlement contract",
    }),
  gas_reserve: money("how much of the native coin stays in a wallet for gas", "0.01 ETH"),
  max_gas_price: gasPrice("the highest fee per gas, replacements included"),
  max_slippage: share("the largest slippage a signature may allow", ["%", "bps"], half).optional(),
  max_price_impact: share("the largest price impact of a trade", ["%", "bps"], half).optional(),
  max_fee: share("gas and service fees as a share of the trade", ["%", "bps"], half).optional(),
  reference: z
    .strictObject({
      sources: z
        .array(z.enum(["feed", "twap", "service"]))
        .min(1)
        .max(3)
        .optional()
        .meta({ description: "each that covers a token must answer; none stands in for another" }),
      tolerance: share("how far below the reference price a trade may end, fees included", ["%", "bps"], half),
      max_divergence: share("how far the sources may be from each other", ["%", "bps"], half).optional(),
      service: z
        .strictObject({
          profile: serviceProfile,
          url: text("the URL of another service than the one that quotes", "https://..."),
          apiKey: secretReference("its API key").optional(),
        })
        .optional()
        .meta({ description: "a second service, asked for each swap; the source called service" }),
    })
    .optional()
    .meta({ description: "the independent price that every trade is held against" }),
  max_depeg: share("how far a token with a peg may be from it", ["%", "bps"], half).optional(),
  round_trip: z
    .strictObject({
      max_loss: share("the most that buying and selling back at once may lose", ["%", "bps"], half),
      when: z.enum(["first-buy", "always"]).optional().meta({ description: "first-buy (default) or always" }),
    })
    .optional()
    .meta({ description: "asks what selling back would bring, before a token is bought; off when left out" }),
  gasless_untried: z.enum(["deny", "accept"]).optional().meta({
    description:
      "gasless orders of a service that gives no route to try them out: deny (default), or accept what the signature binds",
  }),
  drawdown: z
    .strictObject({
      stop: share("the largest fall of the wallets' value, deposits and withdrawals aside", ["%", "bps"]),
      over: seconds("from the high within this time", "7d"),
    })
    .optional()
    .meta({ description: "when only runs that leave a position start any more, until a person resumes" }),
  pause_after: z
    .strictObject({
      failures: count("failed runs of a strategy", { min: 1, max: 1_000 }),
      within: seconds("within this time", "1h"),
    })
    .optional()
    .meta({
      description: "when a strategy is set to exits-only; failures for want of node, service or price do not count",
    }),
});

export type PolicyFile = z.output<typeof policySchema>;
