import { id } from "ethers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readViewWord } from "../../../src/chain/at-block/batch-reader.ts";
import { type Address, type Hex, isHex } from "../../../src/domain/money/address.ts";
import { describeRevert } from "../../../src/service/settlement/calldata.ts";
import { detectPermit } from "../../../src/service/settlement/permit.ts";
import { startTestChain, type TestChain } from "../support/chain.ts";

// Anybody's token may be asked about, and answers what it likes: half a million bytes for the gas that a view may use.

let chain: TestChain;
const BYTES = 0x68000;

beforeAll(async () => {
  chain = await startTestChain();
});

afterAll(() => chain?.stop());

/** Answers every call with a text of so many bytes. */
async function talkativeToken(): Promise<Address> {
  const hex = (value: number) => value.toString(16).padStart(6, "0");
  const runtime = `602060005262${hex(BYTES - 64)}60205262${hex(BYTES)}6000f3`;
  const size = (runtime.length / 2).toString(16).padStart(2, "0");
  const token = await chain.send({ data: `0x60${size}600c60003960${size}6000f3${runtime}` as Hex });
  if (token === undefined) throw new Error("no contract was created");
  return token;
}

/** Processor time of this process, ms: nobody else is answered meanwhile. */
async function costOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** The least of several: collections of garbage and other threads of the process count, too. */
async function leastCostOf(work: () => unknown, tries = 6): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let time = 0; time < tries; time += 1) least = Math.min(least, await costOf(work));
  return least;
}

test("to look for the permit of a token that talks much costs little more than to hear its answers", async () => {
  const network = { chainId: 31_337, spender: chain.deployer };
  const tokens = await Promise.all(Array.from({ length: 20 }, talkativeToken));
  const views = ["DOMAIN_SEPARATOR()", "PERMIT_TYPEHASH()", "eip712Domain()", "name()", "version()"];
  const calls = tokens.flatMap((to) => views.map((view) => ({ to, data: id(view).slice(0, 10) })));
  let found: readonly unknown[] = [];
  const hear = async (): Promise<unknown> =>
    await Promise.all(calls.map((call) => chain.rpc.call("eth_call", [call, "latest"])));
  const look = async (): Promise<void> => {
    found = await Promise.all(tokens.map((token) => detectPermit(chain.rpc, token, network)));
  };
  const [hearing, looking] = [await leastCostOf(hear, 2), await leastCostOf(look, 2)];
  expect(found).toEqual(tokens.map(() => ({ kind: "none" })));
  // The first of its answers ends it. To look at the characters of that one alone costs three times as much.
  expect(looking).toBeLessThan(hearing);
});

test("of a long answer no more is read than is asked for", async () => {
  const answer: Hex = `0x${"0".repeat(63)}7${"ab".repeat(BYTES)}`;
  const times = Array.from({ length: 10 });
  const once = await leastCostOf(() => times.every(() => isHex(answer)));
  const words = await leastCostOf(() => times.every(() => readViewWord("node", answer) === 7n));
  expect(words).toBeLessThan(3 * once);
  const reverts = await leastCostOf(() => times.every(() => describeRevert(answer) === "with 0x00000000"));
  expect(reverts).toBeLessThan(once);
});
