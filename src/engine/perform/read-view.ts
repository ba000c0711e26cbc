import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { ReferencePrice } from "../../domain/money/price.ts";
import type { Run } from "../../domain/run/run.ts";
import { instantsSince } from "../../domain/schedule/instants-since.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import type { StrategyView, ViewNeeds } from "../../domain/strategy/decision.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { isMemoryOf, strategyNeeds } from "../../domain/strategy/strategy.ts";
import { type EngineContext, strategyOf } from "../engine-context.ts";
import { gasReserveOf } from "../gas-reserve.ts";
import { parseStoredMemory, quarantine } from "../quarantine.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";
import { readHead } from "./read-head.ts";

/**
 * Reads what a strategy decides on: free balances and reference prices of its tokens. The version of the wallet's ledger
 * is taken before the chain is read; when a swap of it settled in between, balance and reservations do not belong
 * together. Swaps of other wallets change neither: were they counted, a crowd of strategies would never finish reading.
 */
export async function readView(context: EngineContext, run: Run): Promise<EffectAnswer> {
  const { store, chain, clock, prices } = context.deps;
  const row = store.strategy(run.strategyId);
  if (row === undefined) throw new Error(`strategy ${run.strategyId} has no row`);
  const spec = strategyOf(context, run.strategyId)?.spec ?? row.spec;
  const wallet = spec.wallet.address;
  const version = store.ledgerVersion(wallet);
  const memory = parseStoredMemory(row.memory);
  if (!isMemoryOf(spec, memory)) {
    await quarantine(context, row);
    return { kind: "view-unavailable", detail: "the strategy's stored memory cannot be read" };
  }
  const needs = strategyNeeds(spec, memory);
  const known = new Map<Address, ReferencePrice>();
  const balances = new Map<Address, bigint>();
  try {
    const head = await readHead(context, wallet);
    for (const token of needs.tokens) {
      const price = await prices.price(token);
      if (!("missing" in price)) known.set(token.address, price);
      balances.set(token.address, await chain.balance(token.address, wallet, head.number));
    }
  } catch (error) {
    return { kind: "view-unavailable", detail: nodeFault(error) };
  }
  if (store.ledgerVersion(wallet) !== version) return { kind: "stale" };
  const free = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const held = store.reserved(wallet, token) + gasReserve(context, spec, token);
    free.set(token, balance > held ? balance - held : 0n);
  }
  const nowMs = clock.nowMs();
  const view: StrategyView = {
    slotMs: run.slotMs,
    slots: run.slots,
    nowMs,
    free,
    balances,
    instants: countedInstants(context, spec.schedule, { afterMs: needs.instantsAfterMs, untilMs: run.slotMs }),
    prices: known,
    spent: store.soldBy(spec.id),
    bought: store.boughtBy(spec.id),
    outside: needs.flows ? outsideMoney(context, wallet, balances) : new Map(),
    bars: pastPrices(context, needs, nowMs),
  };
  return { kind: "view-read", view };
}

/** What the wallet would hold had our swaps never been: it changes only by deposits, withdrawals and gas. */
function outsideMoney(
  context: EngineContext,
  wallet: Address,
  balances: ReadonlyMap<Address, bigint>,
): StrategyView["outside"] {
  const outside = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const net = context.deps.store.netOfSwaps(wallet, token);
    if (net !== undefined) outside.set(token, balance - net);
  }
  return outside;
}

function countedInstants(
  context: EngineContext,
  schedule: Schedule,
  range: { afterMs: number | undefined; untilMs: number },
): number {
  const { afterMs, untilMs } = range;
  return afterMs === undefined ? 0 : instantsSince(schedule, { afterMs, untilMs }, context.deps.zones);
}

function pastPrices(context: EngineContext, needs: ViewNeeds, nowMs: number): StrategyView["bars"] {
  const { store } = context.deps;
  return new Map(
    needs.bars.map(({ token, seconds }) => [token.address, store.priceBars(token.address, nowMs - seconds * 1_000)]),
  );
}

function gasReserve(context: EngineContext, spec: StrategySpec, token: Address): bigint {
  return token === NATIVE_TOKEN ? gasReserveOf(context, spec) : 0n;
}
