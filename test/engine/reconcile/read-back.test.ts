import { expect, onTestFinished, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { SLOT_MS } from "../../support/builders.ts";
import { createOutside, type Life, type Outside, openLife, turn, turnUntil } from "../../support/engine-life.ts";

const BLOCKS_AWAY = 700;

/** A daemon that made one fill, was away for so many blocks, and is started again. */
async function backAfterBlocks(gasless: "only" | "never"): Promise<Outside> {
  const outside = createOutside(SLOT_MS - 1_500, { gasless });
  const life = openLife(outside);
  await life.engine.start();
  const isDone = (): boolean => fillsOf(life) === 1 && life.store.unsettledSwaps().length === 0;
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone })).toBe(true);
  await life.engine.stop();
  life.db.close();
  for (let mined = 0; mined < BLOCKS_AWAY; mined += 1) outside.chain.mine();
  return outside;
}

function fillsOf({ db }: Life): unknown {
  return db.prepare("SELECT count(*) FROM runs WHERE state = 'filled'").pluck().get();
}

const openKinds = ({ store }: Life): readonly string[] => store.openDifferences().map(({ kind }) => kind);

/** Puts `before` in front of each query of logs, and notes from which blocks they were answered. */
function watchLogs({ chain }: Outside, before: (fromBlock: number) => Promise<void>): number[] {
  const answered: number[] = [];
  const logs = chain.logs.bind(chain);
  chain.logs = async (filter) => {
    await before(filter.fromBlock);
    answered.push(filter.fromBlock);
    return await logs(filter);
  };
  return answered;
}

test("a node that is away costs the piece that it was asked for, not what was read before it", async () => {
  const outside = await backAfterBlocks("only");
  const { clock } = outside;
  let first: number | undefined;
  const backMs = clock.monotonicMs() + 40_000;
  const answered = watchLogs(outside, async (fromBlock) => {
    first ??= fromBlock;
    if (fromBlock > first && clock.monotonicMs() < backMs) throw new ChainReadError("unreachable", "no answer");
  });
  const life = openLife(outside);
  onTestFinished(() => life.engine.stop());
  void life.engine.start();
  await turn(outside, life, 30);
  const before = [...answered];
  expect([openKinds(life), Math.max(...before)]).toEqual([["unchecked"], first]);
  await turn(outside, life, 60);
  expect([openKinds(life), life.errors]).toEqual([[], []]);
  const isFirst = (block: number): boolean => block === first;
  expect(answered.filter(isFirst)).toEqual(before.filter(isFirst));
});

test.each(["never", "only"] as const)(
  "reading that takes minutes holds back gasless swaps, after a minute nothing else, and comes to its end (gasless: %s)",
  async (gasless) => {
    const outside = await backAfterBlocks(gasless);
    watchLogs(outside, () => outside.clock.sleep(25_000));
    const life = openLife(outside);
    onTestFinished(() => life.engine.stop());
    void life.engine.start();
    await turn(outside, life, 45);
    expect(openKinds(life)).toEqual(["unchecked"]);
    await turn(outside, life, 140);
    expect(openKinds(life)).toEqual(["cannot-prove"]);
    const fills = fillsOf(life);
    expect(Number(fills) > 1).toBe(gasless === "never");
    const goesOn = (): boolean => openKinds(life).length === 0 && Number(fillsOf(life)) > Number(fills);
    expect(await turnUntil(outside, life, { maxSeconds: 600, isDone: goesOn })).toBe(true);
    expect(life.errors).toEqual([]);
  },
);

test("a node that forgets balances while the logs are read is asked for the newest blocks alone by the next check", async () => {
  const outside = await backAfterBlocks("only");
  const { chain, clock } = outside;
  const [latest, balance] = [chain.latest.bind(chain), chain.balance.bind(chain)];
  const seenMs = new Map<number, number>();
  chain.latest = async () => {
    const head = await latest();
    if (!seenMs.has(head.number)) seenMs.set(head.number, clock.monotonicMs());
    return head;
  };
  chain.balance = async (token, owner, block) => {
    const ageMs = clock.monotonicMs() - (seenMs.get(block ?? -1) ?? clock.monotonicMs());
    if (ageMs > 20_000) throw new ChainReadError("not available", "missing trie node");
    return await balance(token, owner, block);
  };
  let first: number | undefined;
  watchLogs(outside, async (fromBlock) => {
    first ??= fromBlock;
    if (fromBlock === first) await clock.sleep(15_000);
  });
  const life = openLife(outside);
  onTestFinished(() => life.kill());
  void life.engine.start();
  const isReported = (): boolean => openKinds(life).includes("cannot-prove");
  expect(await turnUntil(outside, life, { maxSeconds: 90, isDone: isReported })).toBe(true);
  const isProved = (): boolean => openKinds(life).length === 0;
  expect(await turnUntil(outside, life, { maxSeconds: 300, isDone: isProved })).toBe(true);
  expect(life.errors).toEqual([]);
});
