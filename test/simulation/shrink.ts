import type { SeedPool } from "./pool.ts";
import type { SentResult } from "./seed-process.ts";

/** Takes faults and strategies away one by one, as long as the same invariant breaks. @returns the smallest failure */
export async function shrink(pool: SeedPool, failed: SentResult): Promise<SentResult> {
  const wanted = failed.violations[0]?.invariant;
  let smallest = failed;
  const stillFails = async (faults: readonly string[], strategies: readonly string[]): Promise<boolean> => {
    const result = await pool.run({ seed: failed.seed, faults, strategies });
    if (!result.violations.some(({ invariant }) => invariant === wanted)) return false;
    smallest = result;
    return true;
  };
  for (const fault of failed.faults) {
    const rest = smallest.faults.filter((name) => name !== fault);
    await stillFails(rest, smallest.strategies);
  }
  for (const strategy of failed.strategies) {
    const rest = smallest.strategies.filter((id) => id !== strategy);
    if (rest.length > 0) await stillFails(smallest.faults, rest);
  }
  return smallest;
}
