import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { StrategySpec } from "../../src/domain/strategy/spec.ts";
import type { PublishedProposal } from "../../src/ports/treasury.ts";
import { HUNDRED_USDC, SLOT_MS } from "../support/builders.ts";
import { ACCOUNT, createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../support/engine-life.ts";
import { refusal } from "../support/fake-service.ts";
import { leaveNoncesOut } from "../support/leave-nonces-out.ts";
import { createTreasuryOutside } from "../support/treasury-life.ts";

// Nodes that keep the logs of their newest days alone, and a daemon that was off for longer.

function begin(): Outside {
  const budget = { total: HUNDRED_USDC };
  const outside = createOutside(SLOT_MS - 1_500, { gasless: "only", budget } as Partial<StrategySpec>);
  outside.service.swapRecord = async () => refusal("QUOTE_UNKNOWN", false);
  return outside;
}

/** All logs of before now are refused from now on. */
async function forgetLogs({ chain }: Outside): Promise<void> {
  const { number: newest } = await chain.latest();
  const [logs, agreed] = [chain.logs.bind(chain), chain.agreed.bind(chain)];
  chain.logs = async (filter) => {
    if (filter.fromBlock <= newest) throw new ChainReadError("refused", "eth_getLogs was refused: pruned history");
    return await logs(filter);
  };
  chain.agreed = async () => ({ ...(await agreed()), logs: chain.logs });
}

const state = ({ db }: Life): unknown => db.prepare("SELECT state FROM swaps ORDER BY rowid").pluck().get();
const isTokenHeld = ({ db }: Life): boolean =>
  db.prepare("SELECT live FROM capabilities ORDER BY rowid").pluck().get() === 1;

test("an order without a nonce that has ended gives its token free at its deadline, whatever is kept of its fill", async () => {
  const outside = begin();
  leaveNoncesOut(outside.service);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  expect(await turnUntil(outside, life, { maxSeconds: 20, isDone: () => state(life) === "final" })).toBe(true);
  expect(isTokenHeld(life)).toBe(true);
  await forgetLogs(outside);
  outside.chain.hidesReceipts = true;
  const asked = outside.service.asked.length;
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => !isTokenHeld(life) })).toBe(true);
  const { terms } = life.store.run("run_2")?.swaps[0] ?? {};
  expect((await outside.chain.finalized()).timestamp).toBeGreaterThan(
    terms?.deadlineSeconds ?? Number.POSITIVE_INFINITY,
  );
  expect([state(life), outside.service.asked.length - asked, life.errors]).toEqual(["final", 0, []]);
});

test("an order with a nonce that nobody used ends, whatever is kept of the logs of its time", async () => {
  const outside = begin();
  outside.service.delivery = "lost";
  const first = openLife(outside, { killAt: (label) => label === "gasless.submit.after" });
  await first.engine.start();
  await turnUntil(outside, first, { maxSeconds: 20, isDone: () => first.isDead() });
  expect(outside.service.submissions).toHaveLength(1);
  first.db.close();
  await outside.clock.advance(100_000);
  for (let block = 0; block < 50; block += 1) outside.chain.mine();
  await forgetLogs(outside);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 60);
  expect([state(life), isTokenHeld(life), life.errors]).toEqual(["expired", false, []]);
});

test("an order that was filled, and of whose time no logs are kept, is told to a person", async () => {
  const outside = begin();
  const first = openLife(outside, { killAt: (label) => label === "commit.submission-accepted.after" });
  await first.engine.start();
  await turnUntil(outside, first, { maxSeconds: 20, isDone: () => first.isDead() });
  first.db.close();
  outside.chain.mine();
  await outside.clock.advance(172_800_000);
  for (let block = 0; block < 50; block += 1) outside.chain.mine();
  await forgetLogs(outside);
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  await life.engine.start();
  await turn(outside, life, 30);
  expect([state(life), isTokenHeld(life), life.errors]).toEqual(["unknown", true, []]);
  expect(outside.reported.filter(({ code }) => code === "SWAP_UNKNOWN").map(({ text }) => text)).toEqual([
    expect.stringMatching(/its deadline is past, but no node shows what became of it \(eth_getLogs was refused/),
  ]);
});

test.each([true, false])(
  "a fill that was confirmed is final by its receipt where no logs are kept (with a nonce: %s)",
  async (hasNonce) => {
    const outside = begin();
    if (!hasNonce) leaveNoncesOut(outside.service);
    const first = openLife(outside);
    await first.engine.start();
    expect(await turnUntil(outside, first, { maxSeconds: 20, isDone: () => state(first) === "confirmed" })).toBe(true);
    first.kill();
    await turn(outside, first, 1);
    first.db.close();
    await outside.clock.advance(172_800_000);
    for (let block = 0; block < 50; block += 1) outside.chain.mine();
    await forgetLogs(outside);
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    await turn(outside, life, 300);
    expect(outside.reported.map(({ code }) => code)).toContain("DATABASE_BEHIND");
    expect([state(life), isTokenHeld(life), life.errors]).toEqual(["final", false, []]);
  },
);

/** A life whose owners are asked for its first swap, with what they are asked for. */
async function proposeOnce() {
  const outside = createTreasuryOutside();
  const handed: PublishedProposal[] = [];
  const open = (): Life =>
    openLife(outside, {
      settings: { safes: new Set([ACCOUNT]) },
      treasury: {
        ...{ safe: ACCOUNT, bindsNonce: true, proposer: undefined, freeNonce: async (next) => next },
        publish: async (proposal) => {
          handed.push(proposal);
          return { kind: "published" };
        },
      },
    });
  const first = open();
  await first.engine.start();
  expect(await turnUntil(outside, first, { maxSeconds: 30, isDone: () => state(first) === "submitted" })).toBe(true);
  const [asked] = handed;
  if (asked === undefined) throw new Error("nothing was proposed");
  /** the same daemon days later, when no logs of before are kept */
  const later = async (): Promise<Life> => {
    first.kill();
    await turn(outside, first, 1);
    first.db.close();
    await outside.clock.advance(172_800_000);
    for (let block = 0; block < 50; block += 1) outside.chain.mine();
    await forgetLogs(outside);
    const life = open();
    onTestFinished(() => life.engine.stop());
    await life.engine.start();
    return life;
  };
  return { outside, first, asked, later };
}

/** Of the first swap's run, in the words of who reads them. */
const openAlerts = ({ db }: Life): unknown[] =>
  db.prepare("SELECT code || ': ' || text FROM alerts WHERE run_id = 'run_2' AND over_at_ms IS NULL").pluck().all();

test("a proposal whose owners used its nonce otherwise ends, whatever is kept of the logs of its time", async () => {
  const { outside, asked, later } = await proposeOnce();
  outside.chain.byOwners([], { nonce: asked.nonce });
  const life = await later();
  expect(await turnUntil(outside, life, { maxSeconds: 60, isDone: () => state(life) === "cancelled" })).toBe(true);
  expect([isTokenHeld(life), openAlerts(life), life.errors]).toEqual([false, [], []]);
});

test("a proposal that was executed, and of whose time no logs are kept, is told to a person", async () => {
  const { outside, asked, later } = await proposeOnce();
  outside.chain.byOwners(asked.calls, asked);
  const life = await later();
  await turn(outside, life, 30);
  expect([state(life), isTokenHeld(life), life.errors]).toEqual(["unknown", true, []]);
  expect(openAlerts(life)).toEqual([
    expect.stringMatching(
      /^SWAP_UNKNOWN.*its deadline is past, but no node shows what became of it \(eth_getLogs was refused/,
    ),
  ]);
});

test("a proposal that was seen to be executed is final by its receipt where no logs are kept", async () => {
  const { outside, first, asked, later } = await proposeOnce();
  outside.chain.byOwners(asked.calls, asked);
  expect(await turnUntil(outside, first, { maxSeconds: 20, isDone: () => state(first) === "confirmed" })).toBe(true);
  const life = await later();
  expect(await turnUntil(outside, life, { maxSeconds: 300, isDone: () => !isTokenHeld(life) })).toBe(true);
  expect([state(life), openAlerts(life), life.errors]).toEqual(["final", [], []]);
});
