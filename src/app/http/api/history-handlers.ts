import { NATIVE_TOKEN } from "../../../domain/money/address.ts";
import { SUBJECT } from "../../../domain/run/alert.ts";
import type { DryRun } from "../../../engine/dry-run.ts";
import { describeDryRun } from "../../describe-dry-run.ts";
import { isOfGap } from "../../gap-or-run.ts";
import type { ApiSources } from "./api-sources.ts";
import { instantOf, moneyOf, NATIVE_DECIMALS, type PlainToken } from "./describe-money.ts";
import { describeAlert } from "./describe-outside.ts";
import { describeFill, describeGap, describeRun, describeRunDetails } from "./describe-run.ts";
import type { Handlers } from "./handlers.ts";
import type { AnswerOf } from "./operations.ts";
import { numberCursor, pageOf, readFills, readRuns } from "./pages.ts";
import { ApiProblem } from "./problem.ts";

type Answered = "listRuns" | "getRun" | "listFills" | "getWhy" | "getWhyNext" | "listAlerts";

/** Answers what happened, what follows, and why. */
export function createHistoryHandlers(sources: ApiSources): Handlers<Answered> {
  const { reads, listing, clock } = sources;
  const native = (): PlainToken => ({
    ...{ symbol: sources.configuration().network.nativeSymbol, address: NATIVE_TOKEN, decimals: NATIVE_DECIMALS },
  });
  const lookAhead = oneAtATime(sources.lookAhead);
  return {
    listRuns: async ({ query: { strategy, before, limit } }) => {
      const { items, next } = await readRuns(listing, { strategy, before, limit });
      return { items: items.map((run) => describeRun(run, native())), next };
    },
    getRun: async ({ id }) => {
      const run = await reads.run(id);
      if (run === undefined) throw new ApiProblem("NOT_FOUND", `no run and no swap is called ${JSON.stringify(id)}`);
      return describeRunDetails(run, native());
    },
    listFills: async ({ query: { strategy, since, before, limit } }) => {
      const sinceMs = since === undefined ? undefined : Date.parse(since);
      const { items, next } = await readFills(listing, { strategy, sinceMs, before, limit });
      return { items: items.flatMap((fill) => describeFill(fill) ?? []), next };
    },
    getWhy: async ({ id: strategy, query: { at } }) => {
      const atMs = at === undefined ? clock.nowMs() : Date.parse(at);
      const { strategies, run, gap, alerts } = await reads.slotBefore({ strategy, atMs });
      if (!strategies.includes(strategy) && !isConfigured(sources, strategy)) throw noStrategy(strategy);
      const isGap = gap !== undefined && isOfGap(gap, { run: run?.run, atMs });
      const concerns = alerts.filter((alert) => alert.strategy === strategy || alert.subject === SUBJECT.clock());
      return {
        ...{ strategy, at: instantOf(atMs) },
        run: run === undefined || isGap ? null : describeRunDetails(run, native()),
        gap: isGap ? describeGap(gap) : null,
        standing: concerns.map(({ code, text }) => ({ code, text })),
      };
    },
    getWhyNext: async ({ id: strategy }) => {
      const dryRun = await lookAhead(strategy);
      if (dryRun === "unknown") throw noStrategy(strategy);
      return describeNext(strategy, dryRun);
    },
    listAlerts: async ({ query: { state, before, limit } }) => {
      const rows = await listing.alerts({ state, before: numberCursor(before), limit: limit + 1 });
      const { items, next } = pageOf(rows, limit, ({ number }) => String(number));
      return { items: items.map(describeAlert), next };
    },
  };
}

/** Asking ahead calls service and node: whoever asks while another does is told to wait. */
function oneAtATime(lookAhead: ApiSources["lookAhead"]): ApiSources["lookAhead"] {
  let isBusy = false;
  return async (strategyId) => {
    if (isBusy) throw new ApiProblem("TOO_MANY", "another look ahead is under way; ask again in a while");
    isBusy = true;
    try {
      return await lookAhead(strategyId);
    } finally {
      isBusy = false;
    }
  };
}

function isConfigured(sources: ApiSources, id: string): boolean {
  return sources.configuration().strategies.some(({ spec }) => spec.id === id);
}

/** The refusal where a strategy is asked for that is not there. */
export function noStrategy(id: string): ApiProblem {
  return new ApiProblem("NOT_FOUND", `no strategy is called ${JSON.stringify(id)}`);
}

export function notInForce(id: string): ApiProblem {
  return new ApiProblem(
    "NOT_FOUND",
    `no file names the strategy ${JSON.stringify(id)} now; its runs can still be read`,
  );
}

function describeNext(strategy: string, dryRun: DryRun | undefined): AnswerOf<"getWhyNext"> {
  const none = { slot: null, verdict: null, state: null, reason: null, detail: null, swaps: [] };
  if (dryRun === undefined) return { strategy, ...none };
  const { run, checks } = dryRun;
  const { verdict, reason = null, detail = null } = describeDryRun(dryRun);
  return {
    ...{ strategy, slot: instantOf(run.slotMs), verdict, state: run.state, reason, detail },
    swaps: run.swaps.map((swap) => ({
      ...{ sell: plain(swap.sell), buy: plain(swap.buy), mode: swap.mode ?? null },
      amount: swap.gross === undefined ? null : moneyOf(swap.gross, swap.sell),
      expected: swap.quote === undefined ? null : moneyOf(swap.quote.amountOut, swap.buy),
      ...{ state: swap.state, reason: swap.reason ?? null },
      checks: (checks.get(swap.id) ?? []).map(({ ok, code, subject, value, limit }) => ({
        ...{ code, passed: ok, value: `${subject}: ${value}`, limit },
      })),
    })),
  };
}

function plain({ symbol, address, decimals }: PlainToken): PlainToken {
  return { symbol, address, decimals };
}
