import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { WETH } from "../../support/builders.ts";
import {
  accept,
  acceptInTime,
  begin,
  fill,
  fills,
  LIFETIME_SECONDS,
  live,
  markerOf,
  open,
} from "../../support/databases-in-turn.ts";
import { ACCOUNT, type Life, type Outside, turn } from "../../support/engine-life.ts";

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

test("a loss that is accepted while endpoints list different logs frees nothing: fills that show up then halt the wallet", async () => {
  const outside = begin("only");
  const { chain } = outside;
  const agreed = chain.agreed.bind(chain);
  const life = await loseAll(outside, () => {
    forgetBalances(outside);
    const logs = () => Promise.reject(new ChainReadError("disagreement", "the RPC endpoints disagree on logs"));
    chain.agreed = async () => ({ ...(await agreed()), logs });
  });
  await turn(outside, life, LIFETIME_SECONDS + 5);
  expect(await accept(life)).toContain("accepted 1");
  await turn(outside, life, 120);
  expect([open(life), fills(outside)]).toEqual([["unchecked"], FILLS]);
  chain.agreed = agreed;
  await turn(outside, life, 60);
  expect([open(life), fills(outside)]).toEqual([["fill", "fill", "fill"], FILLS]);
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

test("nor where one endpoint of several, which is behind, does not show what it allows yet", async () => {
  const outside = begin("only");
  const { chain } = outside;
  chain.ledger.setAllowance(WETH.address, ACCOUNT, 1n);
  const [allowance, agreed] = [chain.allowance.bind(chain), chain.agreed.bind(chain)];
  chain.allowance = async () => 0n;
  chain.agreed = async () => ({ ...(await agreed()), highestAllowance: allowance });
  expect(open(await live(outside))).toEqual(["new"]);
});

test("a node that loses every other answer delays a first check, and does not make it begin anew for ever", async () => {
  const outside = begin("only");
  const { chain } = outside;
  const agreed = chain.agreed.bind(chain);
  let asked = 0;
  const lossy =
    <Args extends unknown[], Answer>(read: (...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer> => {
      asked += 1;
      if (asked % 2 === 1) throw new ChainReadError("unreachable", "no answer");
      return await read(...args);
    };
  chain.agreed = async () => {
    const reads = await agreed();
    return { ...reads, logs: lossy(reads.logs), highestAllowance: lossy(reads.highestAllowance) };
  };
  const life = await live(outside);
  await turn(outside, life, 30);
  expect([open(life), life.errors]).toEqual([[], []]);
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
