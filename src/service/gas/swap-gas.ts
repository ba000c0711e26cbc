import { type Address, type Hex, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { mulDivUp } from "../../domain/money/amount.ts";
import { kindOf } from "../pools/kinds.ts";
import type { Route } from "../routing/best-route.ts";
import { purchasesOf } from "./direct-pay.ts";
import {
  addGas,
  BACK_TO_ZERO_REFUND,
  CHANGE_SLOT,
  COLD_ACCOUNT,
  COLD_SLOT,
  EMPTIED_REFUND,
  FILL_SLOT,
  FIRST_VALUE,
  type Gas,
  NEW_ACCOUNT,
  startGas,
  VALUE_TRANSFER,
  WARM_ACCOUNT,
  WARM_SLOT,
} from "./evm-gas.ts";
import {
  ASKED,
  BETWEEN_GAS,
  COMPUTED,
  DELIVERY,
  DIRECT_HOP,
  DIRECT_TOKEN,
  FACTORY,
  HOP_CALLDATA,
  TOKEN_GAS,
  TRANSFER,
} from "./hop-gas.ts";
import { extraTokenGas, type TokenTraffic } from "./token-gas.ts";

/**
 * What of a swap's gas depends on the accounts that take part: slots and accounts that begin to hold something, or stop.
 */
export interface AccountFacts {
  /** the owner sells all that he has of the token */
  readonly ownerEmpties: boolean;
  /** before the swap, and before its permit: without a limit, zero, or another amount; `exact`: the swap uses it up */
  readonly allowance: "unlimited" | "more" | "exact" | "zero";
  /** of each contract that may be the one, where there are several */
  readonly allowances?: ReadonlyMap<Address, AccountFacts["allowance"]>;
  /** has nothing of what it will get: of the token, or of anything at all for the native token */
  readonly recipientIsNew: boolean;
  readonly affiliateIsNew: boolean;
  readonly relayerIsNew: boolean;
  /** the owner signs a first permit of this token */
  readonly permitIsFirst: boolean;
}

/** An owner who allows what he sells and keeps some of the token, among accounts that had theirs before. */
export const USUAL_FACTS: AccountFacts = {
  ownerEmpties: false,
  allowance: "exact",
  recipientIsNew: false,
  affiliateIsNew: false,
  relayerIsNew: false,
  permitIsFirst: false,
};

/** A swap as far as its gas depends on it. */
export interface SwapShape extends TokenTraffic {
  readonly route: Pick<Route, "hops" | "gas">;
  readonly facts: AccountFacts;
  /** the transaction's, or as many bytes of both kinds */
  readonly data: Hex;
}

/**
 * Both contracts without hops and tokens: taking an ERC-20 token from its owner under an unlimited allowance, delivering
 * another, the event. From traces of `SwapdSettlement` and `SwapdExecutor`: 14,170 of it is work, 3,923 the event.
 */
const FRAME = 40_470n;

/** Wrapping what was sent along instead of taking tokens; the settlement's own balance of it goes from zero to zero. */
const NATIVE_IN: Gas = { used: 20_350n, refund: BACK_TO_ZERO_REFUND };

/** Unwrapping, and two calls with value instead of a transfer. */
const NATIVE_OUT: Gas = { used: 8_600n, refund: 0n };

/** One more transfer from the owner, to an account that has the token. */
const TAKEN = TRANSFER + 3n * WARM_SLOT + COLD_SLOT + CHANGE_SLOT;

/** The digest and its recovered signer, the nonce (a random one, whose word is empty), and the swap fee. */
const SIGNED = 6_600n + COLD_SLOT + FILL_SLOT + TAKEN;

/** The token recovers the signer again, its nonce and the allowance change, with a log. */
const PERMIT = 6_400n + 1_756n + COLD_SLOT + CHANGE_SLOT;

/** Spending a limited allowance: its slot changes, once for each transfer. */
const SPENT = 250n;

/** Paying an affiliate: one more transfer, or one more call with value. */
const AFFILIATE = TAKEN + 1_600n;
const NATIVE_AFFILIATE = COLD_ACCOUNT + VALUE_TRANSFER + 1_600n;

/** Expected gas of the whole transaction, before what is given back at its end. {@link paidGas} is what a receipt says. */
export function swapGas(shape: SwapShape): Gas {
  const { route, fromAsset, toAsset, data, facts } = shape;
  const hops = BigInt(route.hops.length);
  const start = startGas(data) - hops * HOP_CALLDATA;
  const parts: Gas[] = [{ used: start + FRAME + extraTokenGas(shape), refund: 0n }, routeGas(shape)];
  parts.push(fromAsset === NATIVE_TOKEN ? NATIVE_IN : ownerGas(shape));
  if (toAsset === NATIVE_TOKEN) parts.push(NATIVE_OUT);
  parts.push(newGas(facts.recipientIsNew, toAsset));
  if (shape.hasAffiliate) {
    parts.push({ used: fromAsset === NATIVE_TOKEN ? NATIVE_AFFILIATE : AFFILIATE, refund: 0n });
    parts.push(newGas(facts.affiliateIsNew, fromAsset));
  }
  if (shape.gasless) parts.push({ used: SIGNED, refund: 0n }, newGas(facts.relayerIsNew, fromAsset));
  return addGas(...parts);
}

/** Hops, the tokens that come through the executor, factories that are asked, and what pools pay themselves. */
function routeGas({ route: { hops, gas }, toAsset, isComputed }: SwapShape): Gas {
  const tokens = new Set(hops.flatMap(({ tokenIn, tokenOut }) => [tokenIn, tokenOut])).size;
  const asked = hops.filter(({ pool }) => !isComputed(pool) && kindOf(pool).leg?.found !== "listed");
  // Kinds count what they know: that their pools can be computed.
  const surprising = asked.filter(({ pool }) => kindOf(pool).leg?.found === "computed").length;
  const factories = new Set(asked.map(({ pool }) => pool.protocol)).size;
  const lookups = BigInt(factories) * FACTORY + BigInt(surprising) * (ASKED - COMPUTED);
  const { direct, isHeld } = purchasesOf({ hops }, toAsset, isComputed);
  const refund = hops.reduce((sum, { pool }) => sum + kindOf(pool).gas.refund, 0n);
  const between = BigInt(tokens - 2);
  const alone = gas - between * BETWEEN_GAS + refund + lookups - sharedGas({ hops });
  const held = BigInt(isHeld ? tokens : tokens - 1);
  const paid = direct.reduce((sum, { pool }) => sum + DIRECT_HOP + (kindOf(pool).gas.direct ?? 0n), 0n);
  return {
    used: alone + held * TOKEN_GAS.used + paid + (isHeld ? 0n : DIRECT_TOKEN - DELIVERY),
    refund: refund + held * TOKEN_GAS.refund,
  };
}

/** A balance that changes once more: its slot was touched and written to before. */
const CHANGED_BEFORE = COLD_SLOT + CHANGE_SLOT - 2n * WARM_SLOT;

/** What hops through one contract save: an earlier one has touched it, and its balances of the same tokens. */
function sharedGas({ hops }: Pick<Route, "hops">): bigint {
  const met = new Set<string>();
  let saved = 0n;
  for (const { pool, tokenIn, tokenOut } of hops) {
    const touched = [pool.address, pool.address + tokenIn, pool.address + tokenOut];
    for (const [index, one] of touched.entries()) {
      if (met.has(one)) saved += index === 0 ? COLD_ACCOUNT - WARM_ACCOUNT : CHANGED_BEFORE;
      met.add(one);
    }
  }
  return saved;
}

/** What the owner's balance and allowance of the sold token cost beyond the frame. */
export function ownerGas({ facts, gasless, hasAffiliate, hasPermit }: SwapShape): Gas {
  const emptied = facts.ownerEmpties ? EMPTIED_REFUND : 0n;
  const transfers = 1n + (gasless ? 1n : 0n) + (hasAffiliate ? 1n : 0n);
  const spent = transfers * SPENT + (transfers - 1n) * WARM_SLOT;
  if (hasPermit) {
    const nonce = facts.permitIsFirst ? FIRST_VALUE : 0n;
    const slot = facts.allowance === "zero" ? FILL_SLOT : CHANGE_SLOT;
    const refund = facts.allowance === "zero" ? BACK_TO_ZERO_REFUND : EMPTIED_REFUND;
    return { used: PERMIT + nonce + slot + WARM_SLOT + spent, refund: emptied + refund };
  }
  if (facts.allowance === "unlimited") return { used: 0n, refund: emptied };
  return { used: CHANGE_SLOT + spent, refund: emptied + (facts.allowance === "more" ? 0n : EMPTIED_REFUND) };
}

export function newGas(isNew: boolean, asset: Address): Gas {
  if (!isNew) return { used: 0n, refund: 0n };
  return { used: asset === NATIVE_TOKEN ? NEW_ACCOUNT : FIRST_VALUE, refund: 0n };
}

/**
 * A gas limit counts before anything is given back. Beyond the expectation it leaves room for tokens that use more than
 * is known of them and slots that begin to hold something; and for what each hop's kind of pool asks for.
 */
const LIMIT_PERCENT = 175n;

/** Most gas of one transaction, where Osaka is in force (EIP-7825): nodes refuse a limit beyond. */
const MOST_OF_ONE = 1n << 24n;

/**
 * A gas limit under which the swap does not run out, also in a market that moved. Where what it uses fits into one
 * transaction, its limit does.
 */
export function safeGasLimit(used: bigint, { hops }: Pick<Route, "hops">): bigint {
  const room = hops.reduce((sum, { pool }) => sum + kindOf(pool).gas.room, 0n);
  const limit = mulDivUp(used, LIMIT_PERCENT, 100n) + room;
  return limit > MOST_OF_ONE && used <= MOST_OF_ONE ? MOST_OF_ONE : limit;
}
