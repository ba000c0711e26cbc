import { expect, test } from "vitest";
import type { PublishedProposal, PublishOutcome } from "../../src/ports/treasury.ts";
import { ACCOUNT, type Life } from "../support/engine-life.ts";
import { leftForPools } from "../support/rows-add-up.ts";
import {
  asAsked,
  createTreasuryOutside,
  expectEachSlotOnce,
  liveOn,
  runsOf,
  type TreasuryLife,
  type Way,
} from "../support/treasury-life.ts";

const AWAY: PublishOutcome = { kind: "undelivered", detail: "safe.example answered 503" };

/** A place that takes or refuses what it is handed, and owners who see what `shows` lets them see. */
async function live(
  place: { readonly takes: (handed: number) => boolean; readonly shows: (took: boolean) => boolean },
  way: Way = asAsked,
) {
  const handed: PublishedProposal[] = [];
  const shown = new Map<string, PublishedProposal>();
  const world: TreasuryLife = {
    ...createTreasuryOutside(),
    seen: [],
    asked: () => [...shown.values()],
    treasury: {
      ...{ safe: ACCOUNT, bindsNonce: true, proposer: undefined, freeNonce: async (next) => next },
      publish: async (proposal) => {
        handed.push(proposal);
        const takes = place.takes(handed.length);
        if (place.shows(takes)) shown.set(proposal.hash, proposal);
        return takes ? { kind: "published" } : AWAY;
      },
    },
  };
  return { world, handed, life: await liveOn(world, way, { maxSeconds: 500 }) };
}

const endsOf = (life: Life) => runsOf(life).map(({ swaps }) => swaps.map(({ state }) => state));
const alertsOf = ({ reported }: TreasuryLife) => reported.filter(({ code }) => code === "PROPOSAL_UNDELIVERED");

test("is handed over again until it is taken, the same one, and people hear of it once", async () => {
  const { world, handed, life } = await live({ takes: (count) => count > 2, shows: (took) => took });
  expectEachSlotOnce(world, life, "taken late");
  expect(endsOf(life)).toEqual([["final"], ["final"]]);
  expect(handed.length).toBeGreaterThanOrEqual(4);
  expect(new Set(handed.slice(0, 3).map(({ hash }) => hash)).size).toBe(1);
  expect(alertsOf(world)).toMatchObject([{ text: expect.stringContaining("safe.example answered 503") }]);
});

test("that nobody ever takes expires at its deadline, and its money is free", async () => {
  const { world, handed, life } = await live({ takes: () => false, shows: () => false });
  expectEachSlotOnce(world, life, "never taken");
  expect(leftForPools(world)).toEqual([]);
  expect(new Set(endsOf(life).flat())).toEqual(new Set(["expired"]));
  expect(alertsOf(world)).toHaveLength(new Set(handed.map(({ hash }) => hash)).size);
});

test("that owners executed all the same is its fill: the chain says so, and it is handed over no more", async () => {
  const { world, handed, life } = await live({ takes: () => false, shows: () => true });
  expectEachSlotOnce(world, life, "executed and never known to be taken");
  expect(endsOf(life)).toEqual([["final"], ["final"]]);
  expect(handed.length).toBeLessThanOrEqual(6);
});

test("whose nonce its owners use up is cancelled, although nobody said that it was taken", async () => {
  const rejected: Way = ({ chain }, { nonce }) => void chain.byOwners([], { nonce });
  const { world, life } = await live({ takes: () => false, shows: () => true }, rejected);
  expectEachSlotOnce(world, life, "rejected");
  expect(endsOf(life)).toEqual([["cancelled"], ["cancelled"]]);
});
