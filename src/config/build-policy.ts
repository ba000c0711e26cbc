import type { Policy } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import { ONE_PPM } from "../domain/money/fraction.ts";
import { USD_DECIMALS } from "../domain/money/price.ts";
import { buildNative } from "./build-native.ts";
import { buildAllowedTokens, buildSpenders, type KnownTokens } from "./build-policy-lists.ts";
import { closest } from "./closest.ts";
import type { WalletConfiguration } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import { address } from "./fields.ts";
import type { Problem } from "./problem.ts";
import type { PolicyFile } from "./schemas/policy-schema.ts";
import { describePlace, type Path, problemAt, type Source } from "./source.ts";

/** The owner's ceilings. @returns undefined when a key of it is broken; then the problems say which */
export function buildPolicy(
  source: Source,
  fields: Partial<PolicyFile>,
  known: {
    wallets: ReadonlyMap<string, WalletConfiguration>;
    /** also of wallets that are broken: their problem is reported already */
    walletNames: readonly string[];
    nativeSymbol: string;
    /** tokens that should be worth a dollar */
    pegged: readonly Address[];
    tokens: KnownTokens;
    /** the pinned contract, undefined where none is known */
    settlement: Address | undefined;
  },
  problems: Problem[],
): Policy | undefined {
  const before = problems.length;
  const recipients = (fields.recipients ?? []).flatMap((text, index) => {
    const found = findRecipient(
      source,
      ["recipients", index],
      { text, wallets: known.wallets, walletNames: known.walletNames },
      problems,
    );
    return found === undefined ? [] : [found];
  });
  const tokens = buildAllowedTokens(source, fields.tokens, known.tokens, problems);
  const spenders = buildSpenders(source, fields.spenders, known.settlement, problems);
  const gasReserve = buildNative(
    source,
    { path: ["gas_reserve"], money: fields.gas_reserve, nativeSymbol: known.nativeSymbol },
    problems,
  );
  const { max_trade, max_per_day, max_gas_price } = fields;
  checkOrder(source, fields, problems);
  const drawdown = buildDrawdown(source, fields.drawdown, known.tokens, problems);
  const complete = max_trade !== undefined && max_per_day !== undefined && max_gas_price !== undefined;
  if (!complete || gasReserve === undefined || fields.recipients === undefined || problems.length > before)
    return undefined;
  const pause = fields.pause_after;
  return {
    maxTradeUsd: max_trade,
    maxPerDayUsd: max_per_day,
    maxPerMonthUsd: fields.max_per_month,
    minTradeUsd: fields.min_trade,
    recipients,
    tokens,
    spenders,
    gasReserve,
    maxFeePerGas: max_gas_price,
    maxSlippage: fields.max_slippage ?? DEFAULTS.policy.maxSlippage,
    maxPriceImpact: fields.max_price_impact ?? DEFAULTS.policy.maxPriceImpact,
    maxFee: fields.max_fee ?? DEFAULTS.policy.maxFee,
    referenceTolerance: fields.reference?.tolerance ?? DEFAULTS.policy.referenceTolerance,
    maxDivergence: fields.reference?.max_divergence ?? DEFAULTS.policy.maxDivergence,
    pegged: known.pegged,
    maxDepeg: fields.max_depeg ?? DEFAULTS.policy.maxDepeg,
    roundTrip: roundTripOf(fields.round_trip),
    acceptsUntriedGasless: fields.gasless_untried === "accept",
    drawdown,
    pauseAfter:
      pause === undefined ? DEFAULTS.policy.pauseAfter : { failures: pause.failures, withinSeconds: pause.within },
  };
}

/** A stop that could never tell the value of the wallets would be no stop, so it is refused. */
function buildDrawdown(
  source: Source,
  rule: PolicyFile["drawdown"],
  { tokens }: KnownTokens,
  problems: Problem[],
): Policy["drawdown"] {
  if (rule === undefined) return undefined;
  const unpriced = [...tokens.values()].filter(({ feed, twap }) => feed === undefined && twap === undefined);
  if (unpriced.length > 0) {
    const symbols = unpriced.map(({ token }) => token.symbol).join(", ");
    const message = `the value of the wallets is never known while a token has no reference price: ${symbols}`;
    problems.push(problemAt(source, ["drawdown"], message, "give it one, or take the token out of the main file"));
  }
  if (rule.stop === 0n || rule.stop >= ONE_PPM) {
    const message = "a stop needs a share between zero and all of it";
    problems.push(problemAt(source, ["drawdown", "stop"], message, "write for example 20%"));
  }
  return { stop: rule.stop, overSeconds: rule.over };
}

function roundTripOf(fields: PolicyFile["round_trip"]): Policy["roundTrip"] {
  return fields === undefined
    ? undefined
    : { maxLoss: fields.max_loss, when: fields.when ?? DEFAULTS.policy.roundTripWhen };
}

/** Ceilings that make one another useless are mistakes, not wishes. */
function checkOrder(source: Source, fields: Partial<PolicyFile>, problems: Problem[]): void {
  const { min_trade, max_trade, max_per_day, max_per_month } = fields;
  const show = (key: "max_trade" | "max_per_day", usd: bigint): string =>
    `${key} of ${dollars(usd)} (${describePlace(source, [key])})`;
  if (max_trade !== undefined && max_per_day !== undefined && max_trade > max_per_day) {
    problems.push(
      problemAt(
        source,
        ["max_trade"],
        `${dollars(max_trade)} is more than ${show("max_per_day", max_per_day)}, so it could never be used`,
        `use at most ${dollars(max_per_day)}, or raise max_per_day`,
      ),
    );
  }
  if (min_trade !== undefined && max_trade !== undefined && min_trade > max_trade) {
    problems.push(
      problemAt(
        source,
        ["min_trade"],
        `${dollars(min_trade)} is more than ${show("max_trade", max_trade)}, so nothing could be traded`,
        `use at most ${dollars(max_trade)}, or raise max_trade`,
      ),
    );
  }
  if (max_per_month !== undefined && max_per_day !== undefined && max_per_day > max_per_month) {
    problems.push(
      problemAt(
        source,
        ["max_per_month"],
        `${dollars(max_per_month)} is less than ${show("max_per_day", max_per_day)}, so a day could never use its share`,
        `use at least ${dollars(max_per_day)}, or lower max_per_day`,
      ),
    );
  }
}

function dollars(usd: bigint): string {
  return `${formatUnits(usd, USD_DECIMALS)} USD`;
}

/** Someone who may receive: a wallet by name, or an address. */
export function findRecipient(
  source: Source,
  path: Path,
  from: { text: string; wallets: ReadonlyMap<string, WalletConfiguration>; walletNames: readonly string[] },
  problems: Problem[],
): Address | undefined {
  const wallet = from.wallets.get(from.text);
  if (wallet !== undefined) return wallet.address;
  if (from.walletNames.includes(from.text)) return undefined;
  if (from.text.startsWith("0x")) {
    const parsed = address("a recipient").safeParse(from.text);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const suggestion = issue?.code === "custom" ? String(issue.params?.suggestion) : undefined;
    problems.push(problemAt(source, path, issue?.message ?? "is no address", suggestion));
    return undefined;
  }
  const names = from.walletNames;
  if (names.length === 0) return undefined;
  const meant = closest(from.text, names);
  const suggestion =
    meant === undefined ? `wallets are ${names.join(", ")}; an address stands in quotes` : `did you mean "${meant}"?`;
  problems.push(problemAt(source, path, `"${from.text}" is neither a wallet nor an address`, suggestion));
  return undefined;
}
