import { expect, test } from "vitest";
import { createBlockReads } from "../../../src/chain/at-block/block-reads.ts";
import { parseBlock } from "../../../src/chain/at-block/head.ts";
import { callData, intWord } from "../../../src/chain/at-block/words.ts";
import { createJsonRpc } from "../../../src/chain/json-rpc.ts";
import { V3_SELECTOR } from "../../../src/service/pools/uniswap-v3/selectors.ts";
import { startTickNode, tickPool } from "../../service/support/tick-node.ts";

test.each([
  ["5 MB, as of nodes", 5_000_000],
  ["300 kB, as of some proxies", 300_000],
])("however many calls there are, they travel in requests below a limit of %s", async (_limit, bytes) => {
  const node = await startTickNode();
  node.limits.bytes = bytes;
  const rpc = createJsonRpc({ url: node.url, timeoutMs: 10_000, maxBytes: 16_000_000 });
  const block = parseBlock(rpc.host, await rpc.call("eth_getBlockByNumber", ["latest", false]))!;
  const { readAll } = createBlockReads({ rpc, mode: "override" }).at(block);
  const data = callData(V3_SELECTOR.ticks, intWord(7));
  const answers = await readAll(Array.from({ length: 60_000 }, () => ({ to: tickPool(0).address, data, words: 4 })));
  expect(answers).toHaveLength(60_000);
  expect(answers.every((words) => words?.length === 4)).toBe(true);
  expect(Math.max(...node.seen.map(({ calls }) => calls.length))).toBeLessThan(10_000);
});
