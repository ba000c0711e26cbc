import { expect, test } from "vitest";
import { ChainReadError } from "../../src/domain/chain-read-error.ts";
import { toAddress } from "../../src/domain/money/address.ts";
import { findNonceUse } from "../../src/lane/find-nonce-use.ts";
import type { AgreedReads } from "../../src/ports/chain.ts";

const account = toAddress("0x00000000000000000000000000000000000000a1");
const use = { hash: `0x${"5a".repeat(32)}`, nonce: 3, to: account, data: "0x" } as const;

/** Nodes that keep the states from a block on. */
function nodes(usedIn: number, keptFrom: number): { reads: AgreedReads; asked: number[] } {
  const asked: number[] = [];
  const reads = {
    transactionCount: async (_: unknown, block: number) => {
      asked.push(block);
      if (block < keptFrom) throw new ChainReadError("refused", `missing trie node of block ${block}`);
      return block >= usedIn ? 9 : 3;
    },
    transactionsOf: async (_: unknown, block: number) => (block === usedIn ? [use] : []),
  };
  return { reads: reads as unknown as AgreedReads, asked };
}

test("the transaction that took a nonce is found wherever the nodes keep the state of its block, and nowhere else", async () => {
  const finalized = 300;
  for (let usedIn = 1; usedIn <= finalized; usedIn += 1) {
    for (const keptFrom of [0, 1, usedIn - 1, usedIn, Math.min(usedIn + 1, finalized), 172, 299, finalized]) {
      const { reads, asked } = nodes(usedIn, keptFrom);
      const found = await findNonceUse(reads, { account, nonce: use.nonce, finalized });
      expect([usedIn, keptFrom, found]).toEqual([usedIn, keptFrom, usedIn >= keptFrom ? use : undefined]);
      expect(asked.length).toBeLessThanOrEqual(20);
    }
  }
});

test("a node that is away is no node that keeps no states: nothing is said until it answers", async () => {
  const { reads } = nodes(250, 0);
  const away: AgreedReads = {
    ...reads,
    transactionCount: async (_, block) => {
      if (block < 280) throw new ChainReadError("unreachable", "no answer");
      return await reads.transactionCount(account, block);
    },
  };
  await expect(findNonceUse(away, { account, nonce: 3, finalized: 300 })).rejects.toThrow("no answer");
});
