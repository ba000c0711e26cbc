import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { ReferencePrice } from "../../domain/money/price.ts";
import type { Token } from "../../domain/money/token.ts";
import type { Run } from "../../domain/run/run.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { type EngineContext, strategyOf } from "../engine-context.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { messageOf } from "./message-of.ts";

/**
 * Reads what a strategy decides on: free balances and reference prices of its tokens. The ledger's version is taken
 * before the chain is read; when a swap settled in between, balance and reservations do not belong together.
 */
export async function readView(context: EngineContext, run: Run): Promise<EffectAnswer> {
  const { store, chain, clock, prices } = context.deps;
  const spec = strategyOf(context, run.strategyId)?.spec ?? store.strategy(run.strategyId)?.spec;
  if (spec === undefined) throw new Error(`strategy ${run.strategyId} has no row`);
  const version = store.ledgerVersion();
  const tokens = tokensOf(spec);
  const known = new Map<Address, ReferencePrice>();
  const balances = new Map<Address, bigint>();
  try {
    for (const token of tokens) {
      const price = await prices.price(token);
      if (!("missing" in price)) known.set(token.address, price);
      balances.set(token.address, await chain.balance(token.address, spec.wallet.address));
    }
  } catch (error) {
    return { kind: "view-unavailable", detail: messageOf(error) };
  }
  if (store.ledgerVersion() !== version) return { kind: "stale" };
  const free = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const held = store.reserved(spec.wallet.address, token) + gasReserve(context, token);
    free.set(token, balance > held ? balance - held : 0n);
  }
  const view = { slotMs: run.slotMs, nowMs: clock.nowMs(), free, prices: known, spent: store.soldBy(spec.id) };
  return { kind: "view-read", view };
}

/** The tokens that a strategy looks at. */
function tokensOf(spec: StrategySpec): readonly Token[] {
  switch (spec.kind) {
    case "dca":
      return unique([spec.sell.token, spec.buy]);
    case "rebalance":
      return unique([spec.quote, ...spec.targets.map((target) => target.token)]);
    case "threshold":
      return unique([spec.sell.token, spec.buy, spec.watch, spec.when.price.quote]);
  }
}

function unique(tokens: readonly Token[]): readonly Token[] {
  return [...new Map(tokens.map((token) => [token.address, token])).values()];
}

function gasReserve(context: EngineContext, token: Address): bigint {
  return token === NATIVE_TOKEN ? context.settings.policy.gasReserve : 0n;
}
