import type { Configuration } from "../config/configuration.ts";
import type { ForecastSlot } from "../domain/forecast/forecast.ts";
import { type WorstCase, worstCase } from "../domain/forecast/worst-case.ts";
import { spendersIn } from "../domain/guard/swap-contracts.ts";
import type { Address } from "../domain/money/address.ts";
import { isNative, type Token } from "../domain/money/token.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import type { EngineContext } from "../engine/engine-context.ts";
import { readForecastStart } from "../engine/forecast-world.ts";
import { quoteForecast } from "../engine/quote-forecast.ts";
import { refusedByToken } from "../engine/refused-by-token.ts";
import { insertDueRuns } from "../engine/scheduler.ts";
import { type BudgetLine, budgetLines } from "./budget-lines.ts";
import { type Ahead, lookAhead } from "./look-ahead.ts";

/** Gas of one swap of ours through two pools, as the benchmarks of the settlement contract measure it, with room. */
const GAS_OF_SWAP = 350_000n;
const GAS_OF_APPROVAL = 60_000n;

/** An approval that the first swap of a token needs: exact, and only for its own amount. */
export interface PlannedApproval {
  readonly wallet: string;
  readonly token: Token;
  /** who may take it: of several routers the one that the quote of now names */
  readonly spender: Address;
  readonly needed: bigint;
  /** what it may take already; words: why the token does not tell, and the approval is needed as far as anybody knows */
  readonly allowance: bigint | string;
}

/** What the next slots would do, and what they need for it. */
export interface Plan {
  readonly nowMs: number;
  readonly slots: readonly ForecastSlot[];
  readonly worstCase: WorstCase;
  readonly approvals: readonly PlannedApproval[];
  /** every contract that the quotes of these slots may name then */
  readonly spenders: readonly Address[];
  readonly gas: {
    readonly transactions: number;
    readonly wei: bigint;
    readonly balances: ReadonlyMap<string, bigint>;
  };
  /** swaps that the owners of Safes are asked for: they send them, and pay for the gas */
  readonly proposals: number;
  /** strategies of which nothing can be said, in the worst case neither */
  readonly unread: readonly { readonly strategyId: string; readonly detail: string }[];
  readonly unpriced: readonly { readonly token: string; readonly detail: string }[];
  /** what is left of the budgets before these slots */
  readonly budgets: readonly { readonly strategyId: string; readonly lines: readonly BudgetLine[] }[];
  readonly nativeSymbol: string;
  /** a slot by the wall clock of its strategy's time zone */
  localTime(slot: ForecastSlot): string;
}

/** Reads the chain, the database and the service, and follows the next slots of each strategy. */
export async function readPlan(from: Ahead, slots: number): Promise<Plan> {
  return await lookAhead(
    from,
    async (context) => await makePlan(context, { configuration: from.configuration, slots }),
  );
}

async function makePlan(context: EngineContext, asked: { configuration: Configuration; slots: number }): Promise<Plan> {
  const { settings, deps } = context;
  const { configuration } = asked;
  // As a start does: slots that are caught up become runs, and the others end. All of that in the copy.
  await insertDueRuns(context);
  const { world, unread, unpriced } = await readForecastStart(deps, settings, asked.slots);
  const slots = await quoteForecast(context, world);
  const specs = new Map(settings.strategies.map(({ spec }) => [spec.id, spec]));
  return {
    nowMs: world.nowMs,
    slots,
    worstCase: worstCase(world),
    approvals: await plannedApprovals(context, slots),
    spenders: spendersIn(settings),
    gas: await plannedGas(context, { configuration, slots }),
    proposals: bySender(slots, settings).proposed.length,
    unread,
    unpriced,
    budgets: world.strategies.flatMap(({ spec, budget }) => {
      const lines = budgetLines(spec, budget?.counts ?? []);
      return lines.length === 0 ? [] : [{ strategyId: spec.id, lines }];
    }),
    nativeSymbol: configuration.network.nativeSymbol,
    localTime: (slot) => localTime(slot.slotMs, specs.get(slot.strategyId)?.schedule.timezone),
  };
}

/** The first sale of each token by each wallet through each contract, where its allowance does not suffice already. */
export async function plannedApprovals(
  context: EngineContext,
  slots: readonly ForecastSlot[],
): Promise<PlannedApproval[]> {
  const { settings, deps } = context;
  // A proposal's approval is a part of it, and nothing of it is left.
  const wallets = new Map(
    settings.strategies
      .filter(({ spec }) => settings.safes?.has(spec.wallet.address) !== true)
      .map(({ spec }) => [spec.id, spec.wallet]),
  );
  const seen = new Set<string>();
  const approvals: PlannedApproval[] = [];
  for (const slot of slots) {
    const wallet = wallets.get(slot.strategyId);
    for (const swap of slot.swaps) {
      if (wallet === undefined || swap.problem !== undefined || isNative(swap.sell)) continue;
      const { spender = settings.contracts.spender } = swap;
      const key = `${wallet.address} ${swap.sell.address} ${spender}`;
      if (seen.has(key)) continue;
      seen.add(key);
      const grant = { token: swap.sell.address, owner: wallet.address, spender };
      const allowance = await deps.chain.allowance(grant).catch(refusedByToken);
      if (typeof allowance === "string" || allowance < swap.amount) {
        approvals.push({ wallet: wallet.name, token: swap.sell, spender, needed: swap.amount, allowance });
      }
    }
  }
  return approvals;
}

/** Swaps that may be sent, by who sends them: transactions of ours, or what the owners of Safes are asked for. */
export function bySender(
  slots: readonly ForecastSlot[],
  { strategies, safes }: Pick<EngineContext["settings"], "strategies" | "safes">,
): Readonly<Record<"own" | "proposed", readonly ForecastSlot["swaps"][number][]>> {
  const specs = new Map(strategies.map(({ spec }) => [spec.id, spec]));
  const swapsOf = (isOf: (spec: StrategySpec) => boolean) =>
    slots
      .filter(({ strategyId }) => {
        const spec = specs.get(strategyId);
        return spec !== undefined && spec.gasless !== "only" && isOf(spec);
      })
      .flatMap((slot) => slot.swaps.filter((swap) => swap.problem === undefined));
  const isSafe = ({ wallet }: StrategySpec): boolean => safes?.has(wallet.address) === true;
  return { own: swapsOf((spec) => !isSafe(spec)), proposed: swapsOf(isSafe) };
}

/** Swaps that may be self-executed, each with its exact approval, at the fee that the next blocks ask for. */
async function plannedGas(
  { settings, deps }: EngineContext,
  planned: { configuration: Configuration; slots: readonly ForecastSlot[] },
): Promise<Plan["gas"]> {
  const { own } = bySender(planned.slots, settings);
  const approvals = own.filter((swap) => !isNative(swap.sell)).length;
  const { baseFeePerGas } = await deps.chain.latest();
  const feePerGas = 2n * baseFeePerGas + (await deps.chain.priorityFee());
  const gas = BigInt(own.length) * GAS_OF_SWAP + BigInt(approvals) * GAS_OF_APPROVAL;
  const balances = new Map<string, bigint>();
  for (const wallet of planned.configuration.wallets.values()) {
    balances.set(wallet.name, await deps.chain.nativeBalance(wallet.address));
  }
  return { transactions: own.length + approvals, wei: gas * feePerGas, balances };
}

/** An instant by a wall clock, with the clock's name, for example "2026-03-30 09:00 Europe/Berlin". */
function localTime(atMs: number, timezone: string | undefined): string {
  const zone = timezone ?? "UTC";
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
  return `${format.format(atMs)} ${zone}`;
}
