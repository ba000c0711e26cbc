import {
  beginDrawdown,
  type DrawdownRule,
  type DrawdownSample,
  type DrawdownState,
  fallOf,
  type Holding,
  isBeyondStop,
  nextDrawdown,
} from "../domain/guard/drawdown.ts";
import { formatPercent } from "../domain/money/fraction.ts";
import type { Token } from "../domain/money/token.ts";
import { SUBJECT } from "../domain/run/alert.ts";
import { GLOBAL_SCOPE, type OperatingMode, stricterMode } from "../domain/run/operating-mode.ts";
import type { Change } from "../ports/changes.ts";
import type { Answered } from "../ports/questions.ts";
import { commitAndNotify, raiseChange, writeAndNotify } from "./alerts.ts";
import type { ClockWatch } from "./clock-watch.ts";
import type { EngineContext } from "./engine-context.ts";
import { withoutLentGas } from "./lent-gas.ts";
import { isMarked } from "./perform/executions.ts";
import { nodeFault } from "./perform/node-fault.ts";
import { readHead } from "./perform/read-head.ts";

/**
 * Reads the value of all wallets once and checks its fall against the owner's rule. A value that is not known for sure
 * is no sample: a token without a price, one that a swap is just moving, or balances of before the last fill, which
 * would make a deposit of what it brought. A proposal that waits for a Safe's owners moves nothing.
 * @returns why there is no sample, undefined where there is one
 * @throws ChainReadError where no node answers, or all that do are behind what the rows know
 */
export async function watchDrawdown(
  context: EngineContext,
  signal: AbortSignal,
  clocks: Pick<ClockWatch, "problem">,
): Promise<string | undefined> {
  const rule = context.settings.policy.drawdown;
  if (rule === undefined) return undefined;
  const { store, signers } = context.deps;
  const tokens = [context.settings.native, ...context.settings.tokens].map(({ address }) => address);
  const wallets = [...signers.keys()];
  const of = { kind: "drawdown", wallets, tokens } as const;
  const { version, proposed } = await store.read({ ...of, unmoved: [] });
  const { number } = await readHead(context, ...wallets);
  const balances = await readBalances(context, number, signal);
  if (signal.aborted) return undefined;
  if (typeof balances === "string") return balances;
  const question = { ...of, unmoved: await unexecuted(context, proposed, number) };
  return await commitAndNotify(context.deps, {
    question,
    decide: (rows) => {
      const atMs = context.deps.clock.nowMs();
      const none = (value: string) => ({ changes: [], atMs, value });
      // By a clock that is wrong, what was seen would be of another time. It may have jumped while the prices were read.
      const problem = clocks.problem();
      if (problem !== undefined) return none(problem);
      const holdings = rows.version === version ? holdingsOf(balances, rows) : undefined;
      if (holdings === undefined) return none("swaps are moving tokens at each check");
      const sample = { atMs, holdings, wallets };
      return { changes: heed(context, rule, { sample, rows }), atMs, value: undefined };
    },
  });
}

type Balance = Omit<Holding, "net">;
type Rows = Answered<"drawdown">;

/** A feed that is late, and a crowd of swaps, are over long before that. */
const UNWATCHED_MS = 3_600_000;

/** Those of proposals that the block of the balances knows no execution of. */
async function unexecuted(
  { deps: { chain } }: EngineContext,
  proposed: Rows["proposed"],
  block: number,
): Promise<readonly string[]> {
  const isMade = await Promise.all(proposed.map((swap) => isMarked(chain, swap, block)));
  return proposed.flatMap(({ id }, index) => (isMade[index] === false ? [id] : []));
}

/** Prices and balances of every token, all balances in one block; which price is not known, where one is not. */
async function readBalances(
  context: EngineContext,
  block: number,
  signal: AbortSignal,
): Promise<readonly Balance[] | string> {
  const { settings, deps } = context;
  const balances: Balance[] = [];
  for (const token of [settings.native, ...settings.tokens]) {
    if (signal.aborted) return "the daemon stops";
    const price = await deps.prices.price(token);
    if ("missing" in price || price.usd <= 0n) {
      deps.logger.warn({ token: token.symbol }, "no price: the value of the wallets is not known now");
      return `${token.symbol} has no price${"missing" in price ? ` (${price.missing}: ${price.detail})` : ""}`;
    }
    balances.push({ ...amountOf(token), raw: await balanceOf(context, token, block), usd: price.usd });
  }
  return balances;
}

function amountOf({ address, decimals }: Token): Pick<Balance, "token" | "decimals"> {
  return { token: address, decimals };
}

/** What was lent for gas is not the wallets' own: it may be worth many times all that is. */
async function balanceOf({ deps, settings }: EngineContext, { address: token }: Token, block: number): Promise<bigint> {
  let raw = 0n;
  for (const wallet of deps.signers.keys())
    raw += withoutLentGas(settings, { token, wallet }, await deps.chain.balance(token, wallet, block));
  return raw;
}

/** @returns undefined where a swap is moving a token */
function holdingsOf(balances: readonly Balance[], { nets }: Rows): readonly Holding[] | undefined {
  const holdings: Holding[] = [];
  for (const balance of balances) {
    const net = nets.get(balance.token);
    if (net === undefined) return undefined;
    holdings.push({ ...balance, net });
  }
  return holdings;
}

/**
 * Carries the index on, in the commit that also stops the daemon when it fell too far. Only a person sets it going again;
 * that word begins the index anew, so that the old fall does not stop it a second time.
 */
function heed(
  context: EngineContext,
  rule: DrawdownRule,
  { sample, rows }: { readonly sample: DrawdownSample; readonly rows: Rows },
): readonly Change[] {
  const { state: known } = rows;
  const mode = rows.mode?.mode ?? "active";
  const isResumed = known?.stopped === true && mode === "active";
  const next = known === undefined || isResumed ? beginDrawdown(sample) : nextDrawdown(known, sample, rule);
  const stops = !next.stopped && isBeyondStop(next, rule);
  const state = { ...next, stopped: next.stopped || stops };
  return [{ kind: "drawdown", state }, ...(stops ? stop(context, rule, { state: next, mode }) : [])];
}

/** A mode that a person made as strict or stricter stays. */
function stop(
  { deps }: EngineContext,
  rule: DrawdownRule,
  { state, mode }: { readonly state: DrawdownState; readonly mode: OperatingMode },
): readonly Change[] {
  const days = formatDays(rule.overSeconds);
  const reason = `the wallets are worth ${formatPercent(fallOf(state))} less than at their high of the last ${days}, deposits and withdrawals aside; the policy stops beyond ${formatPercent(rule.stop)}`;
  const row = { scope: GLOBAL_SCOPE, mode: "exits-only", setBy: "policy", reason, atMs: deps.clock.nowMs() } as const;
  const text = `${reason}: only runs that leave a position start now; look at it, then go on from here with: swapd resume`;
  const alert = { severity: "critical", code: "DRAWDOWN_STOP", subject: SUBJECT.mode(GLOBAL_SCOPE), text } as const;
  const isStricter = stricterMode(mode, "exits-only") !== mode;
  return [...(isStricter ? [{ kind: "mode", row } as const] : []), raiseChange(deps, alert)];
}

function formatDays(seconds: number): string {
  const hours = seconds / 3_600;
  return Number.isInteger(hours / 24) ? `${hours / 24} d` : `${Math.round(hours * 100) / 100} h`;
}

/** Checks at once, and then at the pace of price samples until the engine stops. */
export async function keepWatchingDrawdown(
  context: EngineContext,
  signal: AbortSignal,
  clocks: Pick<ClockWatch, "problem">,
): Promise<void> {
  const { clock, logger } = context.deps;
  const say = createSay(context);
  if (context.settings.policy.drawdown === undefined) {
    await say(undefined);
    return;
  }
  while (!signal.aborted) {
    if (clocks.problem() === undefined) {
      const fault = await watchDrawdown(context, signal, clocks).catch((error: unknown) => {
        const said = nodeFault(error);
        logger.warn({ error: said }, "the value of the wallets could not be read");
        return said;
      });
      if (!signal.aborted) await say(fault);
    }
    await clock.sleep(context.settings.pace.samplePricesMs, signal);
  }
}

/** Reports once when there was no sample for long: the owner's rule stops nothing then, and strategies trade on. */
function createSay({ deps }: EngineContext): (fault: string | undefined) => Promise<void> {
  const { clock } = deps;
  const subject = SUBJECT.value();
  let seenMs = clock.monotonicMs();
  let isReported: boolean | undefined;
  return async (fault) => {
    const nowMs = clock.monotonicMs();
    if (fault === undefined) seenMs = nowMs;
    const isLong = nowMs - seenMs >= UNWATCHED_MS;
    if (isReported === isLong || (fault !== undefined && !isLong)) return;
    isReported = isLong;
    const text = `the drawdown stop of the policy stops nothing now: what the wallets are worth is not known for an hour (${fault})`;
    const alert = { severity: "critical", code: "DRAWDOWN_UNWATCHED", subject, text } as const;
    await writeAndNotify(deps, [isLong ? raiseChange(deps, alert) : { kind: "alerts-over", subject }]);
  };
}
