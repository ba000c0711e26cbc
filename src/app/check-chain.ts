import { systemClock } from "../adapters/clock/system-clock.ts";
import type { Configuration, WalletConfiguration } from "../config/configuration.ts";
import { codeProblem } from "../domain/guard/delegation.ts";
import { simulationMethodsOf } from "../domain/guard/policy.ts";
import { formatMethods } from "../domain/guard/simulation-method.ts";
import { spendersIn } from "../domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import { formatDollars, valueUp } from "../domain/money/price.ts";
import { isNative, type Token } from "../domain/money/token.ts";
import { initialStrategyMemory, strategyNeeds } from "../domain/strategy/strategy.ts";
import { formatDuration } from "../domain/time/format-duration.ts";
import { refusedByToken } from "../engine/refused-by-token.ts";
import type { Chain } from "../ports/chain.ts";
import type { Clock } from "../ports/clock.ts";
import { judgeAbilities, silencesOf } from "./abilities.ts";
import { checkExternal } from "./check-external.ts";
import { checkProposals } from "./check-proposals.ts";
import { checkRouters } from "./check-routers.ts";
import { checkSafes } from "./check-safes.ts";
import { checkSending } from "./check-sending.ts";
import { type Finding, tokenRefuses } from "./finding.ts";
import { openChain } from "./open-chain.ts";
import { openPrices } from "./open-prices.ts";
import type { Runtime } from "./runtime.ts";
import { formatTokenAmount } from "./terminal.ts";
import { configFlag } from "./typed.ts";

interface CheckContext {
  readonly configuration: Configuration;
  readonly chain: Chain;
  readonly runtime: Runtime;
  readonly tokens: readonly Token[];
  readonly clock: Pick<Clock, "nowMs">;
}

/**
 * Checks a configuration against its chain: the head, tokens with their decimals and prices, the settlement contract,
 * balances and allowances of the wallets that strategies trade from. A chain that cannot be read is a finding too.
 */
export async function checkChain(
  configuration: Configuration,
  runtime: Runtime,
  clock: Pick<Clock, "nowMs"> = systemClock,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  try {
    const chain = openChain(configuration, runtime.secrets);
    const checked = { configuration, chain, runtime, tokens: tokensOf(configuration), clock };
    findings.push(await checkHead(checked));
    const checks = [checkEndpoints, checkSending, checkCodes, checkSafes, checkProposals, checkSettlement, checkTokens];
    for (const check of [...checks, checkAmounts, checkWallets, checkExternal]) {
      findings.push(...(await check(checked)));
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const whatToDo = `check the RPC endpoints; the files alone are checked by: swapd check --offline${configFlag(configuration.file)}`;
    findings.push({ what: "chain", found: runtime.redactor.redact(error.message), whatToDo });
  }
  return findings;
}

/** The tokens that strategies trade or watch. */
function tokensOf(configuration: Configuration): readonly Token[] {
  const needed = configuration.strategies.flatMap(
    ({ spec }) => strategyNeeds(spec, initialStrategyMemory(spec)).tokens,
  );
  return [...new Map(needed.map((token) => [token.address, token])).values()];
}

/** While this machine and the chain disagree about the time by more than the bound, no slot is run. */
async function checkHead({ chain, configuration, clock }: CheckContext): Promise<Finding> {
  const head = await chain.latest();
  const age = Math.floor(clock.nowMs() / 1_000) - head.timestamp;
  const bound = configuration.timing.maxClockSkewSeconds;
  // Blocks of some chains are a few seconds ahead.
  const isFuture = age < -bound;
  const when = `${formatDuration((isFuture ? -age : Math.max(0, age)) * 1_000)} ${isFuture ? "in the future" : "old"}`;
  const clockIsOff = "this machine's clock is wrong: timedatectl set-ntp true";
  const mend = isFuture ? clockIsOff : `${clockIsOff}; or, where it is right, the chain or its node stands still`;
  return {
    what: `chain ${configuration.network.name} (${configuration.network.chainId})`,
    found: `block ${head.number}, ${when}, base fee ${formatUnits(head.baseFeePerGas, 9)} gwei`,
    whatToDo:
      Math.abs(age) <= bound ? undefined : `more than timing.maxClockSkew of ${bound}s, so that no slot runs; ${mend}`,
  };
}

/** What each endpoint can do is found out by trying: the name of a method alone proves nothing. */
async function checkEndpoints({ chain, configuration }: CheckContext): Promise<Finding[]> {
  const reports = await chain.abilities();
  const { problems, warnings, ways } = judgeAbilities(reports, simulationMethodsOf(configuration.policy));
  const what = "RPC endpoints";
  const hosts = reports.map(({ host }) => host).join(", ");
  const findings: Finding[] = problems.map((found) => {
    return { what, found, whatToDo: "nothing can be traded through them as they are" };
  });
  if (problems.length === 0) {
    const tried = ways.length === 0 ? "" : `, and transactions are simulated by ${formatMethods(ways.slice(0, 1))}`;
    findings.push({ what, found: `${hosts} can do what trading needs${tried}`, whatToDo: undefined });
  }
  for (const found of [...warnings, ...silencesOf(reports)]) {
    findings.push({ what, found, whatToDo: undefined, isWarning: true });
  }
  return findings;
}

const PUBLIC_ROUTER = "public router";

/** What the contract is that swaps settle through. */
function contractName({ network: { settlement, router } }: Configuration): string {
  return settlement === undefined && router !== undefined ? PUBLIC_ROUTER : "settlement contract";
}

async function checkSettlement({ chain, configuration, runtime }: CheckContext): Promise<readonly Finding[]> {
  const routers = await checkRouters(configuration, runtime);
  if (routers.length > 0) return routers;
  const { settlement, router } = configuration.network;
  const what = contractName(configuration);
  const contract = settlement ?? router;
  if (contract === undefined) {
    const whatToDo = "deploy or verify one and name it as service.settlement; without it nothing is quoted or traded";
    return [{ what, found: "none is configured", whatToDo }];
  }
  const isThere = (await chain.code(contract)) !== "0x";
  const key = what === PUBLIC_ROUTER ? "network.name, network.preset or service.target" : "service.settlement";
  const whatToDo = isThere ? undefined : `there is no contract at this address on this chain: check ${key}`;
  const found = isThere ? `${contract} has code` : `${contract} has no code`;
  return [{ what, found, whatToDo }];
}

async function checkTokens({ chain, configuration, tokens }: CheckContext): Promise<Finding[]> {
  const prices = openPrices(configuration, chain);
  const findings: Finding[] = [];
  for (const token of tokens) {
    const decimals = isNative(token) ? token.decimals : await chain.decimals(token.address);
    const price = await prices.price(token);
    const priced = "missing" in price ? `no price (${price.detail})` : `priced by ${price.source}`;
    const problem =
      decimals === token.decimals
        ? "missing" in price && "without a fresh price it is not traded: check its feed"
        : `the configuration says ${token.decimals} decimals: check address and network`;
    findings.push({
      what: `token ${token.symbol}`,
      found: `${decimals ?? "no"} decimals, ${priced}`,
      whatToDo: problem === false ? undefined : problem,
    });
  }
  return findings;
}

/** What a strategy sells at once and the policy never lets through would be denied at each slot. */
async function checkAmounts({ chain, configuration }: CheckContext): Promise<Finding[]> {
  const prices = openPrices(configuration, chain);
  const { maxTradeUsd } = configuration.policy;
  const findings: Finding[] = [];
  for (const { spec } of configuration.strategies) {
    const sold = spec.kind === "dca" && "raw" in spec.sell ? spec.sell : undefined;
    const price = sold && (await prices.price(sold.token));
    if (sold === undefined || price === undefined || "missing" in price) continue;
    const value = valueUp({ raw: sold.raw, decimals: sold.token.decimals }, price.usd);
    if (value <= maxTradeUsd) continue;
    const amount = formatTokenAmount(sold.raw.toString(), sold.token);
    findings.push({
      what: `strategy ${spec.id}`,
      found: `sells ${amount} at once, ${formatDollars(value)}, and the policy's max_trade is ${formatDollars(maxTradeUsd)}`,
      whatToDo: "each of its slots would be denied: sell less at once, or let the owner raise max_trade",
    });
  }
  return findings;
}

async function checkWallets(checked: CheckContext): Promise<Finding[]> {
  const { configuration, tokens } = checked;
  const used = new Set(configuration.strategies.map(({ spec }) => spec.wallet.address));
  const findings: Finding[] = [];
  for (const wallet of configuration.wallets.values()) {
    if (!used.has(wallet.address)) continue;
    if (wallet.paper !== undefined) {
      findings.push(paperFinding(configuration, wallet, wallet.paper));
      continue;
    }
    if (wallet.proposals === undefined) findings.push(await checkGas(checked, wallet));
    for (const token of tokens.filter((candidate) => !isNative(candidate))) {
      const what = `${wallet.name} holds`;
      const found = await holdingText(checked, wallet, token).catch(refusedByToken);
      findings.push(typeof found === "string" ? tokenRefuses(what, token, found) : { what, ...found });
    }
  }
  return findings;
}

/** What is on paper is on no chain: there is nothing to be compared. */
function paperFinding(
  { tokens, network, mode }: Configuration,
  { name }: WalletConfiguration,
  amounts: ReadonlyMap<Address, bigint>,
): Finding {
  const held = [...tokens.values()].flatMap(({ token }) => {
    const raw = amounts.get(token.address);
    return raw === undefined ? [] : [formatTokenAmount(raw.toString(), token)];
  });
  const gas = amounts.has(NATIVE_TOKEN) ? "" : `; gas is lent in ${network.nativeSymbol}, and its cost recorded`;
  const carried = mode === "paper" ? "begins with" : "has at each slot";
  return { what: `${name} on paper`, found: `${carried} ${held.join(", ") || "nothing"}${gas}`, whatToDo: undefined };
}

/** Said where there is code, or where there should be. */
async function checkCodes({ chain, configuration }: CheckContext): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { name, address, delegate, proposals } of configuration.wallets.values()) {
    if (proposals !== undefined) continue;
    const code = await chain.code(address);
    const what = `${name} delegates`;
    const whatToDo = codeProblem(code, delegate);
    if (whatToDo !== undefined) findings.push({ what, found: `${address} has code`, whatToDo });
    else if (delegate !== undefined) {
      const found = code === "0x" ? `to no contract; ${delegate} is named` : `to ${delegate}, as it is named`;
      findings.push({ what, found, whatToDo });
    }
  }
  return findings;
}

async function checkGas({ chain, configuration }: CheckContext, wallet: WalletConfiguration): Promise<Finding> {
  const { nativeSymbol } = configuration.network;
  const native = { symbol: nativeSymbol, decimals: 18, address: NATIVE_TOKEN };
  const balance = await chain.nativeBalance(wallet.address);
  const paysGas = configuration.strategies.some(
    ({ spec }) => spec.wallet.address === wallet.address && spec.gasless !== "only",
  );
  const { gasReserve } = configuration.policy;
  const short = paysGas && balance <= gasReserve;
  return {
    what: `${wallet.name} holds`,
    found: `${formatTokenAmount(balance.toString(), native)} for gas`,
    whatToDo: short
      ? `more than the gas reserve of ${formatTokenAmount(gasReserve.toString(), native)} is needed: fund ${wallet.address}`
      : undefined,
  };
}

async function holdingText(checked: CheckContext, wallet: WalletConfiguration, token: Token) {
  const balance = await checked.chain.balance(token.address, wallet.address);
  const allowed = await allowanceText(checked, wallet, token);
  return { found: `${formatTokenAmount(balance.toString(), token)}${allowed}`, whatToDo: undefined };
}

async function allowanceText(
  { chain, configuration }: CheckContext,
  wallet: WalletConfiguration,
  token: Token,
): Promise<string> {
  const { contracts, furtherContracts } = configuration.service;
  const spenders = contracts === undefined ? [] : spendersIn({ contracts, furtherContracts });
  const parts = spenders.map(async (spender, index) => {
    const allowance = await chain.allowance({ token: token.address, owner: wallet.address, spender });
    const who = index === 0 ? `the ${contractName(configuration)}` : spender;
    return allowance === 0n ? "" : `, of which ${who} may take ${formatTokenAmount(allowance.toString(), token)}`;
  });
  return (await Promise.all(parts)).join("");
}
