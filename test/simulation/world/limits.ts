/** Counts calls by the whole second, as the gateway in front of such services does. */
export interface WindowCount {
  /** @returns how many calls are left of this second; below zero the call is over the limit */
  count(nowMs: number): number;
  /** calls over the limit */
  readonly over: number;
}

export function createWindowCount(limit: number): WindowCount {
  let second = 0;
  let used = 0;
  let over = 0;
  return {
    count: (nowMs) => {
      const now = Math.floor(nowMs / 1_000);
      if (now !== second) used = 0;
      second = now;
      used += 1;
      if (used > limit) over += 1;
      return limit - used;
    },
    get over() {
      return over;
    },
  };
}
