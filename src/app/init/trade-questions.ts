import { systemClock } from "../../adapters/clock/system-clock.ts";
import { parseUnits } from "../../domain/money/amount.ts";
import { describeAmount, describeDollars } from "../../domain/money/for-people.ts";
import { amountWorthDown, valueUp } from "../../domain/money/price.ts";
import { machineZone } from "../machine-zone.ts";
import { hasZone, type Key, readSold } from "./answers.ts";
import { nextSlots } from "./ceilings.ts";
import { chooseToken } from "./choose-token.ts";
import { answerOf, type Question } from "./question.ts";
import {
  decimalsOf,
  draftAnswers,
  networkOf,
  pricedTokens,
  problemWith,
  type Session,
  type Verdict,
  withDraft,
} from "./session.ts";

export const sell: Question = {
  asks: (session) =>
    `sell how much of what at each slot (${pricedTokens(networkOf(session) ?? { tokens: new Map() }).join(", ")})`,
  explains:
    'An amount with its token, for example "100 USDC". The token is one of the network\'s book, by its symbol or address.',
  fallback: (session) => session.present?.answers.sell ?? draftAnswers(session).sell,
  judge: async (session, answer) => {
    const read = readSold(answer);
    if (read === undefined) return await byLoader(session, "sell", answer);
    const chosen = await chooseToken(session, read.token);
    if ("problem" in chosen) return chosen;
    const judged = await byLoader(session, "sell", `${read.amount} ${chosen.symbol}`);
    if ("problem" in judged) return judged;
    const decimals = decimalsOf(session, chosen.symbol);
    const raw = parseUnits(read.amount, decimals);
    session.slotUsd =
      typeof raw === "bigint" && chosen.usd !== undefined ? valueUp({ raw, decimals }, chosen.usd) : undefined;
    const worth = session.slotUsd === undefined ? [] : [`each slot sells ${describeDollars(session.slotUsd)}`];
    return { value: judged.value, says: [...chosen.says, ...worth] };
  },
};

export const buy: Question = {
  asks: () => "buy what",
  explains:
    "The token that is bought: one of the network's book, by its symbol or address. It comes to the same wallet.",
  fallback: (session) => session.present?.answers.buy ?? draftAnswers(session).buy,
  judge: async (session, answer) => {
    const chosen = await chooseToken(session, answer);
    if ("problem" in chosen) return chosen;
    const { symbol, usd, says } = chosen;
    const judged = await byLoader(session, "buy", symbol);
    if ("problem" in judged || session.slotUsd === undefined || usd === undefined) {
      return "problem" in judged ? judged : { value: symbol, says };
    }
    const decimals = decimalsOf(session, symbol);
    const bought = describeAmount(amountWorthDown(session.slotUsd, { decimals, usd }), { decimals, symbol });
    return {
      value: symbol,
      says: [...says, `${answerOf(session, "sell")} are about ${bought} at that price, before fees`],
    };
  },
};

export const at: Question = {
  asks: () => "when (daily 09:00, Mon 09:00, Mon,Thu 18:30, 1st 09:00, every 6h)",
  explains:
    'By the wall clock of a zone, which is asked next: days and a time, or five fields of cron ("0 9 * * 1").\nOr by elapsed time: every 30m, every 6h, every 1d.',
  fallback: ({ present }) => present?.answers.at ?? "Mon 09:00",
  judge: async (session, answer) => await byLoader(session, "at", answer.trim(), { timezone: "UTC" }),
};

export const timezone: Question = {
  asks: () => "time zone",
  explains: "An IANA name such as Europe/Berlin: the wall clock that the times are of, summer time included.",
  fallback: ({ present }) => present?.answers.timezone || machineZone(),
  settled: (session) => (hasZone(answerOf(session, "at")) ? undefined : ""),
  judge: async (session, answer) => {
    return await withDraft(session, { timezone: answer }, async (loaded, answers): Promise<Verdict> => {
      const problem = problemWith("timezone", answers, loaded);
      if (problem !== undefined) return { problem };
      const schedule = loaded.ok ? loaded.configuration.strategies[0]?.spec.schedule : undefined;
      const slots = schedule === undefined ? [] : nextSlots(schedule, answer, systemClock.nowMs());
      return { value: answer, says: slots.length === 0 ? [] : [`next slots: ${slots.join("; ")}`] };
    });
  },
};

async function byLoader(session: Session, key: Key, answer: string, more = {}): Promise<Verdict> {
  return await withDraft(session, { [key]: answer, ...more }, async (loaded, answers): Promise<Verdict> => {
    const problem = problemWith(key, answers, loaded);
    return problem === undefined ? { value: answer, says: [] } : { problem };
  });
}
