import { randomInt } from "node:crypto";
import type { Clock } from "../../ports/clock.ts";
import { type Asked, describeAsked, LONGEST_AGE_SECONDS } from "./commands.ts";

/** Codes that each stand for one thing that one person asked for, once and for a minute. They are in no row. */
export interface Codes {
  /** @returns what to say */
  ask(user: string, asked: Asked): string;
  /** @returns what was asked for; else what to say */
  redeem(user: string, code: string): Asked | string;
}

const MOST_WRONG = 3;
const CODES = 1_000_000;

interface Pending {
  readonly asked: Asked;
  readonly code: string;
  readonly untilMs: number;
  wrong: number;
}

/** Makes them. By the monotonic clock: one that is set makes none valid again. */
export function createCodes(clock: Pick<Clock, "monotonicMs">): Codes {
  const pending = new Map<string, Pending>();
  return {
    ask: (user, asked) => {
      const code = String(randomInt(CODES)).padStart(6, "0");
      pending.set(user, { asked, code, untilMs: clock.monotonicMs() + LONGEST_AGE_SECONDS * 1_000, wrong: 0 });
      return `to ${describeAsked(asked)}, send within ${LONGEST_AGE_SECONDS} s:\n/yes ${code}`;
    },
    redeem: (user, code) => {
      const waiting = pending.get(user);
      if (waiting === undefined || clock.monotonicMs() > waiting.untilMs) {
        pending.delete(user);
        return "nothing waits for a code; ask again";
      }
      if (code === waiting.code) {
        pending.delete(user);
        return waiting.asked;
      }
      waiting.wrong += 1;
      if (waiting.wrong >= MOST_WRONG) pending.delete(user);
      return "that is not its code";
    },
  };
}
