import { systemClock } from "../../adapters/clock/system-clock.ts";
import { formatUnits } from "../../domain/money/amount.ts";
import { describeDollars } from "../../domain/money/for-people.ts";
import { parseUsd, USD_DECIMALS } from "../../domain/money/price.ts";
import { NONE } from "./answers.ts";
import { ceilingsFor, countSlots, describeSales, type SlotCounts } from "./ceilings.ts";
import { answerOf, type Question } from "./question.ts";
import { problemWith, type Session, type Verdict, withDraft } from "./session.ts";

export const total: Question = {
  asks: () => "sell how much in all, then stop (an amount of the same token, or none)",
  explains:
    'A budget for the whole life of the strategy, for example "5200 USDC"; when it is used up the strategy pauses. none: no end.',
  fallback: ({ present }) => present?.answers.total ?? NONE,
  judge: async (session, answer) =>
    await judged(session, "total", answer.toLowerCase() === NONE ? NONE : answer.trim()),
};

export const maxPerDay: Question = {
  asks: () => "sell at most in any 24 hours",
  explains: 'The owner\'s ceiling, in dollars at reference prices, over all strategies of the wallet: "500 USD".',
  fallback: async (session) => session.present?.answers.maxPerDay ?? (await suggested(session, "day")) ?? "500 USD",
  judge: async (session, answer) => {
    const verdict = await judged(session, "maxPerDay", answer.trim());
    if ("problem" in verdict) return verdict;
    const usd = dollarsIn(answer);
    const { slotUsd } = session;
    if (slotUsd === undefined || usd === undefined) return verdict;
    if (usd < slotUsd) {
      return {
        problem: `one slot sells ${describeDollars(slotUsd)}, so each would be denied: allow at least that in a day`,
      };
    }
    const counts = await countsOf(session);
    return counts === undefined ? verdict : { ...verdict, says: [describeSales(slotUsd, counts)] };
  },
};

export const maxPerMonth: Question = {
  asks: () => "sell at most in any 30 days",
  explains: "The same ceiling for 30 days: what a mistake in a strategy can cost before somebody looks.",
  fallback: async (session) =>
    session.present?.answers.maxPerMonth ?? (await suggestedMonth(session)) ?? monthOf(session),
  judge: async (session, answer) => await judged(session, "maxPerMonth", answer.trim()),
};

/** Never less than the day's ceiling that was answered. */
async function suggestedMonth(session: Session): Promise<string | undefined> {
  const month = await suggested(session, "month");
  const day = dollarsIn(answerOf(session, "maxPerDay"));
  const isLess = month !== undefined && day !== undefined && (dollarsIn(month) ?? day) < day;
  return isLess ? `${formatUnits(day, USD_DECIMALS)} USD` : month;
}

/** Without a price: twenty days of the day's ceiling. */
function monthOf(session: Session): string {
  const day = dollarsIn(answerOf(session, "maxPerDay")) ?? 500n * 10n ** BigInt(USD_DECIMALS);
  return `${formatUnits(day * 20n, USD_DECIMALS)} USD`;
}

async function suggested(session: Session, of: "day" | "month"): Promise<string | undefined> {
  const { slotUsd } = session;
  const counts = slotUsd === undefined ? undefined : await countsOf(session);
  return slotUsd === undefined || counts === undefined ? undefined : ceilingsFor(slotUsd, counts)[of];
}

async function countsOf(session: Session): Promise<SlotCounts | undefined> {
  return await withDraft(session, {}, async (loaded) => {
    const schedule = loaded.ok ? loaded.configuration.strategies[0]?.spec.schedule : undefined;
    return schedule === undefined ? undefined : countSlots(schedule, systemClock.nowMs());
  });
}

function dollarsIn(answer: string): bigint | undefined {
  const [, number] = /^([0-9][0-9_]*(?:\.[0-9]+)?)\s*USD$/.exec(answer.trim()) ?? [];
  return number === undefined ? undefined : parseUsd(number.replaceAll("_", ""));
}

async function judged(session: Session, key: "total" | "maxPerDay" | "maxPerMonth", answer: string): Promise<Verdict> {
  return await withDraft(session, { [key]: answer }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith(key, answers, loaded);
    return problem === undefined ? { value: answer, says: [] } : { problem };
  });
}
