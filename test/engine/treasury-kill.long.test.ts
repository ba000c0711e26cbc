import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProposalFolder } from "../../src/adapters/proposals/folder.ts";
import { ACCOUNT } from "../support/engine-life.ts";
import { leftForPools } from "../support/rows-add-up.ts";
import { readBatchFile } from "../support/safe.ts";
import { memoryDirectory } from "../support/temporary-directory.ts";
import {
  type Asked,
  asAsked,
  createTreasuryOutside,
  expectEachSlotOnce,
  liveOn,
  type TreasuryLife,
  type Way,
} from "../support/treasury-life.ts";

function createWorld(): TreasuryLife {
  const outside = createTreasuryOutside();
  const folder = join(memoryDirectory(), "proposals");
  const known = new Map<string, Asked>();
  const asked = (): readonly Asked[] => {
    const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".json")) : [];
    for (const name of files.sort()) {
      if (!known.has(name)) known.set(name, { ...readBatchFile(join(folder, name)), hash: undefined });
    }
    return [...known.values()];
  };
  const treasury = createProposalFolder({ safe: ACCOUNT, folder }, { clock: outside.clock });
  return { ...outside, seen: [], asked, treasury };
}

/** What owners do with the n-th file that they see; each way fills each slot once at most. */
const WAYS: Readonly<Record<string, Way>> = {
  "as asked": asAsked,
  "with another nonce": ({ chain }, { calls }) => {
    chain.byOwners([]);
    chain.byOwners(calls);
  },
  twice: (world, asked) => {
    asAsked(world, asked);
    world.chain.byOwners(asked.calls);
  },
  "an old one beside the one that replaces it": ({ chain, seen }, { calls }) => {
    if (seen.length % 2 === 1) return;
    const before = seen.at(-2)?.calls ?? calls;
    chain.byOwners(before);
    chain.byOwners(calls);
    chain.byOwners(before);
  },
  "rejected, and executed all the same": (world, asked) => {
    world.chain.byOwners([]);
    asAsked(world, asked);
    world.chain.byOwners(asked.calls);
  },
};

let kills = 0;

test.each(Object.entries(WAYS))(
  "a slot of a Safe is executed once, wherever the daemon is killed, by owners who execute %s",
  async (name, way) => {
    const whole = createWorld();
    const first = await liveOn(whole, way);
    expectEachSlotOnce(whole, first, "undisturbed");
    const executed = leftForPools(whole).length;
    expect(executed).toBeGreaterThan(0);
    expect(first.passed).toEqual(expect.arrayContaining(["proposal.sign.before", "proposal.publish.after"]));
    for (const [index, label] of first.passed.entries()) {
      const world = createWorld();
      const killed = await liveOn(world, way, { killAfter: index + 1 });
      expect(killed.isDead()).toBe(true);
      killed.db.close();
      kills += 1;
      const what = `${name}, killed at ${label} (${index})`;
      expectEachSlotOnce(world, await liveOn(world, way), what);
      expect(leftForPools(world), what).toHaveLength(executed);
    }
  },
  600_000,
);

test("at least two hundred kills were survived", () => {
  expect(kills).toBeGreaterThanOrEqual(200);
});
