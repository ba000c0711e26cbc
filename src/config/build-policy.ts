import type { Policy } from "../domain/guard/policy.ts";
import { SIMULATION_METHODS } from "../domain/guard/simulation-method.ts";
import type { StatedContracts, SwapContracts } from "../domain/guard/swap-contracts.ts";
import { ONE_PPM } from "../domain/money/fraction.ts";
import { formatDollars } from "../domain/money/price.ts";
import { buildNative } from "./build-native.ts";
import {
  buildAllowedTokens,
  buildSpenders,
  findRecipient,
  type KnownTokens,
  type KnownWallets,
} from "./build-policy-lists.ts";
import type { Keys } from "./check-shape.ts";
import { at, type Complaint, each, type Part } from "./complaint.ts";
import type { PolicyFile, policySchema } from "./schemas/policy-schema.ts";
import { writeDuration } from "./suggest.ts";

/** What a policy speaks of: the main file's part of the configuration. */
export interface KnownToPolicy extends KnownTokens, KnownWallets {
  readonly nativeSymbol: string;
  /** the pinned contracts, as far as they are known */
  readonly contracts: StatedContracts;
  /** further sets of them */
  readonly further: readonly SwapContracts[];
  /** how often the value of the wallets is looked at (undefined where that is broken), and where that is written */
  readonly samples: { readonly everyMs: number | undefined; readonly place: string };
}

/** The owner's ceilings. @returns undefined when a key of it is broken */
export function* buildPolicy(
  { fields, whole }: Keys<typeof policySchema>,
  known: KnownToPolicy,
  placeOf: (key: string) => string,
): Part<Policy> {
  const recipients = yield* each(fields.recipients ?? [], (text, index) =>
    findRecipient(["recipients", index], text, known),
  );
  const tokens = yield* buildAllowedTokens(fields.tokens, known);
  const spenders = yield* buildSpenders(fields.spenders, [known.contracts, ...known.further]);
  const gasReserve = yield* buildNative(["gas_reserve"], fields.gas_reserve, known.nativeSymbol);
  yield* checkOrder(fields, placeOf);
  yield* checkDrawdown(fields.drawdown, known);
  if (gasReserve === undefined || whole === undefined) return undefined;
  const { round_trip: roundTrip, drawdown, pause_after: pause } = whole;
  return {
    maxTradeUsd: whole.max_trade,
    maxPerDayUsd: whole.max_per_day,
    maxPerMonthUsd: whole.max_per_month,
    minTradeUsd: whole.min_trade,
    ...{ recipients, tokens, spenders, gasReserve },
    maxFeePerGas: whole.max_gas_price,
    maxSlippage: whole.max_slippage,
    maxPriceImpact: whole.max_price_impact,
    maxFee: whole.max_fee,
    referenceTolerance: whole.reference.tolerance,
    maxDivergence: whole.reference.max_divergence,
    pegged: [...known.tokens.values()].filter(({ peg }) => peg !== undefined).map(({ token }) => token.address),
    maxDepeg: whole.max_depeg,
    roundTrip: roundTrip === undefined ? undefined : { maxLoss: roundTrip.max_loss, when: roundTrip.when },
    acceptsUntriedGasless: whole.gasless_untried === "accept",
    trialWays: SIMULATION_METHODS.filter((way) => whole.simulation.includes(way)),
    drawdown: drawdown === undefined ? undefined : { stop: drawdown.stop, overSeconds: drawdown.over },
    pauseAfter: { failures: pause.failures, withinSeconds: pause.within },
  };
}

/** A fall is seen between two looks at least, and each of them may be late. */
const LEAST_SAMPLES = 3;

/** A stop that could never report the value of the wallets would be no stop, so it is refused. */
function* checkDrawdown(
  rule: PolicyFile["drawdown"],
  { tokens, samples }: Pick<KnownToPolicy, "tokens" | "samples">,
): Iterable<Complaint> {
  if (rule === undefined) return;
  const unpriced = [...tokens.values()].filter(({ feed, twap }) => feed === undefined && twap === undefined);
  const symbols = unpriced.map(({ token }) => token.symbol).join(", ");
  if (unpriced.length > 0)
    yield at`drawdown: the value of the wallets is never known while a token has no reference price: ${symbols} -> give it one, or take the token out of the main file`;
  if (rule.stop === 0n || rule.stop >= ONE_PPM)
    yield at`drawdown.stop: a stop needs a share between zero and all of it -> write for example 20%`;
  const { everyMs = 0, place } = samples;
  if (rule.over * 1_000 >= everyMs * LEAST_SAMPLES) return;
  const [every, least] = [everyMs, everyMs * LEAST_SAMPLES].map(writeDuration);
  yield at`drawdown.over: the value of the wallets is looked at every ${every} (timing.priceSampleInterval, ${place}), too seldom to see a fall within ${writeDuration(rule.over * 1_000)} -> use at least ${least}, or lower timing.priceSampleInterval`;
}

/** Ceilings that make one another useless are mistakes, not intentions. */
function* checkOrder(fields: Partial<PolicyFile>, placeOf: (key: string) => string): Iterable<Complaint> {
  const { min_trade: least, max_trade: most, max_per_day: day, max_per_month: month } = fields;
  const show = (key: string, usd: bigint): string => `${key} of ${formatDollars(usd)} (${placeOf(key)})`;
  if (most !== undefined && day !== undefined && most > day)
    yield at`max_trade: ${formatDollars(most)} is more than ${show("max_per_day", day)}, so it could never be used -> use at most ${formatDollars(day)}, or raise max_per_day`;
  if (least !== undefined && most !== undefined && least > most)
    yield at`min_trade: ${formatDollars(least)} is more than ${show("max_trade", most)}, so nothing could be traded -> use at most ${formatDollars(most)}, or raise max_trade`;
  if (month !== undefined && day !== undefined && day > month)
    yield at`max_per_month: ${formatDollars(month)} is less than ${show("max_per_day", day)}, so a day could never use its share -> use at least ${formatDollars(day)}, or lower max_per_day`;
}
