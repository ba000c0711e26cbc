import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import type { Effect } from "../../src/domain/run/effects.ts";
import { writeAndNotify } from "../../src/engine/alerts.ts";
import type { Committer } from "../../src/engine/commit.ts";
import { createEffectRunner, type EffectRunner } from "../../src/engine/effect-runner.ts";
import { registerStrategies } from "../../src/engine/register-strategies.ts";
import type { EffectGroup } from "../../src/ports/daemon-rows.ts";
import type { ServiceProfile } from "../../src/ports/swap-service.ts";
import { NOW_MS, runSample, SLOT_MS } from "../support/builders.ts";
import { addRun } from "../support/daemon-database.ts";
import { addUnchecked } from "../support/databases-in-turn.ts";
import { ACCOUNT, createOutside, type Life, openLife } from "../support/engine-life.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { swapIn } from "../support/reading-samples.ts";

const CONCURRENCY = 4;
const POLLS = 4 * CONCURRENCY;

interface Work {
  /** what the watch of the clock would find */
  clockProblem: string | undefined;
  readonly life: Life;
  readonly runner: EffectRunner;
  /** effects in the order in which they were answered */
  readonly answered: number[];
  /** their kinds, with how often each was begun, as it is counted */
  readonly begun: unknown[];
  /** invariants that effects found broken */
  readonly broken: unknown[];
  /** what happens between the question what is due and its answer */
  whileAsked: (() => Promise<void>) | undefined;
  /** what answers wait for before they are written */
  answering: Promise<void> | undefined;
  /** how often the loop was called because an effect was answered */
  calls: number;
  /** how often it was asked what is due */
  asked(): number;
  /** adds a run with a signed gasless swap, and effects of it */
  add(kinds: readonly Effect["kind"][], notBeforeMs?: number): void;
}

async function open(profile: Partial<ServiceProfile> = {}): Promise<Work> {
  const outside = createOutside(NOW_MS);
  outside.service.profile = { ...outside.service.profile, ...profile };
  const life = openLife(outside);
  await registerStrategies(life.context);
  const answered: number[] = [];
  let asked = 0;
  const work: Pick<Work, "clockProblem" | "whileAsked" | "answering" | "calls"> = {
    clockProblem: undefined,
    calls: 0,
    whileAsked: undefined,
    answering: undefined,
  };
  const { store: stored } = life.context.deps;
  const read: typeof stored.read = async (question) => {
    const rows = await stored.read(question);
    if (question.kind === "due-effects") {
      asked += 1;
      await work.whileAsked?.();
    }
    return rows;
  };
  const store = { ...stored, read };
  const context = { ...life.context, deps: { ...life.context.deps, store } };
  const begun: unknown[] = [];
  const broken: unknown[] = [];
  const commit: Committer["commit"] = async ({ effectId = 0 }) => {
    await work.answering;
    answered.push(effectId);
    begun.push(life.db.prepare("SELECT kind, attempts FROM effects WHERE id = ?").raw().get(effectId));
    life.store.finishEffect(effectId);
  };
  const runner = createEffectRunner(
    context,
    { commit },
    {
      clocks: { problem: () => work.clockProblem },
      guarded: (perform) =>
        perform().catch((error: unknown) => {
          broken.push(error);
        }),
      hear: () => undefined,
      onDone: () => {
        work.calls += 1;
      },
    },
  );
  let runs = 0;
  return Object.assign(work, {
    ...{ life, runner, answered, begun, broken, asked: () => asked },
    add: (kinds: readonly Effect["kind"][], notBeforeMs = 0) => {
      runs += 1;
      const id = `run_${runs}`;
      const swap = { ...swapIn("signed", { wallet: ACCOUNT, recipient: ACCOUNT, mode: "gasless" }), id: `${id}.0.1` };
      addRun(life.store, runSample({ id, slotMs: SLOT_MS + runs, swaps: [{ ...swap, runId: id }] }));
      const effects = kinds.map((kind) => ({
        effect: { kind, swapId: swap.id, what: "route" } as Effect,
        notBeforeMs,
      }));
      life.store.addEffects(id, effects, 0);
    },
  });
}

async function finish({ runner, life }: Work): Promise<void> {
  const isDue = (group: EffectGroup) => life.store.dueEffects(NOW_MS, 1, group).length > 0;
  while (isDue("no routes") || isDue("routes")) {
    await runner.startDue();
    await runner.idle();
  }
}

test("each of many checks is begun once, some at a time, and what is due is not asked for each of them", async () => {
  const work = await open();
  for (let count = 0; count < 3 * POLLS; count += 1) work.add(["ReadChain"]);
  await work.runner.startDue();
  const askedOnce = work.asked();
  await work.runner.idle();
  expect(work.answered).toHaveLength(POLLS);
  await finish(work);
  expect([...work.answered].sort((a, b) => a - b)).toEqual(Array.from({ length: 3 * POLLS }, (_, index) => index + 1));
  expect(askedOnce).toBe(3);
  // For looks once; for the two other groups each time, because nothing of them is due.
  expect(work.asked()).toBe(1 + 2 * 3);
});

test("an effect that is answered while the database is asked what is due is not begun a second time", async () => {
  const work = await open();
  work.add(["ReadChain"]);
  const answering = Promise.withResolvers<void>();
  work.answering = answering.promise;
  await work.runner.startDue();
  work.whileAsked = async () => {
    answering.resolve();
    await work.runner.idle();
  };
  await work.runner.startDue();
  await work.runner.idle();
  expect([work.answered, work.broken]).toEqual([[1], []]);
});

test("an effect that finds an invariant broken is not begun again, and calls nobody to do so", async () => {
  const work = await open();
  work.add(["ReadChain"]);
  work.answering = Promise.reject(new Error("no such table"));
  await work.runner.startDue();
  await work.runner.idle();
  work.answering = undefined;
  await work.runner.startDue();
  await work.runner.idle();
  expect([work.calls, work.answered, work.broken]).toMatchObject([0, [], [{ message: "no such table" }]]);
});

test("each effect that is answered calls the loop, which may begin what follows", async () => {
  const work = await open();
  work.add(["ReadChain", "ReadChain"]);
  await finish(work);
  expect(work.calls).toBe(2);
});

test("a check is not kept waiting by submissions that wait for the service", async () => {
  const work = await open();
  work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
  for (let count = 0; count < 3 * CONCURRENCY; count += 1) work.add(["SubmitGasless"]);
  work.add(["ReadChain"]);
  await work.runner.startDue();
  await work.runner.idle();
  expect(work.answered).toHaveLength(CONCURRENCY + 1);
  expect(work.answered).toContain(3 * CONCURRENCY + 1);
});

test("looks that ask the service too have no room of their own: its rate limit would be all theirs", async () => {
  const work = await open({ nonceRecord: undefined, signatureHasNonce: false });
  work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
  for (let count = 0; count < CONCURRENCY - 1; count += 1) work.add(["ReadChain"]);
  work.add(["SubmitGasless"]);
  for (let count = 0; count < 3 * POLLS; count += 1) work.add(["ReadChain"]);
  await work.runner.startDue();
  await work.runner.idle();
  expect([...work.answered].sort((a, b) => a - b)).toEqual([1, 2, 3, CONCURRENCY]);
});

test("what becomes due meanwhile is not kept waiting by routes", async () => {
  const work = await open();
  work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
  for (let count = 0; count < 3 * CONCURRENCY; count += 1) work.add(["FetchRoute"]);
  await work.runner.startDue();
  work.add(["SubmitGasless"], NOW_MS);
  await work.runner.idle();
  await work.runner.startDue();
  await work.runner.idle();
  expect(work.answered).toHaveLength(2 * CONCURRENCY);
  expect(work.answered).toContain(3 * CONCURRENCY + 1);
});

test("only a submission counts its beginnings: what others may act on must be known after a kill", async () => {
  const work = await open();
  work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
  work.add(["ReadChain", "SubmitGasless"]);
  await finish(work);
  expect(work.begun.toSorted()).toEqual([
    ["ReadChain", 0],
    ["SubmitGasless", 1],
  ]);
});

test("while the clocks disagree looks alone are begun, also where looks and all others share their room", async () => {
  for (const profile of [{}, { nonceRecord: undefined, signatureHasNonce: false }]) {
    const work = await open(profile);
    work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
    work.add(["SubmitGasless"]);
    work.add(["FetchRoute"]);
    for (let count = 0; count < 2 * CONCURRENCY; count += 1) work.add(["ReadChain"]);
    work.clockProblem = "ahead";
    for (let turn = 0; turn < 3; turn += 1) {
      await work.runner.startDue();
      await work.runner.idle();
    }
    expect([...work.answered].sort((a, b) => a - b)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
    work.clockProblem = undefined;
    await finish(work);
    expect([...work.answered].sort((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  }
});

const OTHER = toAddress(`0x${"77".repeat(20)}`);

test("what was signed is submitted once its own wallet was checked, whatever others wait for; nothing else begins then", async () => {
  const work = await open();
  const { deps } = work.life.context;
  work.life.store.setMode({ scope: "global", mode: "halted", setBy: "ops", reason: "a dry run", atMs: 1 });
  for (const wallet of [ACCOUNT, OTHER]) await addUnchecked({ deps }, wallet);
  work.add(["SubmitGasless", "FetchRoute", "FetchQuote", "ReadChain"]);
  for (let count = 0; count < 2 * CONCURRENCY; count += 1) work.add(["SubmitGasless"]);
  const turns = async (): Promise<readonly unknown[]> => {
    for (let turn = 0; turn < 3; turn += 1) {
      await work.runner.startDue();
      await work.runner.idle();
    }
    return work.begun.map((row) => (row as unknown[])[0]);
  };
  expect(await turns()).toEqual(["ReadChain"]);
  await writeAndNotify(deps, [{ kind: "checked", wallet: ACCOUNT }]);
  const submitted = Array.from({ length: 2 * CONCURRENCY + 1 }, () => "SubmitGasless");
  expect(await turns()).toEqual(["ReadChain", ...submitted]);
  expect(new Set(work.answered).size).toBe(submitted.length + 1);
  await writeAndNotify(deps, [{ kind: "checked", wallet: OTHER }]);
  expect((await turns()).slice(submitted.length + 1)).toEqual(expect.arrayContaining(["FetchRoute"]));
});

test("an order that a clock held back which jumped during the wait is submitted once the clock is right, also where it is sent once only", async () => {
  const work = await open({ idempotentExecuteSwap: false });
  const { service } = work.life.context.deps;
  const sent: string[] = [];
  let asked = 0;
  service.executeSwap = async ({ quoteId }) => {
    asked += 1;
    if (asked === 1) {
      work.clockProblem = "ahead";
      return { kind: "not-sent", detail: "too near to its deadline" };
    }
    sent.push(quoteId);
    return { kind: "accepted", serviceSwapId: quoteId, hash: undefined };
  };
  work.add(["SubmitGasless"]);
  await work.runner.startDue();
  await work.runner.idle();
  expect([sent, work.answered]).toEqual([[], []]);
  work.clockProblem = undefined;
  await finish(work);
  expect([asked, sent.length, work.answered]).toEqual([2, 1, [1]]);
});

test.each([true, false])(
  "an order that no node gave the time for is handed over once when one does, also to a service that takes it once only (idempotent: %s)",
  async (idempotentExecuteSwap) => {
    const work = await open({ idempotentExecuteSwap });
    const { chain, clock, service, store } = work.life.context.deps;
    const sent: string[] = [];
    service.executeSwap = async ({ quoteId }) => {
      sent.push(quoteId);
      return { kind: "accepted", serviceSwapId: quoteId, hash: undefined };
    };
    const { latest } = chain;
    let away = 2;
    chain.latest = async () => {
      away -= 1;
      if (away >= 0) throw new ChainReadError("unreachable", "no node answered");
      return await latest.call(chain);
    };
    work.add(["SubmitGasless"]);
    for (const left of [1, 0]) {
      await work.runner.startDue();
      await work.runner.idle();
      await work.runner.startDue();
      expect([away, sent, work.answered], "not again at once").toEqual([left, [], []]);
      expect(work.life.db.prepare("SELECT attempts FROM effects").pluck().get()).toBe(0);
      const nextMs = (await store.read({ kind: "next-effect" })) ?? 0;
      await (clock as FakeClock).advance(nextMs - clock.nowMs());
    }
    for (let look = 0; look < 2; look += 1) {
      await work.runner.startDue();
      await work.runner.idle();
    }
    expect([sent.length, work.answered]).toEqual([1, [1]]);
  },
);
