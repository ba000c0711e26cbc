import type { Address } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { formatPercent, type Ppm } from "../../domain/money/fraction.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import { type CatchUp, DEFAULT_CATCH_UP } from "../../domain/schedule/catch-up.ts";
import type { StrategyCommon, StrategyLimits } from "../../domain/strategy/common.ts";
import { findRecipient } from "../build-policy-lists.ts";
import { didYouMean } from "../closest.ts";
import { at, atKey, type Complaint, type Found, type Part, refuse } from "../complaint.ts";
import { buildRetryFor, buildSchedule } from "./build-schedule.ts";
import type { CommonFields } from "./common-schema.ts";
import { inPolicy, type StrategyFile } from "./scope.ts";

/**
 * What all kinds of strategy share. Whatever a strategy wants beyond the policy is a problem that names both places.
 * @returns undefined when something of it is broken
 */
export function* buildCommon(file: StrategyFile, id: string, fields: Partial<CommonFields>): Part<StrategyCommon> {
  const wallet = yield* findWallet(file, fields.wallet);
  const schedule = yield* buildSchedule(fields.schedule);
  const catchUp = yield* buildCatchUp(fields.catch_up);
  const retryForSeconds = yield* buildRetryFor(fields.retry_for, schedule);
  const recipient = yield* buildRecipient(file, fields.recipient, wallet?.address);
  const limits = yield* buildLimits(file, fields.limits);
  yield* checkService(file, fields);
  const { execution, affiliate } = fields;
  if (wallet === undefined || schedule === undefined || recipient === undefined) return undefined;
  if (limits === undefined || execution === undefined) return undefined;
  const { rfq: enableRfq } = execution;
  const holds = yield* buildHolds(execution);
  // What would be preferred cannot be had there: asking for it each time would only cost a call.
  const isSafe = file.scope.wallets.get(wallet.name)?.proposals !== undefined;
  const gasless = isSafe || file.scope.promises?.takesOrders === false ? "never" : execution.gasless;
  return { id, wallet, schedule, catchUp, limits, gasless, recipient, affiliate, enableRfq, retryForSeconds, ...holds };
}

/** An approval that nobody gives half a day long is of another market. */
const APPROVE_WITHIN_SECONDS = 43_200;

/** What waits for a person before it is signed. Absent keys stay absent: an edition without them is the same as before. */
function* buildHolds({
  approve_above: approveAboveUsd,
  approve_within: within,
  announce: announceSeconds,
}: CommonFields["execution"]): Found<
  Pick<StrategyCommon, "approveAboveUsd" | "approveWithinSeconds" | "announceSeconds">
> {
  if (within !== undefined && approveAboveUsd === undefined)
    yield atKey`execution.approve_within: nothing waits for an approval -> add approve_above, for example "2000 USD", or drop the key`;
  return {
    ...(approveAboveUsd === undefined
      ? {}
      : { approveAboveUsd, approveWithinSeconds: within ?? APPROVE_WITHIN_SECONDS }),
    ...(announceSeconds === undefined ? {} : { announceSeconds }),
  };
}

/** What the service's profile cannot do whatever the market does. */
function* checkService({ scope }: StrategyFile, fields: Partial<CommonFields>): Iterable<Complaint> {
  const { promises, wallets } = scope;
  if (fields.execution?.gasless === "only" && wallets.get(fields.wallet ?? "")?.proposals !== undefined)
    yield at`execution.gasless: a Safe signs no orders here: its owners sign what is proposed, and one of them pays the gas -> use never`;
  if (promises?.takesOrders === false && fields.execution?.gasless === "only")
    yield at`execution.gasless: nothing is gasless here: swaps settle through a public router, which takes no signed orders -> use never, or deploy a settlement contract (swapd settlement deploy) and run a relayer`;
  if (promises?.paysAffiliates === false && fields.affiliate !== undefined)
    yield at`affiliate: nobody can be paid a share here: swaps settle through a public router -> leave it out, or deploy a settlement contract (swapd settlement deploy)`;
}

function* findWallet({ scope }: StrategyFile, name: string | undefined): Part<StrategyCommon["wallet"]> {
  if (name === undefined) return undefined;
  const { wallets, walletNames: names } = scope;
  const wallet = wallets.get(name);
  if (wallet !== undefined) return { name, address: wallet.address };
  if (names.includes(name) || names.length === 0) return undefined;
  const fix = didYouMean(name, names, `wallets are ${names.join(", ")}`);
  return yield* refuse`wallet: the wallet "${name}" is not known -> ${fix}`;
}

/** What becomes of missed slots. Keys that the policy ignores are problems, because the author relies on them. */
function* buildCatchUp(fields: CommonFields["catch_up"]): Found<CatchUp> {
  if (fields === undefined) return DEFAULT_CATCH_UP;
  const policy = fields.policy ?? DEFAULT_CATCH_UP.policy;
  const useless: ["window" | "max_runs" | "max_multiple", needed: string][] = [];
  if (policy === "skip") useless.push(["window", "latest"]);
  if (policy !== "all") useless.push(["max_runs", "all"]);
  if (policy !== "accumulate") useless.push(["max_multiple", "accumulate"]);
  for (const [key, needed] of useless)
    if (fields[key] !== undefined)
      yield atKey`catch_up.${key}: means nothing with the policy ${policy} -> drop the key, or use policy: ${needed}`;
  if ((policy === "all" || policy === "accumulate") && fields.window === undefined)
    yield at`catch_up: the policy ${policy} needs a window: slots older than it are not caught up -> for example { policy: ${policy}, window: 2d }`;
  return {
    policy,
    windowSeconds: fields.window,
    maxRuns: fields.max_runs ?? DEFAULT_CATCH_UP.maxRuns,
    maxMultiple: fields.max_multiple ?? DEFAULT_CATCH_UP.maxMultiple,
  };
}

function* buildRecipient(file: StrategyFile, text: string | undefined, owner: Address | undefined): Part<Address> {
  const { policy } = file.scope;
  const recipient = text === undefined ? owner : yield* findRecipient(["recipient"], text, file.scope);
  if (recipient === undefined || policy === undefined || policy.recipients.includes(recipient)) return recipient;
  const path = text === undefined ? "wallet" : "recipient";
  const who = text === undefined ? "the strategy's own wallet" : `"${text}"`;
  return yield* refuse`${path}: ${who} is none of the recipients that the policy allows${inPolicy(file, "recipients")} -> let the owner add it there, or name an allowed recipient`;
}

function* buildLimits(file: StrategyFile, fields: CommonFields["limits"]): Part<StrategyLimits> {
  const { policy } = file.scope;
  if (policy === undefined) return undefined;
  const { slippage, price_impact, max_fee, max_gas_price } = fields ?? {};
  const percent = (value: bigint): string => formatPercent(value as Ppm);
  const gwei = (wei: bigint): string => `${formatUnits(wei, 9)}gwei`;
  return {
    slippage: yield* within(file, ["slippage", "max_slippage", percent], slippage, policy.maxSlippage),
    priceImpact: yield* within(
      file,
      ["price_impact", "max_price_impact", percent],
      price_impact,
      policy.maxPriceImpact,
    ),
    maxFee: yield* within(file, ["max_fee", "max_fee", percent], max_fee, policy.maxFee),
    maxFeePerGas: yield* within(file, ["max_gas_price", "max_gas_price", gwei], max_gas_price, policy.maxFeePerGas),
  };
}

function* within<Value extends bigint>(
  file: StrategyFile,
  [key, policyKey, show]: readonly [key: string, policyKey: string, show: (value: bigint) => string],
  asked: Value | undefined,
  ceiling: Value,
): Found<Value> {
  if (asked === undefined || asked <= ceiling) return asked ?? ceiling;
  const most = show(ceiling);
  yield at`limits.${key}: ${show(asked)} is more than the policy's ${policyKey} of ${most}${inPolicy(file, policyKey)} -> use at most ${most}; only the owner may raise the policy`;
  return ceiling;
}

/** A relayer cannot take the native coin out of a wallet, so a strategy that allows nothing else could never trade. */
export function* checkGaslessSale(fields: Partial<CommonFields>, sold: Token | undefined): Iterable<Complaint> {
  if (sold !== undefined && isNative(sold) && fields.execution?.gasless === "only")
    yield at`execution.gasless: gasless swaps cannot sell ${sold.symbol}: a relayer has no way to take the native coin -> use never or prefer, or sell the wrapped token`;
}
