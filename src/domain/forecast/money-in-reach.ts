import { smaller } from "../money/bigint.ts";
import { valueUp } from "../money/price.ts";
import type { Token } from "../money/token.ts";
import type { TradedTokens } from "../strategy/kind.ts";
import { tradedSides } from "../strategy/strategy.ts";
import type { ForecastWorld } from "./forecast.ts";
import type { Possible } from "./possible-sales.ts";

/** Each round carries a bound one strategy further along a chain of purchases; a longer chain is only bounded less. */
const ROUNDS = 8;

interface Trader extends TradedTokens {
  readonly one: Possible;
}

/** What there is of a wallet's token, in dollars scaled by 1e18; absent where it has no price. */
type Reach = ReadonlyMap<string, bigint>;

/**
 * What a strategy could ever have to sell within the horizon, in dollars scaled by 1e18: what its wallet holds of the
 * tokens that it sells, and what other strategies could buy of them for that wallet. Deposits are left aside. Strategies
 * that pay each other in a circle are bounded by what each of them sells by itself.
 * @returns a function of the strategy; undefined where a token has no price
 */
export function moneyInReach(
  all: readonly Possible[],
  world: ForecastWorld,
): (strategy: Possible) => bigint | undefined {
  const traders = all.map((one): Trader => ({ one, ...tradedSides(one.spec) }));
  const byStrategy = new Map(traders.map((trader) => [trader.one, trader]));
  let reach: Reach | undefined;
  for (let round = 0; round < ROUNDS; round += 1) reach = nextReach(traders, world, reach);
  return (strategy) => {
    const trader = byStrategy.get(strategy);
    return trader === undefined || reach === undefined ? undefined : sellable(trader, reach);
  };
}

/** Begins with what each strategy could bring if nothing but its own settings bounded it, and only ever lowers that. */
function nextReach(traders: readonly Trader[], world: ForecastWorld, before: Reach | undefined): Reach {
  const reach = new Map(traders.flatMap((trader) => heldBy(trader, world)));
  for (const trader of traders) {
    const own = trader.one.month.usd;
    const has = before === undefined ? undefined : sellable(trader, before);
    const brings = has === undefined ? own : smaller(own, has);
    for (const token of trader.buys) {
      const key = keyOf(trader.one.spec.recipient, token);
      const held = reach.get(key);
      if (held !== undefined) reach.set(key, held + brings);
    }
  }
  return reach;
}

function heldBy({ one, sells }: Trader, world: ForecastWorld): [string, bigint][] {
  const wallet = one.spec.wallet.address;
  return sells.flatMap((token): [string, bigint][] => {
    const held = heldIn(wallet, token, world);
    return held === undefined ? [] : [[keyOf(wallet, token), held]];
  });
}

function sellable({ one, sells }: Trader, reach: Reach): bigint | undefined {
  let sum = 0n;
  for (const token of sells) {
    const part = reach.get(keyOf(one.spec.wallet.address, token));
    if (part === undefined) return undefined;
    sum += part;
  }
  return sum;
}

function keyOf(wallet: string, token: Token): string {
  return `${wallet} ${token.address}`;
}

function heldIn(wallet: Possible["spec"]["wallet"]["address"], token: Token, world: ForecastWorld): bigint | undefined {
  const held = world.wallets.get(wallet)?.balances.get(token.address);
  const price = world.prices.get(token.address);
  if (held === undefined || price === undefined) return undefined;
  return valueUp({ raw: held, decimals: token.decimals }, price.usd);
}
