import { hashOf } from "./chance.ts";

/** What happened in a simulated world, for people and for the comparison of two runs of a seed. */
export interface Trace {
  note(actor: string, what: string): void;
  /** of everything that was noted */
  hash(): string;
  /** the newest lines, oldest first */
  lines(most: number): readonly string[];
}

const KEPT = 20_000;

export function createTrace(nowMs: () => number): Trace {
  const lines: string[] = [];
  let hash = 0;
  let count = 0;
  return {
    note: (actor, what) => {
      const line = `${(nowMs() / 1_000).toFixed(3).padStart(9)} s  ${actor.padEnd(8)} ${what}`;
      hash = (Math.imul(hash, 31) + hashOf(line)) >>> 0;
      count += 1;
      lines.push(line);
      if (lines.length > 2 * KEPT) lines.splice(0, KEPT);
    },
    hash: () => `${count}-${hash.toString(16)}`,
    lines: (most) => lines.slice(-most),
  };
}
