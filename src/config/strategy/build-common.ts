import type { Policy } from "../../domain/guard/policy.ts";
import type { Address } from "../../domain/money/address.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { formatPercent } from "../../domain/money/fraction.ts";
import { isNative, type Token } from "../../domain/money/token.ts";
import type { StrategyCommon, StrategyLimits } from "../../domain/strategy/common.ts";
import { findRecipient } from "../build-policy.ts";
import { closest } from "../closest.ts";
import { DEFAULTS } from "../defaults.ts";
import { describePlace, problemAt } from "../source.ts";
import { buildCatchUp } from "./build-catch-up.ts";
import { buildRetryFor, buildSchedule } from "./build-schedule.ts";
import type { CommonFields } from "./common-schema.ts";
import type { StrategyFile } from "./scope.ts";

/**
 * What all kinds of strategy share. Whatever a strategy wants beyond the policy is a problem that names both places.
 * @returns undefined when something of it is broken
 */
export function buildCommon(file: StrategyFile, id: string, fields: Partial<CommonFields>): StrategyCommon | undefined {
  const before = file.problems.length;
  const wallet = buildWallet(file, fields.wallet);
  const schedule = buildSchedule(file, fields.schedule);
  const catchUp = buildCatchUp(file, fields.catch_up);
  const retryForSeconds = buildRetryFor(file, { retry_for: fields.retry_for }, schedule);
  const recipient = buildRecipient(file, fields.recipient, wallet?.address);
  const { policy } = file.scope;
  const limits = policy === undefined ? undefined : buildLimits(file, fields.limits, policy);
  const broken = file.problems.length > before;
  if (wallet === undefined || schedule === undefined || recipient === undefined || limits === undefined || broken)
    return undefined;
  return {
    id,
    wallet,
    schedule,
    catchUp,
    limits,
    gasless: fields.execution?.gasless ?? DEFAULTS.gasless,
    recipient,
    affiliate: fields.affiliate,
    enableRfq: fields.execution?.rfq ?? DEFAULTS.rfq,
    retryForSeconds,
  };
}

function buildWallet(file: StrategyFile, name: string | undefined): StrategyCommon["wallet"] | undefined {
  if (name === undefined) return undefined;
  const { scope, problems, source } = file;
  const wallet = scope.wallets.get(name);
  if (wallet !== undefined) return { name, address: wallet.address };
  if (scope.walletNames.includes(name) || scope.walletNames.length === 0) return undefined;
  const meant = closest(name, scope.walletNames);
  const suggestion = meant === undefined ? `wallets are ${scope.walletNames.join(", ")}` : `did you mean "${meant}"?`;
  problems.push(problemAt(source, ["wallet"], `the wallet "${name}" is not known`, suggestion));
  return undefined;
}

function buildRecipient(file: StrategyFile, text: string | undefined, owner: Address | undefined): Address | undefined {
  const { scope, source, problems } = file;
  const recipient =
    text === undefined
      ? owner
      : findRecipient(
          source,
          ["recipient"],
          { text, wallets: scope.wallets, walletNames: scope.walletNames },
          problems,
        );
  const { policy, policySource } = scope;
  if (recipient === undefined || policy === undefined || policySource === undefined) return recipient;
  if (policy.recipients.includes(recipient)) return recipient;
  const path = text === undefined ? ["wallet"] : ["recipient"];
  const who = text === undefined ? "the strategy's own wallet" : `"${text}"`;
  const message = `${who} is none of the recipients that the policy allows (${describePlace(policySource, ["recipients"])})`;
  problems.push(problemAt(source, path, message, "let the owner add it there, or name an allowed recipient"));
  return undefined;
}

type LimitKey = "slippage" | "price_impact" | "max_fee" | "max_gas_price";

function buildLimits(file: StrategyFile, fields: CommonFields["limits"], policy: Policy): StrategyLimits {
  const within = <Value extends bigint>(
    key: LimitKey,
    values: { asked: Value | undefined; ceiling: Value },
    policyKey: string,
    show: (value: Value) => string,
  ): Value => {
    const { asked, ceiling } = values;
    if (asked === undefined || asked <= ceiling) return asked ?? ceiling;
    const place =
      file.scope.policySource === undefined ? "" : ` (${describePlace(file.scope.policySource, [policyKey])})`;
    const message = `${show(asked)} is more than the policy's ${policyKey} of ${show(ceiling)}${place}`;
    file.problems.push(
      problemAt(
        file.source,
        ["limits", key],
        message,
        `use at most ${show(ceiling)}; only the owner may raise the policy`,
      ),
    );
    return ceiling;
  };
  const gwei = (wei: bigint): string => `${formatUnits(wei, 9)}gwei`;
  return {
    slippage: within(
      "slippage",
      { asked: fields?.slippage, ceiling: policy.maxSlippage },
      "max_slippage",
      formatPercent,
    ),
    priceImpact: within(
      "price_impact",
      { asked: fields?.price_impact, ceiling: policy.maxPriceImpact },
      "max_price_impact",
      formatPercent,
    ),
    maxFee: within("max_fee", { asked: fields?.max_fee, ceiling: policy.maxFee }, "max_fee", formatPercent),
    maxFeePerGas: within(
      "max_gas_price",
      { asked: fields?.max_gas_price, ceiling: policy.maxFeePerGas },
      "max_gas_price",
      gwei,
    ),
  };
}

/** A relayer cannot take the native coin out of a wallet, so a strategy that allows nothing else could never trade. */
export function checkGaslessSale(file: StrategyFile, fields: Partial<CommonFields>, sold: Token | undefined): void {
  if (sold === undefined || !isNative(sold) || fields.execution?.gasless !== "only") return;
  const message = `gasless swaps cannot sell ${sold.symbol}: a relayer has no way to take the native coin`;
  file.problems.push(
    problemAt(file.source, ["execution", "gasless"], message, "use never or prefer, or sell the wrapped token"),
  );
}
