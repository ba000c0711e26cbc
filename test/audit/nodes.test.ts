import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { lateLast } from "../../src/audit/late-nodes.ts";
import { AuditError } from "../../src/audit/report.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";
import { signTransaction } from "./support/lane-rows.ts";
import { buildWorld, type Copy, codesOf, STRANGER, type World } from "./support/world.ts";

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What the node in between makes of a call: another call, or an answer of its own. */
type Twisted = Call | { error: { code: number; message: string } } | { result: unknown };
type Twist = (call: Call) => Twisted | Promise<Twisted>;

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.stop());

/** A node in front of the real one that twists the calls of a batch. */
async function twistedNode(twist: Twist): Promise<string> {
  const { url } = await startHttpServer((request, response) => {
    void readBody(request).then(async (body) => {
      const answers = await Promise.all(
        (JSON.parse(body) as Call[]).map(async (call) => answer(await twist(call), call)),
      );
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answers));
    });
  });
  return url;
}

async function answer(twisted: Twisted, call: Call): Promise<unknown> {
  if (!("method" in twisted)) return { jsonrpc: "2.0", id: call.id, ...twisted };
  const reply = await fetch(world.chain.rpcUrl, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...twisted, jsonrpc: "2.0" }),
  });
  return reply.json();
}

const isTip = (call: Call) => call.method === "eth_getBlockByNumber" && call.params[0] === "latest";

test.each([
  ["reverts", { error: { code: 3, message: "execution reverted" } }],
  ["says nothing", { result: "0x" }],
])("looks at all else where a token %s when it is asked for balances and allowances", async (_how, said) => {
  const asked = ["0x70a08231", "0xdd62ed3e"];
  const rpcUrl = await twistedNode((call) => {
    const [to] = call.params as [{ to?: string; data?: string }];
    const isAsked = call.method === "eth_call" && asked.some((selector) => to.data?.startsWith(selector));
    return isAsked && to.to?.toLowerCase() === world.chain.tokens.USDC.address.toLowerCase() ? said : call;
  });
  const report = await world.auditAfter(
    ({ journal }) => journal.run("UPDATE swaps SET block_number = block_number + 1 WHERE id = 'own'"),
    { rpcUrl },
  );
  expect(report.differences.map(({ code }) => code)).toEqual(["FILL_BLOCK_DIFFERS"]);
  expect(report.notes).toContainEqual(expect.stringMatching(/^What 0x.* has of USDC .* does not say it/));
  expect(report.notes).toContainEqual(expect.stringMatching(/may spend of USDC .* does not say it/));
});

test("counts a fill that the database knows beyond the tip neither as missing nor into the balances", async () => {
  const tip = await world.chain.rpc.call("eth_blockNumber", []);
  let asked = 0;
  const rpcUrl = await twistedNode((call) => {
    if (isTip(call)) asked += 1;
    return isTip(call) && asked === 1 ? { ...call, params: [tip, false] } : call;
  });
  const report = await world.auditAfter(
    async ({ trader, chain }) => {
      const { USDC, WETH, ETH } = chain.tokens;
      await trader.swapSelfExecuted({ id: "late", sell: USDC, buy: WETH, amount: 70_000n });
      await trader.swapSelfExecuted({ id: "later", sell: USDC, buy: ETH, amount: 70_000n });
      await trader.swapGasless({ id: "latest", sell: USDC, buy: WETH, amount: 70_000n });
    },
    { rpcUrl },
  );
  expect(report.differences).toEqual([]);
  expect(report.tip.number).toBe(Number(tip));
  expect(report.checked.fills).toBe(8);
});

/** A node that came to a block and stands still there, in every respect. */
async function standingAt(tip: string): Promise<string> {
  const isBeyond = (block: unknown): boolean => Number(block) > Number(tip);
  return await twistedNode(async (call) => {
    const [first, second] = call.params;
    if (isTip(call)) return { ...call, params: [tip, second] };
    if (call.method === "eth_getBlockByNumber" && isBeyond(first)) return { result: null };
    if (call.method === "eth_call" && second === "latest") return { ...call, params: [first, tip] };
    if (call.method !== "eth_getTransactionReceipt") return call;
    const { result } = (await answer(call, call)) as { result: { blockNumber: string } | null };
    return { result: isBeyond(result?.blockNumber) ? null : result };
  });
}

const steal = async ({ chain }: Copy): Promise<void> => {
  const { usdc } = chain.contracts;
  const nonce = Number(await chain.rpc.call("eth_getTransactionCount", [chain.wallet.address, "latest"]));
  const data = usdc.abi.encodeFunctionData("transfer", [STRANGER, 7n]) as Hex;
  const { raw } = await signTransaction(chain.wallet, { chainId: chain.chainId, nonce, to: usdc.address, data });
  expect((await chain.sendRaw(raw)).succeeded).toBe(true);
};

test.each([
  [
    "a younger fill is not accused",
    async ({ trader, chain }: Copy) => {
      const { USDC, WETH } = chain.tokens;
      await trader.swapSelfExecuted({ id: "later", sell: USDC, buy: WETH, amount: 70_000n });
    },
    "which swap later is recorded in",
  ],
  [
    "a younger theft is not called clean",
    async (copy: Copy) => {
      await steal(copy);
      copy.journal.insert("known_chain", {
        ...{ wallet: copy.chain.wallet.address.toLowerCase(), balances: "{}", at_ms: 1, transaction_count: 1 },
        ...{ block_number: Number(await copy.chain.rpc.call("eth_blockNumber", [])) },
        ...{ baseline_block: 1, baseline_count: 0 },
      });
    },
    "which the daemon has checked the chain up to",
  ],
])("believes no node that stands still below what is recorded: %s", async (_hazard, spoil, whose) => {
  const tip = String(await world.chain.rpc.call("eth_blockNumber", []));
  const outcome = await world.auditAfter(spoil, { rpcUrl: await standingAt(tip) }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_UNREADABLE" });
  expect(String(outcome)).toMatch(
    new RegExp(`block [0-9]+, ${whose}, is not known to it: it stands still at block ${Number(tip)} of 20.*Z`),
  );
});

test("calls missing what is recorded in blocks beyond the end of a chain that mines no more", async () => {
  const tip = String(await world.chain.rpc.call("eth_blockNumber", []));
  const report = await world.auditAfter(
    async ({ trader, chain }) => {
      const { USDC, WETH } = chain.tokens;
      await trader.swapSelfExecuted({ id: "later", sell: USDC, buy: WETH, amount: 70_000n });
    },
    { rpcUrl: await standingAt(tip), hasEnded: true },
  );
  expect(report.tip.number).toBe(Number(tip));
  expect(report.differences).toContainEqual(expect.objectContaining({ code: "FILL_MISSING", subject: "swap later" }));
});

test("judges a row by its transaction where it names a block that is still to come", async () => {
  const report = await world.auditAfter(({ journal }) =>
    journal.run("UPDATE swaps SET block_number = 1000000000000 WHERE id = 'own'"),
  );
  expect(codesOf(report)).toContain("FILL_BLOCK_DIFFERS");
});

/** A node whose newest block is so many seconds old. */
const aged = (seconds: number) =>
  twistedNode(async (call) => {
    const { result } = (await answer(call, call)) as { result: object };
    return { result: { ...result, timestamp: `0x${(Math.floor(Date.now() / 1_000) - seconds).toString(16)}` } };
  });

test("asks endpoints last whose newest block is much older than another's, and those that are away in their turn", async () => {
  const away = "http://127.0.0.1:1/";
  const [days, minute, now] = [await aged(300_000), await aged(60), await aged(0)];
  const said: string[] = [];
  const order = await lateLast([days, away, minute, now], Date.now(), (text) => void said.push(text));
  expect(order).toEqual([away, minute, now, days]);
  expect(await lateLast([away, `${away}other`], Date.now(), (text) => void said.push(text))).toHaveLength(2);
  expect(said).toEqual([expect.stringContaining(`${new URL(days).host} is asked last: its newest block is of 20`)]);
});

test("asks no endpoint last because another one shows a block of the future, unless all do by a clock that is behind", async () => {
  const [days, now, future] = [await aged(300_000), await aged(0), await aged(-1_000)];
  const ordered = (nowMs: number) => lateLast([days, now, future], nowMs, () => undefined);
  expect(await ordered(Date.now())).toEqual([now, future, days]);
  expect(await ordered(0)).toEqual([future, days, now]);
});

test.each([
  ["a block of before some of its newest", (block: number, newest: number) => block < newest - 6],
  ["the newest block of all", (block: number, newest: number) => block === newest],
])("believes no node that has left out the events of %s, as its receipts show", async (_which, isLeftOut) => {
  let newest = 0;
  const rpcUrl = await twistedNode(async (call) => {
    if (call.method !== "eth_getLogs") return call;
    const { result } = (await answer(call, call)) as { result: readonly { blockNumber: string }[] };
    return { result: result.filter(({ blockNumber }) => !isLeftOut(Number(blockNumber), newest)) };
  });
  const spoil = async ({ trader, chain }: Copy): Promise<void> => {
    const { USDC, WETH } = chain.tokens;
    await trader.swapSelfExecuted({ id: "last", sell: USDC, buy: WETH, amount: 70_000n });
    newest = Number(await chain.rpc.call("eth_blockNumber", []));
  };
  const outcome = await world.auditAfter(spoil, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_UNREADABLE" });
  expect(String(outcome)).toMatch(
    /the node lists 0 of [1-9] events of 0x\w{64} in block [0-9]+, by the transaction's own/,
  );
});

test("asks for smaller ranges until the node gives its events", async () => {
  let refusals = 0;
  const rpcUrl = await twistedNode((call) => {
    const [filter] = call.params as [{ fromBlock: string; toBlock: string }];
    if (call.method !== "eth_getLogs" || Number(filter.toBlock) - Number(filter.fromBlock) < 4) return call;
    refusals += 1;
    return { error: { code: -32005, message: "query exceeds max block range" } };
  });
  const report = await world.auditAfter(() => undefined, { rpcUrl });
  expect(refusals).toBeGreaterThan(3);
  expect(report.differences).toEqual([]);
  expect(report.checked.transfers).toBeGreaterThan(8);
});

test("gives up instead of calling it a difference when the node refuses even a single block", async () => {
  const rpcUrl = await twistedNode((call) =>
    call.method === "eth_getLogs" ? { error: { code: -32601, message: "no logs here" } } : call,
  );
  const outcome = await world.auditAfter(() => undefined, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(AuditError);
  expect(String(outcome)).toContain("no logs here");
});

test("does not judge a chain whose tip keeps being reorganised away", async () => {
  const rpcUrl = await twistedNode((call) =>
    call.method === "eth_getBlockByNumber" && !isTip(call)
      ? { result: { number: call.params[0], hash: `0x${"de".repeat(32)}`, timestamp: "0x1" } }
      : call,
  );
  const outcome = await world.auditAfter(() => undefined, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_MOVED" });
});

test("looks again when the daemon wrote while it looked, so that a passing contradiction is no difference", async () => {
  let repair: (() => void) | undefined;
  const rpcUrl = await twistedNode((call) => {
    // The last thing that a check asks for.
    if (call.method === "eth_getBlockByNumber" && !isTip(call)) repair?.();
    return call;
  });
  const report = await world.auditAfter(
    ({ journal }) => {
      journal.run("UPDATE swaps SET sold = '1' WHERE id = 'own'");
      repair = () => {
        journal.run("UPDATE swaps SET sold = '5000000' WHERE id = 'own'");
        journal.recount();
      };
    },
    { rpcUrl },
  );
  expect(report.differences).toEqual([]);
});

test.each([
  { since: "before Jovian", operator: { operatorFeeScalar: "0x1e8480" }, perGas: 2n },
  { since: "since Jovian", operator: { operatorFeeScalar: "0x3", daFootprintGasScalar: "0x94" }, perGas: 300n },
])("adds the fees of the layer below and of the operator, $since, to what a transaction cost", async (rollup) => {
  const fee = 1_000n;
  const gas = new Map<string, bigint>();
  const rpcUrl = await twistedNode(async (call) => {
    if (call.method !== "eth_getTransactionReceipt") return call;
    const { result } = (await answer(call, call)) as {
      result: { from: string; transactionHash: string; gasUsed: string } | null;
    };
    if (result === null) return { result };
    const isOurs = result.from === world.chain.wallet.address.toLowerCase();
    if (isOurs) gas.set(result.transactionHash, BigInt(result.gasUsed));
    return { result: { ...result, l1Fee: `0x${fee.toString(16)}`, operatorFeeConstant: "0x5", ...rollup.operator } };
  });
  // The daemon notes them beside gas.
  const noted = "UPDATE lane_costs SET data_fee = CAST(? + gas_used * ? AS TEXT)";
  const report = await world.auditAfter(({ journal }) => journal.run(noted, fee + 5n, rollup.perGas), { rpcUrl });
  // The node never took those fees, so the wallet holds more than it should: seven transactions' worth.
  const used = [...gas.values()].reduce((sum, one) => sum + one, 0n);
  const amount = String(7n * (fee + 5n) + used * rollup.perGas);
  expect(report.differences).toEqual([]);
  expect(report.deposits).toContainEqual(expect.objectContaining({ symbol: "ETH", amount }));
});

/** Many nodes find by its hash no transaction that is some weeks old, and still have its block. */
function forgetful(block: number, ofBlocks: (call: Call) => Twisted = (call) => call): Promise<string> {
  return twistedNode(async (call) => {
    if (call.method === "eth_getBlockReceipts") return ofBlocks(call);
    if (call.method !== "eth_getTransactionReceipt") return call;
    const { result } = (await answer(call, call)) as { result: { blockNumber: string } | null };
    return result !== null && Number(result.blockNumber) < block ? { result: null } : { result };
  });
}

/** From this block on the node of the next tests finds transactions by their hashes. */
async function blockOf(swap: string): Promise<number> {
  let block = 0;
  await world.auditAfter(({ journal }) => {
    block = Number(journal.get("SELECT block_number FROM swaps WHERE id = ?", swap));
  });
  return block;
}

test("reads old receipts from their blocks where the node finds transactions by their hashes no more", async () => {
  const rpcUrl = await forgetful(await blockOf("gasless"));
  const report = await world.auditAfter(() => undefined, { rpcUrl });
  expect(report.differences).toEqual([]);
  expect(report.checked).toMatchObject({ fills: 5, transactions: 7 });
});

test("still misses what is not in the block that is recorded", async () => {
  const rpcUrl = await forgetful(await blockOf("gasless"));
  const spoil = "UPDATE swaps SET hash = ? WHERE id = 'for-stranger'";
  const report = await world.auditAfter(({ journal }) => journal.run(spoil, `0x${"99".repeat(32)}`), { rpcUrl });
  expect(report.differences.map(({ code }) => code)).toContain("FILL_MISSING");
});

/** A node that keeps blocks and transactions from this block on. */
function pruned(block: number): Promise<string> {
  return twistedNode(async (call) => {
    const isOld = call.method === "eth_getBlockByNumber" && !isTip(call) && Number(call.params[0]) < block;
    if (isOld) return { result: null };
    if (call.method !== "eth_getTransactionReceipt") return call;
    const { result } = (await answer(call, call)) as { result: { blockNumber: string } | null };
    return result !== null && Number(result.blockNumber) < block ? { result: null } : { result };
  });
}

test("accuses nobody where a node keeps the blocks of old transactions no more, and answers nothing for these", async () => {
  const rpcUrl = await pruned(await blockOf("gasless"));
  // Rows of before times and costs were kept: nothing else asks for these blocks.
  const spoil = ({ journal }: Copy) => {
    journal.run("UPDATE swaps SET block_time_seconds = NULL");
    journal.run("DELETE FROM lane_costs");
  };
  const outcome = await world.auditAfter(spoil, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_UNREADABLE" });
  const { host } = new URL(rpcUrl);
  expect(String(outcome)).toMatch(
    new RegExp(`${host} keeps block [0-9]+ no more: name an endpoint that keeps old blocks`),
  );
});

test("believes no time of a row whose block a node keeps no more", async () => {
  const block = await blockOf("gasless");
  const rpcUrl = await twistedNode((call) =>
    call.method === "eth_getBlockByNumber" && !isTip(call) && Number(call.params[0]) < block ? { result: null } : call,
  );
  const outcome = await world.auditAfter(() => undefined, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_UNREADABLE" });
  expect(String(outcome)).toContain("name an endpoint that keeps old blocks");
});

test.each([
  ["does not know such a question", { error: { code: -32601, message: "the method does not exist" } }],
  ["has none", { result: [] }],
])("accuses nobody where a block has a transaction and the node, asked for its receipts, %s", async (_how, said) => {
  const rpcUrl = await forgetful(await blockOf("gasless"), () => said);
  const outcome = await world.auditAfter(() => undefined, { rpcUrl }).catch((error: unknown) => error);
  expect(outcome).toMatchObject({ code: "CHAIN_UNREADABLE" });
  expect(String(outcome)).toContain("name an endpoint that keeps receipts of old transactions");
});
