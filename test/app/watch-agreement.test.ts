import { expect, test } from "vitest";
import { watchAgreement } from "../../src/app/watch-agreement.ts";
import { watchChain } from "../../src/app/watch-reach.ts";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import type { Address, Hex } from "../../src/domain/money/address.ts";
import { createReach } from "../../src/engine/reach.ts";
import type { Chain } from "../../src/ports/chain.ts";
import { NOW_MS, WALLET } from "../support/builders.ts";
import { openDaemonDatabase } from "../support/daemon-database.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { hash } from "../support/reading-samples.ts";

const ONE = hash("aa");
const OTHER = hash("bb");

function depsOf({ clock, database, reported }: Begun): Parameters<typeof watchAgreement>[1] {
  let ids = 0;
  return {
    ...{ store: database.store, clock },
    ids: { newId: (prefix) => `${prefix}_${clock.monotonicMs()}_${ids++}`, randomUint256: () => 0n },
    notifier: { notify: ({ code }) => void reported.push(code) },
  };
}

interface Begun {
  readonly clock: FakeClock;
  readonly database: ReturnType<typeof openDaemonDatabase>;
  readonly reported: string[];
}

/** Endpoints that disagree on the receipts of some transactions. */
function begin(clock = new FakeClock(NOW_MS), database = openDaemonDatabase()) {
  const disputed = new Set<Hex>();
  const reported: string[] = [];
  const receipt = async (asked: Hex) => {
    if (disputed.has(asked)) throw new ChainReadError("disagreement", "a.example says none, b.example 0x12 true");
    return undefined;
  };
  const inner = { latest: async () => ({ number: 1 }), agreed: async () => ({ receipt }) } as unknown as Chain;
  const chain = watchAgreement(inner, depsOf({ clock, database, reported }));
  const ask = async (transaction: Hex | undefined): Promise<void> => {
    if (transaction !== undefined) await (await chain.agreed()).receipt(transaction).catch(() => undefined);
    else await chain.latest();
  };
  const askFor = async (transaction: Hex | undefined, seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 15) {
      await ask(transaction);
      await clock.advance(15_000);
    }
  };
  const rows = (): unknown[] =>
    database.db.prepare("SELECT code, over_at_ms IS NOT NULL FROM alerts ORDER BY number").raw().all();
  return { clock, database, disputed, reported, askFor, rows };
}

test("a disagreement that lasts is reported once, and it is over when the endpoints agree", async () => {
  const { disputed, reported, askFor, rows } = begin();
  disputed.add(ONE);
  await askFor(ONE, 60);
  expect(rows()).toEqual([]);
  await askFor(ONE, 300);
  await askFor(OTHER, 30);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 0]]);
  expect(reported).toEqual(["ENDPOINTS_DISAGREE"]);
  disputed.clear();
  await askFor(ONE, 15);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 1]]);
});

test("what could not be written down is reported by the next question", async () => {
  const database = openDaemonDatabase();
  const { transaction } = database.store;
  let isFull = true;
  const store = {
    ...database.store,
    transaction: <T>(work: () => T): T => {
      if (isFull) throw new Error("database or disk is full");
      return transaction(work);
    },
  };
  const { disputed, reported, askFor } = begin(new FakeClock(NOW_MS), { ...database, store });
  disputed.add(ONE);
  await askFor(ONE, 120);
  isFull = false;
  await askFor(ONE, 15);
  expect(reported).toEqual(["ENDPOINTS_DISAGREE"]);
});

test("endpoints that are a block apart for a moment are told to nobody", async () => {
  const { disputed, askFor, rows } = begin();
  for (let time = 0; time < 10; time += 1) {
    disputed.add(ONE);
    await askFor(ONE, 45);
    disputed.clear();
    await askFor(ONE, 15);
  }
  expect(rows()).toEqual([]);
});

test("a question that nobody repeats is settled by something else: its alert is over after ten minutes", async () => {
  const { disputed, askFor, rows } = begin();
  disputed.add(ONE);
  await askFor(ONE, 120);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 0]]);
  await askFor(undefined, 570);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 0]]);
  await askFor(undefined, 60);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 1]]);
});

test("an alert of an earlier life is not reported again while it is true, and is over with the first agreement", async () => {
  const first = begin();
  first.disputed.add(ONE);
  await first.askFor(ONE, 120);
  const second = begin(new FakeClock(NOW_MS), first.database);
  second.disputed.add(ONE);
  await second.askFor(ONE, 120);
  expect(second.reported).toEqual([]);
  const third = begin(new FakeClock(NOW_MS), first.database);
  await third.askFor(undefined, 60);
  expect(third.rows()).toEqual([["ENDPOINTS_DISAGREE", 0]]);
  await third.askFor(ONE, 15);
  expect(third.rows()).toEqual([["ENDPOINTS_DISAGREE", 1]]);
});

test("endpoints that agree on finalised blocks and not on older ones are reported once, however often they are asked", async () => {
  const { clock, database, reported, rows } = begin();
  let finalized = 1_000;
  let isOldDisputed = true;
  const transactionCount = async (_account: Address, block: number) => {
    if (isOldDisputed && block < finalized) throw new ChainReadError("disagreement", "a.example says 4, b.example 5");
    return 5;
  };
  const inner = {
    latest: async () => ({ number: finalized + 10 }),
    agreed: async () => ({
      ...{ latest: { number: finalized + 10 }, transactionCount },
      finalized: async () => ({ number: finalized }),
    }),
  } as unknown as Chain;
  const chain = watchAgreement(inner, depsOf({ clock, database, reported }));
  const askFor = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 15) {
      const reads = await chain.agreed();
      const { number } = await reads.finalized();
      for (const block of [number, number - 1, number + 10]) {
        await reads.transactionCount(WALLET, block).catch(() => undefined);
      }
      finalized += 7;
      await clock.advance(15_000);
    }
  };
  await askFor(45);
  expect(rows()).toEqual([]);
  await askFor(1_200);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 0]]);
  expect(reported).toEqual(["ENDPOINTS_DISAGREE"]);
  isOldDisputed = false;
  await askFor(660);
  expect(rows()).toEqual([["ENDPOINTS_DISAGREE", 1]]);
});

test("an endpoint whose final block stands still is reported while it holds ends back, and no longer", async () => {
  const { clock, database, reported } = begin();
  let heldBack: string | undefined = "the newest block that b.example calls final is 7, 61 minutes older than block 9";
  const finalized = async () => ({ number: 7, ...(heldBack === undefined ? {} : { heldBack }) });
  const inner = { latest: async () => ({ number: 9 }), agreed: async () => ({ finalized }) } as unknown as Chain;
  const chain = watchAgreement(inner, depsOf({ clock, database, reported }));
  const askFor = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second += 15) {
      await (await chain.agreed()).finalized();
      await clock.advance(15_000);
    }
  };
  const texts = (): unknown[] => database.db.prepare("SELECT text FROM alerts WHERE over_at_ms IS NULL").pluck().all();
  await askFor(60);
  expect(texts()).toEqual([]);
  await askFor(60);
  expect(texts()).toEqual([expect.stringContaining("b.example calls final is 7, 61 minutes older")]);
  expect(reported).toEqual(["ENDPOINTS_DISAGREE"]);
  heldBack = undefined;
  await askFor(15);
  expect(texts()).toEqual([]);
});

test("the newest block from a known one on is asked for so through everybody who watches the chain: one endpoint may be behind it", async () => {
  const begun = begin();
  const { clock } = begun;
  const asked: unknown[] = [];
  const latest = async (from?: number): Promise<object> => {
    asked.push(from);
    return { number: 8, timestamp: Math.floor(NOW_MS / 1_000) };
  };
  const seen = watchChain({ latest } as unknown as Chain, createReach({ clock }), clock);
  const chain = watchAgreement(seen, depsOf(begun));
  await chain.latest(8);
  await chain.latest();
  expect(asked).toEqual([8, undefined]);
});
