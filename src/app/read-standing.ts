import { createIntlZones } from "../adapters/zones/intl-zones.ts";
import type { Configuration } from "../config/configuration.ts";
import { CEILING_WINDOWS_MS } from "../domain/guard/policy.ts";
import type { Address } from "../domain/money/address.ts";
import { formatUnits } from "../domain/money/amount.ts";
import { USD_DECIMALS } from "../domain/money/price.ts";
import type { Token } from "../domain/money/token.ts";
import { GLOBAL_SCOPE } from "../domain/run/operating-mode.ts";
import { nextWithoutEnd } from "../domain/schedule/ended-slots.ts";
import type { ZoneOffsets } from "../domain/schedule/schedule.ts";
import { type BudgetCount, budgetSpans } from "../domain/strategy/budget.ts";
import type { StrategySpec } from "../domain/strategy/spec.ts";
import { modeOf } from "../engine/modes.ts";
import type { StandingRows, StatusQuestion } from "../ports/read-model.ts";
import type { UntakenFiles } from "../ports/untaken-files.ts";
import { type BudgetLine, budgetLines } from "./budget-lines.ts";
import { formatInstant } from "./terminal.ts";

/** What a standing needs of a configuration. */
export type StandingSettings = Pick<
  Configuration,
  "mode" | "network" | "strategies" | "tokens" | "wallets" | "policy" | "service" | "serve"
>;

/** An amount in the token's own unit, as decimal text. */
interface Money {
  readonly token: string;
  readonly amount: string;
}

/** Where a strategy stands. */
export interface StrategyStanding {
  readonly mode: string;
  /** whether something names it now, as far as the files can be read */
  readonly isInForce: boolean;
  /** the first slot from now on by what is in force; null where there is none, or nothing in force names it */
  readonly nextSlot: string | null;
  /** sold and reserved in all its life */
  readonly sold: readonly Money[];
  /** what may be sold in all its life; null without such a limit */
  readonly budget: Money | null;
  /** what is left of each bound of its budget */
  readonly budgets: readonly BudgetLine[];
}

/** Dollars sold, and the ceiling. */
interface Ceiling {
  readonly soldUsd: string;
  readonly limitUsd: string | null;
}

/** Where everything stands, by the rows and the configuration alone. */
interface Standing {
  readonly mode: string;
  readonly strategies: ReadonlyMap<string, StrategyStanding>;
  readonly day: Ceiling;
  readonly month: Ceiling;
  /** as the last comparison with the chain found them, at its block */
  readonly balances: readonly (Money & { readonly wallet: string; readonly block: number })[];
  readonly lastAlive: string | null;
  /** edited files that the daemon goes on without; null where it has taken over all, or none runs */
  readonly untaken: { readonly code: string; readonly since: string } | null;
}

/** What the rows are asked for a standing. */
export function standingQuestion(settings: StandingSettings | undefined, nowMs: number): StatusQuestion {
  return {
    strategyIds: settings?.strategies.map(({ spec }) => spec.id) ?? [],
    wallets: [...(settings?.wallets.values() ?? [])].map(({ address }) => address),
    daySinceMs: nowMs - CEILING_WINDOWS_MS.day,
    monthSinceMs: nowMs - CEILING_WINDOWS_MS.month,
    budgets: (settings?.strategies ?? []).flatMap(({ spec }) => {
      const soldSinceMs = budgetSpans(spec.budget, nowMs, createIntlZones()).map(({ sinceMs }) => sinceMs);
      return soldSinceMs.length === 0 ? [] : [{ strategyId: spec.id, soldSinceMs }];
    }),
  };
}

/**
 * Describes it from what the rows answered.
 * @param isBeside whether a daemon may run that goes by other settings than these: slots are its own then
 */
export function describeStanding(
  rows: StandingRows,
  settings: StandingSettings | undefined,
  { nowMs, isBeside }: { readonly nowMs: number; readonly isBeside: boolean },
): Standing {
  const tokens = new Map([...(settings?.tokens.values() ?? [])].map(({ token }) => [token.address, token]));
  const specs = new Map(settings?.strategies.map(({ spec }) => [spec.id, spec]));
  const modes = new Map(rows.modes.map((row) => [row.scope, row]));
  const global = modes.get(GLOBAL_SCOPE);
  const { differences } = rows;
  const zones = createIntlZones();
  const untaken = isBeside ? rows.untaken : undefined;
  const inForce: ReadonlyMap<string, StrategySpec> = untaken?.inForce ?? specs;
  const strategies = new Map<string, StrategyStanding>();
  for (const [id, sold] of [...rows.sold].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const spec = specs.get(id);
    const afterMs = Math.max(rows.lastSlots.get(id) ?? 0, nowMs);
    strategies.set(id, {
      mode: modeOf(id, { modes: { global, own: modes.get(id) }, differences, spec: rows.specs.get(id) }).mode,
      isInForce: settings === undefined || inForce.has(id),
      nextSlot: nextSlotOf(inForce.get(id), { afterMs, ended: rows.endedAhead.get(id) ?? [] }, zones),
      sold: [...sold].filter(([, raw]) => raw !== 0n).map(([token, raw]) => money(tokens, token, raw)),
      budget: spec === undefined ? null : budgetOf(spec),
      budgets: spec === undefined ? [] : budgetLines(spec, budgetCounts(rows, spec, nowMs)),
    });
  }
  return {
    mode: global?.mode ?? "active",
    strategies,
    day: ceiling(rows.soldUsd.day, settings?.policy.maxPerDayUsd),
    month: ceiling(rows.soldUsd.month, settings?.policy.maxPerMonthUsd),
    balances: balancesOf(rows, settings, tokens),
    lastAlive: rows.lastAliveMs === undefined ? null : formatInstant(rows.lastAliveMs),
    untaken: describeUntaken(untaken),
  };
}

function describeUntaken(untaken: UntakenFiles | undefined): Standing["untaken"] {
  return untaken === undefined ? null : { code: untaken.code, since: formatInstant(untaken.sinceMs) };
}

function nextSlotOf(
  spec: StrategySpec | undefined,
  from: Parameters<typeof nextWithoutEnd>[1],
  zones: ZoneOffsets,
): string | null {
  const slotMs = spec === undefined ? undefined : nextWithoutEnd(spec.schedule, from, zones);
  return slotMs === undefined ? null : formatInstant(slotMs);
}

type Tokens = ReadonlyMap<Address, Token>;

/** A token that no configuration names has no known decimals: its raw amount is reported with its address. */
function money(tokens: Tokens, address: Address, raw: bigint): Money {
  const token = tokens.get(address);
  if (token === undefined) return { token: `units of ${address}`, amount: raw.toString() };
  return { token: token.symbol, amount: formatUnits(raw, token.decimals) };
}

/** What was sold and reserved of each bound of a strategy's budget. */
export function budgetCounts(rows: StandingRows, spec: StrategySpec, nowMs: number): readonly BudgetCount[] {
  const sold = rows.soldSince.get(spec.id) ?? [];
  return budgetSpans(spec.budget, nowMs, createIntlZones()).flatMap((span, index) => {
    const since = sold[index];
    return since === undefined ? [] : [{ ...span, ...since }];
  });
}

function budgetOf(spec: StrategySpec): Money | null {
  const [token, total] =
    spec.kind === "dca"
      ? [spec.sell.token, spec.budget?.total]
      : spec.kind === "value-averaging"
        ? [spec.pay, spec.budget?.total]
        : spec.kind === "twap"
          ? [spec.sell.token, spec.sell.raw]
          : [undefined, undefined];
  if (token === undefined || total === undefined) return null;
  return { token: token.symbol, amount: formatUnits(total, token.decimals) };
}

function ceiling(soldUsd: bigint, limit: bigint | undefined): Ceiling {
  const dollars = (usd: bigint): string => formatUnits(usd, USD_DECIMALS);
  return {
    soldUsd: dollars(soldUsd),
    limitUsd: limit === undefined ? null : dollars(limit),
  };
}

function balancesOf(rows: StandingRows, settings: StandingSettings | undefined, tokens: Tokens): Standing["balances"] {
  return [...(settings?.wallets.values() ?? [])].flatMap(({ name, address }) => {
    const known = rows.known.get(address);
    if (known === undefined) return [];
    return [...known.balances].map(([token, raw]) => ({
      wallet: name,
      ...money(tokens, token, raw),
      block: known.block,
    }));
  });
}
