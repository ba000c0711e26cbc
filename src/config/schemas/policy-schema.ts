import { z } from "zod";
import { DEFAULT_SIMULATION_METHODS, SIMULATION_METHODS } from "../../domain/guard/simulation-method.ts";
import { toPpm } from "../../domain/money/fraction.ts";
import { count, maybe, maybeMap, or, secretReference, text } from "../fields.ts";
import { dollars, gasPrice, money, seconds, share } from "../units.ts";
import { serviceProfile } from "./main-schema.ts";

const half = { max: toPpm(500_000) };

/** What trades are checked against where the policy says nothing of it. */
const REFERENCE = { sources: ["feed" as const], tolerance: toPpm(15_000), max_divergence: toPpm(20_000) };

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
  tokens: maybe(
    z
      .array(z.string({ error: "needs the name of a token, or an address in quotes" }).min(1))
      .min(1, { error: "needs at least one token; without the key all tokens of the main file may be traded" })
      .max(1_000),
    "what may be sold and bought: names of the main file, or addresses in quotes; absent: all of it",
  ),
  spenders: maybe(
    z
      .array(z.string({ error: "needs an address in quotes" }).min(1))
      .min(1, { error: "needs at least one contract; without the key it is the pinned ones" })
      .max(100),
    "contracts that may be approved, called and signed for, addresses in quotes; absent: the pinned ones",
  ),
  gas_reserve: money("how much of the native coin stays in a wallet for gas", "0.01 ETH"),
  max_gas_price: gasPrice("the highest fee per gas, replacements included"),
  max_slippage: or(share("the largest slippage a signature may allow", ["%", "bps"], half), toPpm(10_000)),
  max_price_impact: or(share("the largest price impact of a trade", ["%", "bps"], half), toPpm(10_000)),
  max_fee: or(share("gas and service fees as a share of the trade", ["%", "bps"], half), toPpm(30_000)),
  reference: or(
    z.strictObject({
      sources: or(
        z
          .array(z.enum(["feed", "twap", "service"]))
          .min(1)
          .max(3),
        REFERENCE.sources,
        "each that covers a token must answer; none stands in for another",
      ),
      tolerance: share("how far below the reference price a trade may end, fees included", ["%", "bps"], half),
      max_divergence: or(
        share("how far the sources may be from each other", ["%", "bps"], half),
        REFERENCE.max_divergence,
      ),
      service: maybeMap("a second service, asked for each swap; the source called service", {
        profile: serviceProfile,
        url: text("the URL of another service than the one that quotes", "https://..."),
        apiKey: secretReference("its API key").optional(),
      }),
    }),
    REFERENCE,
    "the independent price that every trade is checked against",
  ),
  max_depeg: or(share("how far a token with a peg may be from it", ["%", "bps"], half), toPpm(20_000)),
  round_trip: maybeMap("asks what selling back would bring, before a token is bought; off when left out", {
    max_loss: share("the most that buying and selling back at once may lose", ["%", "bps"], half),
    when: or(z.enum(["first-buy", "always"]), "first-buy", "first-buy (default) or always"),
  }),
  simulation: or(
    z
      .array(z.enum(SIMULATION_METHODS))
      .min(1, { error: "needs at least one of simulate, trace, probe: without a simulation nothing is signed" })
      .max(100),
    [...DEFAULT_SIMULATION_METHODS],
    "how swaps may be simulated: simulate (eth_simulateV1), trace (debug_traceCall), probe (eth_call; sees known tokens only)",
  ),
  gasless_untried: or(
    z.enum(["deny", "accept"]),
    "deny",
    "gasless orders of a service that gives no route to try them out: deny (default), or accept what the signature binds",
  ),
  drawdown: maybeMap("from which fall on only runs that leave a position start, until a person resumes", {
    stop: share("the largest fall of the wallets' value, deposits and withdrawals aside", ["%", "bps"]),
    over: seconds("from the high within this time", "7d"),
  }),
  pause_after: or(
    z.strictObject({
      failures: count("failed runs of a strategy", { min: 1, max: 1_000 }),
      within: seconds("within this time", "1h"),
    }),
    { failures: 3, within: 3_600 },
    "when a strategy is set to exits-only; failures for lack of a node, a service or a price do not count",
  ),
});

export type PolicyFile = z.output<typeof policySchema>;
