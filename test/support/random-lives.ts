import fc from "fast-check";
import { expect } from "vitest";
import { decodeJson, encodeJson } from "../../src/adapters/sqlite/daemon/codec.ts";
import { replayRun, type StepInput } from "../../src/domain/run/replay.ts";
import { dcaSpec, ETH, rebalanceSpec, thresholdSpec } from "./builders.ts";
import { type Choice, ImaginedWorld, type Setting } from "./imagined-world.ts";
import { RunInvariants } from "./run-invariants.ts";

const gasless = fc.constantFrom("prefer" as const, "only" as const, "never" as const);
/** What a run is of, and in which world. */
export const setting: fc.Arbitrary<Setting> = fc.record({
  spec: gasless.chain((choice) =>
    fc.constantFrom(
      dcaSpec({ gasless: choice }),
      dcaSpec({ gasless: choice, buy: ETH }),
      rebalanceSpec({ gasless: choice }),
      thresholdSpec({ gasless: choice }),
    ),
  ),
  live: fc.constant(true),
  isApproved: fc.boolean(),
  signatureHasNonce: fc.boolean(),
  windowMs: fc.constantFrom(0, 4_000, 20_000, 120_000),
});
/** What chance chooses, one number each time. */
export const life = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 120, size: "max" });

/** Half of the time things go well, else anything may happen; time passes in small steps more often than in large ones. */
function choose(choices: readonly Choice[], chance: number): Choice | undefined {
  const kinds = [
    ...[GOES_WELL, GOES_WELL, GOES_WELL].map((pattern) => choices.filter(({ name }) => pattern.test(name))),
    choices.filter(({ name }) => name === "1000 ms pass"),
    choices.filter(({ name }) => !ELSEWHERE.test(name)),
    choices,
  ];
  const kind = kinds[chance % kinds.length] ?? choices;
  const among = kind.length > 0 ? kind : choices;
  return among[Math.floor(chance / kinds.length) % among.length];
}
const GOES_WELL = /: well$|lands$/;
const ELSEWHERE = /pass$|or (allowed|free)$/;

/** Lets chance choose each time among everything that may happen, then lets everything go well. */
export function live(
  one: Setting,
  chances: readonly number[],
): { world: ImaginedWorld; invariants: RunInvariants; log: string[] } {
  const invariants = new RunInvariants();
  const world = new ImaginedWorld(one, invariants.check);
  const log: string[] = [];
  world.start();
  for (const chance of chances) {
    const choice = choose(world.choices(), chance);
    log.push(choice?.name ?? "");
    choice?.happen();
  }
  world.settle();
  return { world, invariants, log };
}

/** The same, held against all rules of a run. */
export function liveWell(one: Setting, chances: readonly number[]): ImaginedWorld {
  const { world, invariants } = live(one, chances);
  invariants.checkEnd(world);
  return world;
}

/** What a run was taken from is stored and read, and has to give the same run again. */
export function expectSameAgain(one: Setting, chances: readonly number[]): void {
  const { taken, run } = liveWell(one, chances);
  const steps = taken.map(({ event, evidence }) => decodeJson(encodeJson({ event, evidence })) as StepInput);
  const transitions = taken.flatMap(({ result }) => result.transitions);
  expect(replayRun({ run, transitions, steps }).difference).toBeUndefined();
}
