import { expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { accept, begin, fill, fills, live, markerOf, open } from "../../support/databases-in-turn.ts";
import { turn } from "../../support/engine-life.ts";

test("logs that were being read, and that the node refuses since, are no more being read: a person can accept that", {
  timeout: 60_000,
}, async () => {
  const outside = begin("only");
  const { chain, clock } = outside;
  const marker = markerOf(outside);
  await fill(outside, 1, marker);
  for (let block = 0; block < 6_000; block += 1) chain.mine();
  const logs = chain.logs.bind(chain);
  let node: "slow" | "pruned" = "slow";
  chain.logs = async (filter) => {
    if (node === "pruned" && filter.fromBlock < 6_000) throw new ChainReadError("refused", "history has been pruned");
    if (node === "slow") await clock.sleep(21_000);
    return await logs(filter);
  };
  const starting = live(outside, marker);
  for (let second = 0; second < 70; second += 1) {
    await clock.advance(1_000);
    chain.mine();
  }
  const life = await starting;
  await turn(outside, life, 30);
  expect(life.store.openDifferences()).toMatchObject([
    { kind: "cannot-prove", facts: { readUpTo: expect.anything() } },
  ]);
  node = "pruned";
  await turn(outside, life, 150);
  expect(open(life)).toEqual(["cannot-prove"]);
  expect(await accept(life)).toContain("accepted 1");
  await turn(outside, life, 120);
  expect([open(life), fills(outside) > 1, life.errors]).toEqual([[], true, []]);
});
