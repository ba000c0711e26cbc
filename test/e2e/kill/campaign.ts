import type { KillStep, OperatorAct } from "./kill-plan.ts";
import { after, atLatestAfter, type SpeakingChild } from "./processes.ts";

/** What came of a series of kills. */
export interface CampaignResult {
  readonly kills: number;
  /** labels at which the process killed itself, as often as it did */
  readonly passed: readonly string[];
  /** labels that it did not come by; it was killed from outside instead */
  readonly notPassed: readonly string[];
  /** ends that were no kill: the process gave up by itself */
  readonly unexpected: readonly string[];
}

/** What is killed, and how its next life starts. */
export interface Victim {
  readonly name: string;
  /** how many times longer everything takes than on a quiet machine */
  readonly slowness: number;
  start(env: Readonly<Record<string, string>>): SpeakingChild;
  /** whether what it signed last and did not send is a swap */
  leftSwapUnsent(): boolean;
  /** What is done to it while it is dead, and by the operator after that. @returns what is wrong */
  operate(act: OperatorAct): Promise<readonly string[]>;
  report(text: string): void;
}

const MOST_REPEATS = 6;
/** How long a process that was held still goes on before it is killed. */
const AWAKE_MS = 1_000;
/** A process that says nothing for so long hangs, also where it hardly ever gets a turn. */
const SPEAKS_WITHIN_MS = 900_000;
/** On a slow machine a label is waited for in proportion to how long the process took until it spoke. */
const PATIENCE_PER_START = 4;
const LONGEST_PATIENCE_MS = 180_000;

/** Kills and starts again without a pause, whatever is open. The next kill does not wait for anything to resolve. */
export async function killRepeatedly(victim: Victim, steps: readonly KillStep[]): Promise<CampaignResult> {
  const passed: string[] = [];
  const notPassed: string[] = [];
  const unexpected: string[] = [];
  let kills = 0;
  for (const step of steps) {
    if (step.act !== undefined) {
      unexpected.push(...(await victim.operate(step.act)));
      continue;
    }
    for (let repeat = 0; repeat < MOST_REPEATS; repeat += 1) {
      const life = await liveUntilKilled(victim, step);
      kills += 1;
      if (life.unexpected !== undefined) unexpected.push(life.unexpected);
      if (step.label !== undefined) (life.byItself ? passed : notPassed).push(step.label);
      if (!step.wantsSwap || victim.leftSwapUnsent()) break;
    }
    await after(step.restMs * victim.slowness);
  }
  return { kills, passed, notPassed, unexpected };
}

interface Life {
  readonly byItself: boolean;
  readonly unexpected: string | undefined;
}

async function liveUntilKilled(victim: Victim, step: KillStep): Promise<Life> {
  const startedMs = performance.now();
  const child = victim.start({
    ...(step.label === undefined ? {} : { SWAPD_CRASH_AT: `${step.label}#${step.passing}` }),
    ...(step.clock === undefined ? {} : { KILL_CLOCK: step.clock }),
  });
  const first = await Promise.race([child.ended, timeIsUp(child, step)]);
  if (first === "time is up" && step.frozenMs > 0) await holdStill(child, step.frozenMs);
  if (first === "silent" || first === "time is up") child.kill("SIGKILL");
  const { code, signal } = await child.ended;
  const lifeMs = Math.round(performance.now() - startedMs);
  const byItself = typeof first === "object" && signal === "SIGKILL";
  const missed = byItself || step.label === undefined ? "" : " NOT PASSED";
  const clock = step.clock === undefined ? "" : `, clock ${step.clock}`;
  victim.report(`${victim.name} lived ${lifeMs} ms: ${step.label ?? "random"}${clock}${missed}`);
  if (first === "silent") return { byItself, unexpected: `${victim.name} said nothing for ${SPEAKS_WITHIN_MS} ms` };
  if (signal === "SIGKILL") return { byItself, unexpected: undefined };
  return {
    byItself,
    unexpected: `${victim.name} ended by itself with code ${code}, signal ${signal}, after ${lifeMs} ms`,
  };
}

/** Held still and let go on: what it believed of time, chain and quotes is old when it wakes. */
async function holdStill(child: SpeakingChild, frozenMs: number): Promise<void> {
  child.kill("SIGSTOP");
  await after(frozenMs);
  child.kill("SIGCONT");
  await Promise.race([child.ended, after(AWAKE_MS)]);
}

/** A kill from outside comes after the step's time; where it is to be killed at work, the time begins with its work. */
async function timeIsUp(child: SpeakingChild, step: KillStep): Promise<"time is up" | "silent"> {
  if (!step.atWork) {
    await atLatestAfter(step.afterMs);
    return "time is up";
  }
  const startedMs = performance.now();
  const spoke = await Promise.race([child.spoke.then(() => true), atLatestAfter(SPEAKS_WITHIN_MS)]);
  if (spoke === undefined) return "silent";
  const startMs = performance.now() - startedMs;
  await atLatestAfter(
    step.label === undefined
      ? step.afterMs
      : Math.max(step.afterMs, Math.min(LONGEST_PATIENCE_MS, PATIENCE_PER_START * startMs)),
  );
  return "time is up";
}
