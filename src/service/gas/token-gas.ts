import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { kindOf } from "../pools/kinds.ts";
import type { Route } from "../routing/best-route.ts";
import { type IsComputed, purchasesOf } from "./direct-pay.ts";
import type { ExtraGas } from "./extra-gas.ts";

/** A swap as far as the extra gas of its tokens depends on it. */
export interface TokenTraffic {
  readonly route: Pick<Route, "hops">;
  readonly fromAsset: Address;
  readonly toAsset: Address;
  readonly gasless: boolean;
  readonly hasPermit: boolean;
  readonly hasAffiliate: boolean;
  readonly isComputed: IsComputed;
  /** what is known of a token; undefined: it is taken for a usual one */
  readonly extraGas: (token: Address) => ExtraGas | undefined;
}

/** How a swap uses one of its tokens. */
interface Uses {
  /** calls that are no transfers */
  calls: number;
  transfers: number;
  /** accounts between which it moves */
  accounts: number;
  pulls: number;
}

/** The executor's ledger reads each token's balance before and after the route. */
const THROUGH_EXECUTOR: Uses = { calls: 2, transfers: 0, accounts: 1, pulls: 0 };
const PAST_EXECUTOR: Uses = { calls: 0, transfers: 0, accounts: 0, pulls: 0 };

/** {@link ExtraGas.first} counts that many. */
const FIRST_ACCOUNTS = 2;

/** What the tokens of a swap use beyond usual ones: nothing is given back of it. */
export function extraTokenGas(traffic: TokenTraffic): bigint {
  const { hops } = traffic.route;
  const tokens = new Set(hops.map(({ tokenIn }) => tokenIn));
  for (const { tokenOut } of hops) tokens.add(tokenOut);
  let sum = 0;
  for (const token of tokens) {
    const extra = traffic.extraGas(token);
    if (extra !== undefined) sum += gasOfUses(usesOf(token, traffic), extra);
  }
  return BigInt(sum);
}

function gasOfUses({ calls, transfers, accounts, pulls }: Uses, extra: ExtraGas): number {
  const further = (accounts - FIRST_ACCOUNTS) * extra.account;
  return extra.first + calls * extra.call + transfers * extra.transfer + pulls * extra.pull + further;
}

function usesOf(token: Address, traffic: TokenTraffic): Uses {
  const { hops } = traffic.route;
  const isBought = token === hops.at(-1)?.tokenOut;
  const { direct, isHeld } = purchasesOf(traffic.route, traffic.toAsset, traffic.isComputed);
  const uses = { ...(isBought && !isHeld ? PAST_EXECUTOR : THROUGH_EXECUTOR) };
  for (const { pool, tokenIn, tokenOut } of hops) {
    if (token !== tokenIn && token !== tokenOut) continue;
    const { tokenCalls } = kindOf(pool).gas;
    uses.calls += token === tokenIn ? tokenCalls.tokenIn : tokenCalls.tokenOut;
    uses.transfers += 1;
    uses.accounts += 1;
  }
  if (token === hops[0]?.tokenIn) addSale(uses, traffic);
  if (isBought) addDelivery(uses, traffic, { direct: direct.length, isHeld });
  return uses;
}

/** From the owner to the executor, and his fees; or wrapped and passed on by the settlement. */
function addSale(uses: Uses, { fromAsset, gasless, hasPermit, hasAffiliate }: TokenTraffic): void {
  if (fromAsset === NATIVE_TOKEN) {
    uses.calls += 1;
    uses.transfers += 1;
    uses.accounts += 1;
    return;
  }
  const taken = 1 + (gasless ? 1 : 0) + (hasAffiliate ? 1 : 0);
  // His allowance, and the executor's balance before and after.
  uses.calls += 3 + (hasPermit ? 1 : 0);
  uses.transfers += taken;
  uses.accounts += 1 + (taken - 1);
  uses.pulls += 1;
}

/**
 * To the recipient, whose balance is read before and after, once for each pool that pays him itself and once for what
 * the executor has; or unwrapped.
 */
function addDelivery(uses: Uses, { toAsset }: TokenTraffic, by: { direct: number; isHeld: boolean }): void {
  if (toAsset === NATIVE_TOKEN) {
    uses.calls += 1;
    return;
  }
  uses.accounts += 1;
  uses.calls += 2 * by.direct;
  if (!by.isHeld) return;
  uses.calls += 2;
  uses.transfers += 1;
}
