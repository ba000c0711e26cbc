import { type Address, NATIVE_TOKEN } from "../money/address.ts";
import { formatUnits } from "../money/amount.ts";
import { describeAmount, describeBoth, describeSecondsAhead } from "../money/for-people.ts";
import { type Ppm, shareDown } from "../money/fraction.ts";
import type { Token } from "../money/token.ts";
import { type Check, firstDenial } from "./check.ts";
import { type DecodedSwap, grossOf, type ProposedTransaction } from "./decoded-swap.ts";
import type { Denial } from "./denial.ts";
import { CONTRACT_ROLES, type ContractRole, type SwapContracts } from "./swap-contracts.ts";

/** Every EVM chain counts its native coin in 1e-18. */
const NATIVE_COIN = { symbol: "(native coin)", decimals: 18 } as const;

/** Who pays for the transaction: our own account, or the service's relayer. */
export type ExecutionMode = "self-executed" | "gasless";

/** How amounts of the sold and of the bought token are written for people. */
export interface SwapTokens {
  readonly sold: Pick<Token, "symbol" | "decimals">;
  readonly bought: Pick<Token, "symbol" | "decimals">;
}

/** What a swap must say for us to sign it. Comes from the request and the configuration, never from the service. */
export interface ExpectedSwap {
  readonly mode: ExecutionMode;
  /** the pinned contracts */
  readonly contracts: SwapContracts;
  readonly chainId: number;
  /** our account, whose tokens are sold */
  readonly owner: Address;
  readonly recipient: Address;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  /** the same two tokens, as people write their amounts */
  readonly tokens: SwapTokens;
  /** all that may leave the owner, in the smallest unit of the sold token */
  readonly gross: bigint;
  /** the affiliate asked for and its share of the gross amount, rounded down by the service */
  readonly affiliate: { readonly address: Address; readonly fee: Ppm } | undefined;
  /** largest share of the gross amount that the service may keep on the gasless path */
  readonly maxSwapFee: Ppm;
  /** least output, in the smallest unit of the bought token; see `requiredMinimum` */
  readonly requiredMinimum: bigint;
  /** Unix seconds of chain time */
  readonly nowSeconds: number;
  readonly maxLifetimeSeconds: number;
  /** the profile's signatures carry a nonce */
  readonly nonceRequired: boolean;
}

/**
 * Binds every field of a decoded swap to what was asked for.
 * @returns why it must not be signed, or undefined when nothing speaks against it
 */
export function bindSwap(swap: DecodedSwap, expected: ExpectedSwap): Denial | undefined {
  return firstDenial(bindingChecks(swap, expected));
}

/** Every comparison of {@link bindSwap}, in its order; none is left out after a failed one. */
export function bindingChecks(swap: DecodedSwap, expected: ExpectedSwap): Check[] {
  return [
    ...contractChecks(swap, expected),
    senderCheck(swap, expected),
    same("RECIPIENT_MISMATCH", "recipient", swap.recipient, expected.recipient),
    same("TOKEN_MISMATCH", "fromAsset", swap.fromAsset, expected.fromAsset),
    same("TOKEN_MISMATCH", "toAsset", swap.toAsset, expected.toAsset),
    ...amountChecks(swap, expected),
    swapFeeCheck(swap, expected),
    minimumCheck(swap, expected),
    deadlineCheck(swap, expected),
    nonceCheck(swap, expected),
    {
      code: "PERMIT_UNEXPECTED",
      subject: "permit",
      value: swap.permitValue === undefined ? "none" : describeAmount(swap.permitValue, expected.tokens.sold),
      limit: "none",
      ok: swap.permitValue === undefined,
    },
  ];
}

/**
 * Binds the envelope of a self-executed swap: chain, target, sender and value. Gas and fees are not checked, because
 * ours are used instead.
 */
export function envelopeChecks(transaction: ProposedTransaction, expected: ExpectedSwap): Check[] {
  const value = expected.fromAsset === NATIVE_TOKEN ? expected.gross : 0n;
  const [reported, limit] = describeBoth(transaction.value, value, NATIVE_COIN);
  return [
    {
      code: "CHAIN_MISMATCH",
      subject: "transaction.chainId",
      value: transaction.chainId.toString(),
      limit: expected.chainId.toString(),
      ok: transaction.chainId === expected.chainId,
    },
    same("TARGET_NOT_PINNED", "transaction.to", transaction.to, expected.contracts.target),
    {
      code: "SENDER_MISMATCH",
      subject: "transaction.from",
      value: transaction.from ?? "not stated",
      limit: expected.owner,
      ok: transaction.from === undefined || transaction.from === expected.owner,
    },
    {
      code: "VALUE_MISMATCH",
      subject: "transaction.value",
      value: reported,
      limit,
      ok: transaction.value === value,
    },
  ];
}

/** What a contract that is not the pinned one is denied as, by what it would be. */
export const NOT_PINNED = {
  target: "TARGET_NOT_PINNED",
  spender: "SPENDER_NOT_PINNED",
  verifyingContract: "VERIFYING_CONTRACT_NOT_PINNED",
} as const satisfies Readonly<Record<ContractRole, Check["code"]>>;

/**
 * Each contract on its own. Where the form does not name the target or the spender, the transaction and our own approval
 * or permit do; nobody but the order names who checks it.
 */
function contractChecks({ contracts }: DecodedSwap, { contracts: pinned, mode }: ExpectedSwap): Check[] {
  return CONTRACT_ROLES.flatMap((role) => {
    const value = contracts[role];
    const isNeeded = role === "verifyingContract" && mode === "gasless";
    if (value === undefined && !isNeeded) return [];
    return [
      {
        code: NOT_PINNED[role],
        subject: role,
        value: value ?? "none",
        limit: pinned[role],
        ok: value === pinned[role],
      },
    ];
  });
}

function same(code: Check["code"], subject: string, value: Address, limit: Address): Check {
  return { code, subject, value, limit, ok: value === limit };
}

/**
 * Self-executed, the caller is our own account, whether the form says so or not. Gasless, somebody else must be named:
 * the zero address would let anybody call, and our own account would make the signature useless to the relayer.
 */
function senderCheck(swap: DecodedSwap, expected: ExpectedSwap): Check {
  const check = { code: "SENDER_MISMATCH", subject: "sender", value: swap.sender ?? "not stated" } as const;
  if (expected.mode === "self-executed") {
    return { ...check, limit: expected.owner, ok: swap.sender === undefined || swap.sender === expected.owner };
  }
  const named = swap.sender !== undefined && swap.sender !== NATIVE_TOKEN && swap.sender !== expected.owner;
  return { ...check, limit: "an account other than the owner", ok: named };
}

function amountChecks(swap: DecodedSwap, expected: ExpectedSwap): Check[] {
  const gross = grossOf(swap);
  const [value, limit] = describeBoth(gross, expected.gross, expected.tokens.sold);
  const amount: Check = {
    code: "AMOUNT_MISMATCH",
    subject: "amountIn + swapFee + affiliateFee",
    value,
    limit,
    ok: gross === expected.gross && swap.amountIn > 0n,
  };
  const wanted =
    expected.affiliate === undefined
      ? undefined
      : { address: expected.affiliate.address, fee: shareDown(expected.gross, expected.affiliate.fee) };
  const affiliate: Check = {
    code: "AFFILIATE_MISMATCH",
    subject: "affiliate",
    value: describeAffiliate(swap.affiliate, expected.tokens),
    limit: describeAffiliate(wanted, expected.tokens),
    ok: swap.affiliate?.address === wanted?.address && swap.affiliate?.fee === wanted?.fee,
  };
  return [amount, affiliate];
}

/** Exactly: a fee that is off by one unit is denied, and must not look like the right one. */
function describeAffiliate(affiliate: { address: Address; fee: bigint } | undefined, { sold }: SwapTokens): string {
  if (affiliate === undefined) return "none";
  return `${formatUnits(affiliate.fee, sold.decimals)} ${sold.symbol} to ${affiliate.address}`;
}

function minimumCheck({ amountOutMin }: DecodedSwap, { requiredMinimum, tokens }: ExpectedSwap): Check {
  const [value, limit] = describeBoth(amountOutMin, requiredMinimum, tokens.bought);
  return {
    code: "OUTPUT_BELOW_MINIMUM",
    subject: "amountOutMin",
    value,
    limit: `at least ${limit}`,
    ok: amountOutMin > 0n && amountOutMin >= requiredMinimum,
  };
}

function swapFeeCheck(swap: DecodedSwap, expected: ExpectedSwap): Check {
  const most = expected.mode === "self-executed" ? 0n : shareDown(expected.gross, expected.maxSwapFee);
  const [value, limit] = describeBoth(swap.swapFee, most, expected.tokens.sold);
  return {
    code: "SWAP_FEE_TOO_HIGH",
    subject: "swapFee",
    value,
    limit: `at most ${limit}`,
    ok: swap.swapFee >= 0n && swap.swapFee <= most,
  };
}

function deadlineCheck(swap: DecodedSwap, expected: ExpectedSwap): Check {
  const now = BigInt(expected.nowSeconds);
  const latest = now + BigInt(expected.maxLifetimeSeconds);
  return {
    code: "DEADLINE_OUT_OF_BOUNDS",
    subject: "deadline",
    value: describeSecondsAhead(swap.deadline - now),
    limit: `later than now, at most ${describeSecondsAhead(BigInt(expected.maxLifetimeSeconds))}`,
    ok: swap.deadline > now && swap.deadline <= latest,
  };
}

/** Only a signature needs a nonce; a transaction of our own has the account's. */
function nonceCheck(swap: DecodedSwap, expected: ExpectedSwap): Check {
  const required = expected.mode === "gasless" && expected.nonceRequired;
  return {
    code: "NONCE_MISSING",
    subject: "nonce",
    value: swap.nonce === undefined ? "none" : swap.nonce.toString(),
    limit: required ? "present" : "not required",
    ok: !required || swap.nonce !== undefined,
  };
}
