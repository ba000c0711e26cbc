import { computeAddress, getAddress } from "ethers";
import { expect, onTestFinished, test } from "vitest";
import { createSigner } from "../../src/adapters/keys/signer.ts";
import { createProposer } from "../../src/adapters/proposals/proposer.ts";
import { createTransactionServiceCalls } from "../../src/adapters/proposals/transaction-service/service-calls.ts";
import { createTransactionService } from "../../src/adapters/proposals/transaction-service/transaction-service.ts";
import { digestOf } from "../../src/app/encoding.ts";
import { decodeMultiSend } from "../../src/domain/guard/multi-send.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { type BoundedFetch, boundedFetch } from "../../src/net/bounded-fetch.ts";
import { Secret } from "../../src/net/secret.ts";
import type { Signer } from "../../src/ports/signer.ts";
import { ACCOUNT, type Life } from "../support/engine-life.ts";
import { quiet } from "../support/fake-clock.ts";
import type { Posted } from "../support/proposal-double/proposal-rules.ts";
import {
  type CallFault,
  startTransactionServiceDouble,
} from "../support/proposal-double/transaction-service-double.ts";
import { leftForPools } from "../support/rows-add-up.ts";
import {
  type Asked,
  asAsked,
  createTreasuryOutside,
  expectEachSlotOnce,
  liveOn,
  type TreasuryLife,
  type Way,
} from "../support/treasury-life.ts";

// The service is a real server; each step of the fake clock waits until what was asked over HTTP is answered.

const CHAIN_ID = 31_337;
const OWNER = getAddress(computeAddress(`0x${"21".repeat(32)}`));
const key = createSigner(new Secret(`0x${"de".repeat(32)}`));

type ServiceLife = TreasuryLife & { readonly byDelegate: readonly Hex[] };

/** Each call that the double gets meets the next of these, and the first one after the last. */
async function createWorld(
  faults: readonly (CallFault | undefined)[],
): Promise<ServiceLife & { stop(): Promise<void> }> {
  const outside = createTreasuryOutside();
  const address = getAddress(ACCOUNT);
  const safe = { chainId: CHAIN_ID, address, owners: [OWNER], nonce: () => outside.chain.safeNonce };
  const double = await startTransactionServiceDouble(safe);
  double.delegates.set(getAddress(key.address), OWNER);
  double.fault = ({ count }) => faults[count % faults.length];
  const byDelegate: Hex[] = [];
  const counting: Signer = {
    ...key,
    signTypedData: async (typedData) => {
      byDelegate.push(digestOf(typedData));
      return await key.signTypedData(typedData);
    },
  };
  const proposer = createProposer(counting, { safe: ACCOUNT, chainId: CHAIN_ID });
  const limiter = { acquire: async () => "granted" as const, observe: () => undefined };
  const fetch = waitedForBy(outside.clock);
  const options = { url: double.url, apiKey: undefined, timeoutMs: 60, maxBytes: 1_000_000 };
  const treasury = createTransactionService(
    { safe: ACCOUNT, proposer },
    createTransactionServiceCalls(options, { limiter, fetch }),
  );
  return { ...outside, seen: [], treasury, byDelegate, asked: () => double.proposals.map(askedBy), stop: double.stop };
}

function waitedForBy(clock: TreasuryLife["clock"]): BoundedFetch {
  let underway = 0;
  const advance = clock.advance.bind(clock);
  clock.advance = async (durationMs) => {
    await advance(durationMs);
    while (underway > 0) await quiet();
    await quiet();
  };
  return async (request) => {
    underway += 1;
    try {
      return await boundedFetch(request);
    } finally {
      underway -= 1;
    }
  };
}

function askedBy({ data, nonce, contractTransactionHash }: Posted): Asked {
  const calls = decodeMultiSend((data ?? "0x") as Hex);
  if ("problem" in calls) throw new Error(calls.problem);
  return { calls, nonce, hash: contractTransactionHash as Hex };
}

const rejected: Way = ({ chain }, { nonce }) => void chain.byOwners([], { nonce });

const WAYS: readonly (readonly [name: string, way: Way, faults: readonly (CallFault | undefined)[]])[] = [
  ["execute as asked", asAsked, [undefined]],
  [
    "execute as asked, by a service that loses answers, doubles calls and fails",
    asAsked,
    [...([undefined, "lose", "twice", undefined, "error", "late"] as const)],
  ],
  [
    "execute each second one and reject the others, by one that is away and limits calls",
    (world, asked) => {
      (world.seen.length % 2 === 1 ? rejected : asAsked)(world, asked);
    },
    ["drop", undefined, "limit", "error", undefined],
  ],
  [
    "execute an old one beside the one that replaces it",
    (world, asked) => {
      const before = world.seen.at(-2);
      if (world.seen.length % 2 === 1) return;
      if (before !== undefined) asAsked(world, before);
      asAsked(world, asked);
    },
    [undefined, undefined, "lose"],
  ],
];

/** The delegate signed what was written down, of swaps that had passed all checks, and nothing else. */
function expectOnlyProposalsSigned({ byDelegate }: ServiceLife, { db }: Life, what: string): void {
  const cleared = db
    .prepare<[], Hex>(
      `SELECT digest FROM signatures JOIN transitions ON transitions.subject_id = signatures.swap_id
       WHERE transitions.to_state = 'cleared'`,
    )
    .pluck()
    .all();
  expect(
    [...new Set(byDelegate)].filter((digest) => !cleared.includes(digest)),
    what,
  ).toEqual([]);
}

let kills = 0;

test.each(WAYS)(
  "a slot of a Safe is executed once, wherever the daemon is killed, by owners who %s",
  async (name, way, faults) => {
    const stops: (() => Promise<void>)[] = [];
    onTestFinished(async () => void (await Promise.all(stops.map((stop) => stop()))));
    const open = async () => {
      const world = await createWorld(faults);
      stops.push(world.stop);
      return world;
    };
    const whole = await open();
    const first = await liveOn(whole, way);
    expectEachSlotOnce(whole, first, "undisturbed");
    expectOnlyProposalsSigned(whole, first, "undisturbed");
    const executed = leftForPools(whole).length;
    expect(executed).toBeGreaterThan(0);
    expect(whole.byDelegate.length).toBeGreaterThan(0);
    expect(first.passed).toEqual(expect.arrayContaining(["proposal.sign.after", "proposal.publish.after"]));
    for (const [index, label] of first.passed.entries()) {
      const world = await open();
      const killed = await liveOn(world, way, { killAfter: index + 1 });
      expect(killed.isDead()).toBe(true);
      killed.db.close();
      kills += 1;
      const what = `${name}, killed at ${label} (${index})`;
      const second = await liveOn(world, way);
      expectEachSlotOnce(world, second, what);
      // One more proposal, and who rejects each second one executes none.
      expect(leftForPools(world).length, what).toBeGreaterThanOrEqual(executed - 1);
      expectOnlyProposalsSigned(world, second, what);
      await world.stop();
      stops.pop();
    }
  },
  600_000,
);

test("at least two hundred kills were survived", () => {
  expect(kills).toBeGreaterThanOrEqual(200);
});
