import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import type { ReferencePrice } from "../../domain/money/price.ts";
import type { Run } from "../../domain/run/run.ts";
import { instantsSince } from "../../domain/schedule/instants-since.ts";
import type { Schedule } from "../../domain/schedule/schedule.ts";
import { type BudgetSpan, type BudgetView, budgetSpans } from "../../domain/strategy/budget.ts";
import type { StrategyView, ViewNeeds } from "../../domain/strategy/decision.ts";
import { ownGasOf } from "../../domain/strategy/own-gas.ts";
import type { StrategySpec } from "../../domain/strategy/spec.ts";
import { isMemoryOf, strategyNeeds } from "../../domain/strategy/strategy.ts";
import type { ViewRows } from "../../ports/view-questions.ts";
import { type EngineContext, strategyOf } from "../engine-context.ts";
import { gasReserveOf } from "../gas-reserve.ts";
import { withoutLentGas } from "../lent-gas.ts";
import { tooOld } from "../outside-watch.ts";
import { parseStoredMemory, quarantine } from "../quarantine.ts";
import type { EffectAnswer } from "./effect-answer.ts";
import { nodeFault } from "./node-fault.ts";
import { headFrom } from "./read-head.ts";

/**
 * Reads what a strategy decides on: free balances and reference prices of its tokens. The version of the wallet's ledger
 * is taken before the chain is read; when a swap of it settled in between, balance and reservations do not belong
 * together. Swaps of other wallets change neither: were they counted, a crowd of strategies would never finish reading.
 */
export async function readView(context: EngineContext, run: Run): Promise<EffectAnswer> {
  const { store, clock } = context.deps;
  const { strategyId } = run;
  const loaded = strategyOf(context, strategyId)?.spec;
  const begun = await store.read({ kind: "view-start", strategyId, wallet: loaded?.wallet.address });
  const spec = loaded ?? begun.strategy.spec;
  const wallet = spec.wallet.address;
  const memory = parseStoredMemory(begun.strategy.memory);
  if (!isMemoryOf(spec, memory)) {
    await quarantine(context, begun.strategy);
    return { kind: "view-unavailable", detail: "the strategy's stored memory cannot be read" };
  }
  const needs = strategyNeeds(spec, memory);
  const seen = await readHoldings(context, needs, { wallet, newestBlock: begun.newestBlock });
  if ("fault" in seen) return { kind: "view-unavailable", detail: seen.fault };
  const { balances, external } = seen;
  const nowMs = clock.nowMs();
  const bars = needs.bars.map(({ token, seconds }) => ({ token: token.address, sinceMs: nowMs - seconds * 1_000 }));
  const spans = budgetSpans(spec.budget, nowMs, context.deps.zones);
  const soldSinceMs = spans.map(({ sinceMs }) => sinceMs);
  const rows = await store.read({ kind: "view", strategyId, wallet, tokens: [...balances.keys()], bars, soldSinceMs });
  if (rows.ledgerVersion !== begun.ledgerVersion) return { kind: "stale" };
  const free = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const held = (rows.reserved.get(token) ?? 0n) + gasReserve(context, spec, token);
    free.set(token, balance > held ? balance - held : 0n);
  }
  const view: StrategyView = {
    slotMs: run.slotMs,
    slots: run.slots,
    nowMs,
    free,
    ownGas: ownGasOf(spec, free),
    balances,
    instants: countedInstants(context, spec.schedule, { afterMs: needs.instantsAfterMs, untilMs: run.slotMs }),
    prices: seen.prices,
    spent: rows.sold,
    ...(rows.accepted === undefined || rows.accepted.size === 0 ? {} : { accepted: rows.accepted }),
    bought: rows.bought,
    outside: needs.flows ? outsideMoney(rows, balances) : new Map(),
    bars: rows.bars,
    ...(spec.budget === undefined ? {} : { budget: budgetView(rows, spans) }),
    ...(external === undefined ? {} : { external }),
  };
  return { kind: "view-read", view };
}

interface SeenHoldings {
  readonly prices: ReadonlyMap<Address, ReferencePrice>;
  readonly balances: ReadonlyMap<Address, bigint>;
  /** undefined where nothing besides the wallet is asked for */
  readonly external: ReadonlyMap<Address, bigint> | undefined;
}

/**
 * Prices and balances of what a strategy asks for, all balances in one block: the wallet's, and those of others. A chain
 * that stands still shows the price of its last block again and again, fresh by its own time: that confirms nothing, and by
 * a block so old nothing is signed.
 */
async function readHoldings(
  context: EngineContext,
  needs: ViewNeeds,
  { wallet, newestBlock }: { readonly wallet: Address; readonly newestBlock: number },
): Promise<SeenHoldings | { readonly fault: string }> {
  const { chain, clock, prices } = context.deps;
  const known = new Map<Address, ReferencePrice>();
  const balances = new Map<Address, bigint>();
  const external = new Map<Address, bigint>();
  try {
    const head = await headFrom(context, newestBlock);
    const fault = tooOld(head, clock.nowMs(), context.settings.pace.maxClockSkewSeconds);
    if (fault !== undefined) return { fault };
    const { number } = head;
    for (const token of needs.tokens) {
      const price = await prices.price(token);
      if (!("missing" in price)) known.set(token.address, price);
      const balance = await chain.balance(token.address, wallet, number);
      balances.set(token.address, withoutLentGas(context.settings, { token: token.address, wallet }, balance));
    }
    for (const { address: holder, tokens } of needs.external ?? [])
      for (const { address } of tokens)
        external.set(address, (external.get(address) ?? 0n) + (await chain.balance(address, holder, number)));
  } catch (error) {
    return { fault: nodeFault(error) };
  }
  return { prices: known, balances, external: needs.external === undefined ? undefined : external };
}

/** The bounds of a budget with what the rows say was sold within them. */
export function budgetView(rows: Pick<ViewRows, "soldSince" | "tradedRuns">, spans: readonly BudgetSpan[]): BudgetView {
  const nothing = { sold: new Map(), usd: 0n };
  return {
    counts: spans.map((span, index) => ({ ...span, ...(rows.soldSince[index] ?? nothing) })),
    runs: rows.tradedRuns,
  };
}

/** What the wallet would hold had our swaps never been: it changes only by deposits, withdrawals and gas. */
function outsideMoney({ net }: Pick<ViewRows, "net">, balances: ReadonlyMap<Address, bigint>): StrategyView["outside"] {
  const outside = new Map<Address, bigint>();
  for (const [token, balance] of balances) {
    const moved = net.get(token);
    if (moved !== undefined) outside.set(token, balance - moved);
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

function gasReserve(context: EngineContext, spec: StrategySpec, token: Address): bigint {
  return token === NATIVE_TOKEN ? gasReserveOf(context, spec) : 0n;
}
