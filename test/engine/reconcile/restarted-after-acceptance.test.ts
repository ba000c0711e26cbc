import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Address } from "../../../src/domain/money/address.ts";
import {
  acceptAlone,
  acceptInTime,
  BUDGET,
  begin,
  copyTo,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  nameAfterItsFile,
  open,
} from "../../support/databases-in-turn.ts";
import { type Outside, openLife, turn } from "../../support/engine-life.ts";

// The check that follows an acceptance is that of the next start where no daemon ran, or one was killed.

/** All endpoints have the chain up to its newest block of now, and the one that is asked may have more. */
async function lag({ chain }: Outside): Promise<{ one(): void; none(): void }> {
  const behind = await chain.latest();
  const { latest, agreed } = chain;
  return {
    one: () => {
      chain.agreed = async () => {
        const transactionCount = async (of: Address) => await chain.transactionCount(of, behind.number);
        return { ...(await agreed.call(chain)), latest: behind, transactionCount };
      };
      chain.latest = async () => behind;
    },
    none: () => {
      chain.agreed = agreed;
      chain.latest = latest;
    },
  };
}

const emptyBeside = ({ file }: Outside): string => join(dirname(file), "empty.db");

test.each([
  { what: "older", gasless: "never", put: (outside: Outside) => copyTo(outside, "copy.db") },
  { what: "older", gasless: "only", put: (outside: Outside) => copyTo(outside, "copy.db") },
  { what: "lost", gasless: "never", put: emptyBeside },
  { what: "lost", gasless: "only", put: emptyBeside },
] as const)(
  "what was $what and accepted without a daemon is checked up to a block of after that (gasless: $gasless)",
  async ({ what, gasless, put }) => {
    const outside = begin(gasless);
    const marker = markerOf(outside);
    await fill(outside, 1, marker);
    const other = { ...outside, spec: { ...outside.spec }, file: put(outside) };
    const endpoints = await lag(outside);
    await fill(outside, 3, marker);
    endpoints.one();
    const first = openLife(other, { marker });
    nameAfterItsFile(first, other);
    await first.engine.start();
    await turn(other, first, 5);
    await first.engine.stop();
    await outside.clock.advance(LIFETIME_SECONDS * 1_000);
    expect(open(first)).toContain(what);
    expect(await acceptAlone(first)).toContain("accepted");
    first.db.close();
    const next = await live(other, marker);
    await turn(other, next, 10);
    expect([open(next), fills(outside)]).toEqual([["unchecked"], 3]);
    endpoints.none();
    await turn(other, next, 60);
    expect(open(next)).toEqual(expect.arrayContaining(["fill", "fill"]));
    await acceptInTime(other, next);
    await turn(other, next, 400);
    expect([fills(outside), next.errors]).toEqual([BUDGET, []]);
  },
);
