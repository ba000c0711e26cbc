import { firstOf } from "./campaign.ts";
import { openSeedPool } from "./pool.ts";

/** Deaths at any place and instant, with a few lost answers: what was on its way when the power failed matters most. */
const FAULTS = ["kill: at a label", "kill: anywhere", "node: answer lost", "service: answer lost", "relayer: late"];

const MOST_SEEDS_A_CUT = 4;

/** Runs seeds until the log was cut so often. @returns what was broken, and how many cuts there were */
export async function runCuts(wanted: number, from: number): Promise<{ cuts: number; failures: readonly string[] }> {
  const pool = openSeedPool(2);
  const failures: string[] = [];
  let cuts = 0;
  let seed = from;
  const line = async (): Promise<void> => {
    while (cuts < wanted && failures.length < 5 && seed < from + wanted * MOST_SEEDS_A_CUT) {
      const result = await pool.run({ seed: seed++, faults: FAULTS, cutsLog: true });
      cuts += result.cuts;
      if (result.violations.length > 0) failures.push(`seed ${result.seed}: ${firstOf(result)}`);
    }
  };
  try {
    await Promise.all([line(), line()]);
    return { cuts, failures };
  } finally {
    pool.close();
  }
}
