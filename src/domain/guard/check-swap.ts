import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import { bindingChecks, type ExpectedSwap, envelopeChecks, NOT_PINNED } from "./bind-swap.ts";
import { type Check, firstDenial } from "./check.ts";
import type { Denial } from "./denial.ts";
import { limitChecks } from "./limit-checks.ts";
import { proposalChecks } from "./proposal-checks.ts";
import { referenceChecks } from "./reference-checks.ts";
import { requiredMinimum } from "./required-minimum.ts";
import { roundTripChecks } from "./round-trip.ts";
import { simulationChecks } from "./simulation.ts";
import type { SwapFacts, SwapLimits } from "./swap-facts.ts";

export type { Check, SwapFacts, SwapLimits };

/** The comparisons that were made, in order, and the denial of the first that was not ok. */
export interface SwapVerdict {
  readonly checks: readonly Check[];
  readonly denial: Denial | undefined;
}

/** Checks a swap against every rule, in one order. Nothing is signed unless `denial` is undefined. */
export function checkSwap(facts: SwapFacts): SwapVerdict {
  const minimum = minimumFor(facts);
  const checks = [...limitChecks(facts, swapFeeOf(facts)), ...referenceChecks(facts)];
  if (minimum !== undefined) checks.push(...payloadChecks(facts, expectedSwap(facts, minimum)));
  checks.push(...roundTripChecks(facts));
  return { checks, denial: firstDenial(checks) };
}

/** The least output that this swap must guarantee, undefined while a reference is missing. */
export function minimumFor(
  facts: Pick<SwapFacts, "prices" | "quote" | "limits" | "gross" | "sell" | "buy" | "floor" | "secondOutput">,
): bigint | undefined {
  const { sold, bought } = facts.prices;
  if (facts.secondOutput?.kind === "missing") return undefined;
  if (sold === undefined || bought === undefined || sold.usd <= 0n || bought.usd <= 0n) return undefined;
  const required = requiredMinimum({
    quotedOut: facts.quote.amountOut,
    slippage: facts.limits.slippage,
    gross: facts.gross,
    sold: { decimals: facts.sell.decimals, usd: sold.usd },
    bought: { decimals: facts.buy.decimals, usd: bought.usd },
    tolerance: facts.limits.referenceTolerance,
    secondOut: facts.secondOutput?.amountOut,
  });
  return facts.floor !== undefined && facts.floor > required ? facts.floor : required;
}

/** What the signed payload must say, derived from the facts alone. */
function expectedSwap(facts: SwapFacts, minimum: bigint): ExpectedSwap {
  return {
    mode: facts.mode,
    contracts: facts.pinned.contracts,
    chainId: facts.pinned.chainId,
    owner: facts.owner,
    recipient: facts.recipient,
    fromAsset: facts.sell.address,
    toAsset: facts.buy.address,
    tokens: { sold: facts.sell, bought: facts.buy },
    gross: facts.gross,
    affiliate: facts.affiliate,
    maxSwapFee: facts.limits.maxFee,
    requiredMinimum: minimum,
    nowSeconds: facts.nowSeconds,
    maxLifetimeSeconds: facts.maxLifetimeSeconds,
    nonceRequired: facts.signatureHasNonce,
  };
}

function payloadChecks(facts: SwapFacts, expected: ExpectedSwap): Check[] {
  const checks = quoteChecks(facts);
  if (facts.mode === "self-executed") checks.push(...transactionChecks(facts, expected));
  checks.push(decodingCheck(facts), ...proposedChecks(facts));
  if (facts.decoding.ok) checks.push(...bindingChecks(facts.decoding.swap, expected));
  if (facts.mode === "gasless") {
    if (facts.decoding.ok) checks.push(...signingChecks(facts));
    if (facts.nonceUsed !== undefined) checks.push(freshNonceCheck(facts.nonceUsed));
    checks.push(authorisationCheck(facts));
    if (facts.simulation === undefined) return [...checks, unsimulatedCheck(facts.limits)];
  }
  const bounds = {
    ours: facts.ours,
    owner: facts.owner,
    recipient: facts.recipient,
    sold: facts.sell.address,
    bought: facts.buy.address,
    tokens: expected.tokens,
    gross: facts.gross,
    minimum: expected.requiredMinimum,
    spender: facts.pinned.contracts.spender,
    allowanceLimit: facts.allowanceLimit,
    ways: facts.limits.trialWays,
    keepsNothing: facts.targetKeepsNothing ? facts.pinned : undefined,
  };
  return [...checks, ...simulationChecks(facts.simulation, bounds)];
}

/** Where owners sign, what they are asked for is bound as strictly as what we would sign ourselves. */
function proposedChecks({ proposal, pinned, owner, sell, gross, transaction }: SwapFacts): Check[] {
  if (proposal === undefined) return [];
  const { chainId, contracts } = pinned;
  const of = { chainId, safe: owner, token: sell.address, spender: contracts.spender };
  return proposalChecks(proposal, { ...of, gross, transaction });
}

/** What the quote itself says about the contracts; what it leaves out is bound by the transaction and by our approval. */
function quoteChecks({ quote, pinned }: SwapFacts): Check[] {
  const { target, spender } = pinned.contracts;
  const named = (role: "target" | "spender", field: string, value: Address | undefined, limit: Address): Check[] =>
    value === undefined
      ? []
      : [{ code: NOT_PINNED[role], subject: `quote.${field}`, value, limit, ok: value === limit }];
  return [
    ...named("target", "targetAddress", quote.targetAddress, target),
    ...named("spender", "spender", quote.spender, spender),
  ];
}

/** What we would sign ourselves, whatever was decoded: a profile that builds another message than it read is found here. */
function signingChecks({ signing, pinned }: SwapFacts): Check[] {
  const { verifyingContract, spender } = pinned.contracts;
  const order: Check = {
    code: NOT_PINNED.verifyingContract,
    subject: "verifyingContract of the order to sign",
    value: signing?.verifyingContract ?? "none",
    limit: verifyingContract,
    ok: signing?.verifyingContract === verifyingContract,
  };
  if (signing?.permitSpender === undefined) return [order];
  const permit: Check = {
    code: NOT_PINNED.spender,
    subject: "spender of the permit to sign",
    value: signing.permitSpender,
    limit: spender,
    ok: signing.permitSpender === spender,
  };
  return [order, permit];
}

/** Self-executed there must be a transaction; its absence is reported by the decoding check's code. */
function transactionChecks(facts: SwapFacts, expected: ExpectedSwap): Check[] {
  if (facts.transaction !== undefined) return envelopeChecks(facts.transaction, expected);
  return [{ code: "UNDECODABLE", subject: "transaction", value: "none", limit: "a transaction", ok: false }];
}

function decodingCheck(facts: SwapFacts): Check {
  const selfExecuted = facts.mode === "self-executed";
  return {
    code: selfExecuted ? "UNDECODABLE" : "TYPED_DATA_UNKNOWN",
    subject: selfExecuted ? "calldata" : "typed data",
    value: facts.decoding.ok ? "known" : facts.decoding.problem,
    limit: "known",
    ok: facts.decoding.ok,
  };
}

function freshNonceCheck(used: boolean): Check {
  return { code: "NONCE_USED", subject: "nonce", value: used ? "used" : "unused", limit: "unused", ok: !used };
}

/** The signature binds tokens, amounts and minimum whatever the simulation shows; it cannot prevent a foreign move. */
function unsimulatedCheck({ acceptsUntriedGasless }: SwapLimits): Check {
  return {
    code: "GASLESS_UNTRIED",
    subject: "simulation",
    value: "the service gives no route to simulate",
    limit: acceptsUntriedGasless ? "accepted by the policy" : "simulated",
    ok: acceptsUntriedGasless,
  };
}

function authorisationCheck(facts: SwapFacts): Check {
  const isExact = facts.authorisation === "allowance" || facts.authorisation === "permit";
  const suffices = isExact && facts.sell.address !== NATIVE_TOKEN;
  return {
    code: "PERMIT_UNSUPPORTED",
    subject: "spending permission",
    value: facts.sell.address === NATIVE_TOKEN ? "none for the native token" : facts.authorisation,
    limit: "a permit or a sufficient allowance",
    ok: suffices,
  };
}

function swapFeeOf(facts: SwapFacts): bigint {
  return facts.decoding.ok ? facts.decoding.swap.swapFee : 0n;
}
