import fc from "fast-check";
import { expect, test } from "vitest";
import type { ImaginedWorld } from "../../support/imagined-world.ts";
import { expectSameAgain, life, live, liveWell, setting } from "../../support/random-lives.ts";

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
    if (MUST_OCCUR.every((what) => seen.has(what))) break;
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

test("what random runs were taken from can be stored, and gives the same runs again", { timeout: 60_000 }, () => {
  fc.assert(fc.property(setting, life, expectSameAgain), { numRuns: 50 });
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
