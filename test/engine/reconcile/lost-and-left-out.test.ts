import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import {
  acceptInTime,
  begin,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  open,
} from "../../support/databases-in-turn.ts";
import { type Life, type Outside, turn } from "../../support/engine-life.ts";

// A database that is lost took the earlier balances with it: nothing in the rows shows what a node leaves out.

const FILLS = 3;

/** Trades until its budget is nearly used up, and loses the database. @returns the life of the empty one that follows */
async function loseAll(outside: Outside, meanwhile: () => void): Promise<Life> {
  const marker = markerOf(outside);
  await fill(outside, FILLS, marker);
  meanwhile();
  return await live({ ...outside, file: join(dirname(outside.file), "empty.db") }, marker);
}

test("fills of a lost database that a node leaves out are missed in the balances, and count once it shows them", async () => {
  const outside = begin("only");
  const life = await loseAll(outside, () => {
    outside.chain.hidesLogs = true;
  });
  expect(open(life)).toEqual(["lost", "cannot-prove"]);
  await turn(outside, life, 30);
  outside.chain.hidesLogs = false;
  await turn(outside, life, LIFETIME_SECONDS);
  expect(open(life)).toEqual(["lost", "fill", "fill", "fill"]);
  await acceptInTime(outside, life);
  await turn(outside, life, 300);
  expect([fills(outside), life.errors]).toEqual([FILLS + 1, []]);
});

/** A chain that keeps balances of its newest blocks alone, as nodes do that keep no history. */
function forgetBalances({ chain }: Outside): void {
  const balance = chain.balance.bind(chain);
  chain.balance = async (token, owner, block) => {
    const { number } = await chain.latest();
    if (block !== undefined && block < number - 1) throw new ChainReadError("refused", "missing trie node");
    return await balance(token, owner, block);
  };
}

test("where nodes keep no balances so old, the logs of a lost database are believed where all endpoints list the same", async () => {
  const outside = begin("only");
  const { chain } = outside;
  const agreed = chain.agreed.bind(chain);
  let differ = true;
  const life = await loseAll(outside, () => {
    chain.hidesLogs = true;
    forgetBalances(outside);
    chain.agreed = async () => ({
      ...(await agreed()),
      logs: async (filter) => {
        if (differ) throw new ChainReadError("disagreement", "the RPC endpoints disagree on logs: a says [], b [...]");
        return await chain.logs(filter);
      },
    });
  });
  await turn(outside, life, 90);
  expect([open(life), fills(outside)]).toEqual([["lost", "unchecked"], FILLS]);
  expect(outside.reported).toContainEqual(
    expect.objectContaining({ code: "DATABASE_UNCHECKED", text: expect.stringContaining("disagree on logs") }),
  );
  chain.hidesLogs = false;
  differ = false;
  await turn(outside, life, LIFETIME_SECONDS);
  expect(open(life)).toEqual(["lost", "fill", "fill", "fill"]);
  await acceptInTime(outside, life);
  await turn(outside, life, 300);
  expect([fills(outside), life.errors]).toEqual([FILLS + 1, []]);
});

test("a wallet whose database and marker are lost is not new where one endpoint of several leaves its fills out", async () => {
  const outside = begin("only");
  const { chain } = outside;
  await fill(outside, 1, markerOf(outside));
  const [logs, agreed] = [chain.logs.bind(chain), chain.agreed.bind(chain)];
  chain.logs = async () => [];
  chain.agreed = async () => ({ ...(await agreed()), logs });
  const life = await live({ ...outside, file: join(dirname(outside.file), "empty.db") });
  expect(open(life)).toEqual(["new"]);
  await turn(outside, life, 120);
  expect([fills(outside), life.errors]).toEqual([1, []]);
});

test("a block that is replaced while a first check reads it makes no wallet one that may have traded", async () => {
  const outside = begin("only");
  const { chain } = outside;
  const [agreed, block] = [chain.agreed.bind(chain), chain.block.bind(chain)];
  let replaced: number | undefined;
  chain.agreed = async () => {
    const reads = await agreed();
    if (replaced !== undefined) return reads;
    replaced = reads.latest.number;
    const highestAllowance = () => Promise.reject(new ChainReadError("refused", "header not found"));
    return { ...reads, highestAllowance };
  };
  let isBack = false;
  chain.block = async (number) => (number === replaced && !isBack ? undefined : await block(number));
  const life = await live(outside, markerOf(outside));
  expect(open(life)).toEqual(["unchecked"]);
  isBack = true;
  await turn(outside, life, 5);
  expect([open(life), life.errors]).toEqual([[], []]);
});
