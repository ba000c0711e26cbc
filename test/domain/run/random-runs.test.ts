import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeJson, encodeJson } from "../../../src/adapters/sqlite/daemon/codec.ts";
import { replayRun, type StepInput } from "../../../src/domain/run/replay.ts";
import { dcaSpec, ETH, rebalanceSpec, thresholdSpec } from "../../support/builders.ts";
import { type Choice, ImaginedWorld, type Setting } from "../../support/imagined-world.ts";
import { RunInvariants } from "../../support/run-invariants.ts";

const gasless = fc.constantFrom("prefer" as const, "only" as const, "never" as const);
const setting: fc.Arbitrary<Setting> = fc.record({
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
const life = fc.array(fc.nat(10_000), { minLength: 1, maxLength: 120, size: "max" });

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
function live(
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

function liveWell(one: Setting, chances: readonly number[]): ImaginedWorld {
  const { world, invariants } = live(one, chances);
  invariants.checkEnd(world);
  return world;
}

test("whatever happens in whatever order, no rule of a run is ever broken, and it ends", { timeout: 60_000 }, () => {
  fc.assert(
    fc.property(setting, life, (one, chances) => void liveWell(one, chances)),
    { numRuns: 300 },
  );
});

test("chance reaches every end and every reason: a generator that does not has gone blind", { timeout: 60_000 }, () => {
  const seen = new Map<string, number>();
  const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
  for (const [one, chances] of fc.sample(fc.tuple(setting, life), { numRuns: 600, seed: 7 })) {
    const world = liveWell(one, chances);
    for (const swap of world.run.swaps) count(`${swap.mode} ${swap.state}`);
    for (const { to, reason } of world.taken.flatMap(({ result }) => result.transitions))
      count(`${to} ${reason ?? ""}`);
  }
  expect(MUST_OCCUR.filter((what) => !seen.has(what))).toEqual([]);
});

const MUST_OCCUR = [
  ...["filled ", "partial expired", "skipped quote_refused", "failed reverted", "failed expired", "failed cancelled"],
  ...["self-executed final", "self-executed reverted", "self-executed cancelled", "self-executed denied"],
  ...["gasless final", "gasless expired", "gasless cancelled", "gasless denied"],
  ...["unknown answer_lost", "unknown overdue", "mined reverted", "submitted reorganised", "executing reorganised"],
  ...["skipped signing_barred", "skipped wallet_busy", "skipped not_signed_in_time", "skipped gasless_refused"],
  ...["skipped quote_unavailable", "skipped view_unavailable", "skipped approval_failed", "skipped approval_not_sent"],
  ...["skipped earlier_swap_denied"],
];

test("a dry run decides, quotes and checks like a live one, and signs nothing", () => {
  fc.assert(
    fc.property(setting, life, (one, chances) => {
      const world = liveWell({ ...one, live: false }, chances);
      expect(world.lane.requests).toEqual([]);
      expect(world.handed.size).toBe(0);
      const kinds = new Set(world.taken.flatMap(({ result }) => result.records.map((record) => record.kind)));
      for (const kind of ["transaction", "intend-signature", "signature", "open-capability", "grant"] as const) {
        expect(kinds.has(kind), kind).toBe(false);
      }
    }),
    { numRuns: 100 },
  );
});

test("what a thousand random runs were taken from can be stored, and gives the same runs again", {
  timeout: 60_000,
}, () => {
  fc.assert(
    fc.property(setting, life, (one, chances) => {
      const { taken, run } = liveWell(one, chances);
      const steps = taken.map(({ event, evidence }) => decodeJson(encodeJson({ event, evidence })) as StepInput);
      const transitions = taken.flatMap(({ result }) => result.transitions);
      expect(replayRun({ run, transitions, steps }).difference).toBeUndefined();
    }),
    { numRuns: 1_000 },
  );
});

test("the same events give the same rows again: a step keeps nothing of its own", () => {
  fc.assert(
    fc.property(setting, life, (one, chances) => {
      const [first, second] = [live(one, chances), live(one, chances)];
      expect(second.log).toEqual(first.log);
      const results = (world: ImaginedWorld): unknown => world.taken.map(({ result }) => result);
      expect(results(second.world)).toEqual(results(first.world));
    }),
    { numRuns: 50 },
  );
});
