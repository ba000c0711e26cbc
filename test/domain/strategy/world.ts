import { toAddress } from "../../../src/domain/money/address.ts";
import { toPpm } from "../../../src/domain/money/fraction.ts";
import { parseUsd, type ReferencePrice } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import { DEFAULT_CATCH_UP } from "../../../src/domain/schedule/catch-up.ts";
import type { BudgetView } from "../../../src/domain/strategy/budget.ts";
import type { StrategyCommon } from "../../../src/domain/strategy/common.ts";
import type { PriceBar, StrategyView } from "../../../src/domain/strategy/decision.ts";

export const USDC = token("USDC", 6, 1);
export const WETH = token("WETH", 18, 2);
export const WBTC = token("WBTC", 8, 3);
export const DAI = token("DAI", 18, 4);
/** a token of whole units */
export const GOLD = token("GOLD", 0, 9);

function token(symbol: string, decimals: number, number: number): Token {
  return { symbol, decimals, address: toAddress(`0x${number.toString(16).padStart(40, "0")}`) };
}

export const common: StrategyCommon = {
  id: "test",
  wallet: { name: "main", address: toAddress(`0x${"a".repeat(40)}`) },
  schedule: { kind: "every", seconds: 60 },
  catchUp: DEFAULT_CATCH_UP,
  limits: { slippage: toPpm(5_000), priceImpact: toPpm(10_000), maxFee: toPpm(30_000), maxFeePerGas: 5_000_000_000n },
  gasless: "never",
  recipient: toAddress(`0x${"a".repeat(40)}`),
  affiliate: undefined,
  enableRfq: false,
  retryForSeconds: 30,
};

/** Whole tokens as raw amount. */
export function of(token: Token, whole: number | string): bigint {
  const [integer = "0", fraction = ""] = String(whole).split(".");
  return BigInt(integer + fraction.padEnd(token.decimals, "0").slice(0, token.decimals));
}

export function price(dollars: string): ReferencePrice {
  const usd = parseUsd(dollars);
  if (usd === undefined) throw new Error(`no price: ${dollars}`);
  return { usd, source: "feed", atSeconds: 1_700_000_000 };
}

interface Seen {
  readonly nowMs?: number;
  readonly free?: readonly (readonly [Token, bigint])[];
  readonly prices?: readonly (readonly [Token, string])[];
  readonly slots?: number;
  readonly slotMs?: number;
  readonly balances?: readonly (readonly [Token, bigint])[];
  readonly instants?: number;
  readonly spent?: readonly (readonly [Token, bigint])[];
  readonly bought?: readonly (readonly [Token, bigint])[];
  readonly outside?: readonly (readonly [Token, bigint])[];
  readonly bars?: readonly (readonly [Token, readonly PriceBar[]])[];
  readonly budget?: BudgetView | undefined;
  readonly external?: readonly (readonly [Token, bigint])[] | undefined;
}

export function view(seen: Seen): StrategyView {
  const nowMs = seen.nowMs ?? 1_700_000_000_000;
  return {
    slotMs: seen.slotMs ?? nowMs,
    slots: seen.slots ?? 1,
    nowMs,
    free: new Map((seen.free ?? []).map(([held, raw]) => [held.address, raw])),
    balances: new Map((seen.balances ?? seen.free ?? []).map(([held, raw]) => [held.address, raw])),
    instants: seen.instants ?? 0,
    prices: new Map((seen.prices ?? []).map(([priced, dollars]) => [priced.address, price(dollars)])),
    spent: new Map((seen.spent ?? []).map(([sold, raw]) => [sold.address, raw])),
    bought: new Map((seen.bought ?? []).map(([bought, raw]) => [bought.address, raw])),
    outside: new Map((seen.outside ?? []).map(([held, raw]) => [held.address, raw])),
    bars: new Map((seen.bars ?? []).map(([priced, bars]) => [priced.address, bars])),
    ...(seen.budget === undefined ? {} : { budget: seen.budget }),
    ...(seen.external === undefined
      ? {}
      : { external: new Map(seen.external.map(([held, raw]) => [held.address, raw])) }),
  };
}
