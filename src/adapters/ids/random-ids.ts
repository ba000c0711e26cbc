import { randomBytes } from "node:crypto";
import type { IdSource } from "../../ports/ids.ts";

const TIME_LENGTH = 9;
const COUNTER_LENGTH = 3;
const COUNTER_END = 36 ** COUNTER_LENGTH;
const RANDOM_LENGTH = 12;

/**
 * Creates identifiers `<prefix>_<time><counter><random>` in base 36: they sort by time as text, within one process also
 * inside a millisecond and when the clock jumps back, and 62 random bits keep them unique over restarts.
 */
export function createRandomIds(nowMs: () => number, randomUint256: () => bigint = machineRandomUint256): IdSource {
  let lastMs = 0;
  let counter = 0;
  function advance(): void {
    const now = nowMs();
    if (now > lastMs) {
      lastMs = now;
      counter = 0;
      return;
    }
    counter++;
    if (counter < COUNTER_END) return;
    lastMs++;
    counter = 0;
  }
  return {
    newId(prefix) {
      advance();
      const random = (randomUint256() % 36n ** BigInt(RANDOM_LENGTH)).toString(36).padStart(RANDOM_LENGTH, "0");
      const time = lastMs.toString(36).padStart(TIME_LENGTH, "0");
      return `${prefix}_${time}${counter.toString(36).padStart(COUNTER_LENGTH, "0")}${random}`;
    },
    randomUint256,
  };
}

function machineRandomUint256(): bigint {
  return BigInt(`0x${randomBytes(32).toString("hex")}`);
}
