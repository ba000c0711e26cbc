import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { AbiCoder, keccak256 } from "ethers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Hex } from "../../src/domain/money/address.ts";
import { readBody, startHttpServer } from "../support/http-server.ts";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { openToSpoil } from "./support/journal.ts";
import { signTransaction, writeAttempt } from "./support/lane-rows.ts";
import { createTrader } from "./support/trader.ts";
import { buildWorld, type Copy, codesOf, STRANGER, type World } from "./support/world.ts";

// Each test audits a whole chain, on a machine that may be busy with others.
vi.setConfig({ testTimeout: 30_000 });

let world: World;
beforeAll(async () => {
  world = await buildWorld();
});
afterAll(() => world.stop());

/** A person's own transaction with the wallet's key. @returns its nonce and hash */
async function byHand({ chain, journal }: Copy, what: { to: string; data?: Hex; value?: bigint; nonce?: number }) {
  const nonce = what.nonce ?? Number(await chain.rpc.call("eth_getTransactionCount", [chain.wallet.address, "latest"]));
  const { raw } = await signTransaction(chain.wallet, { chainId: chain.chainId, ...what, nonce });
  const { hash, succeeded } = await chain.sendRaw(raw);
  expect([succeeded, journal.get("SELECT count(*) FROM lane_attempts WHERE hash = ?", hash)]).toEqual([true, 0]);
  return { nonce, hash };
}

/** A person released the account when so many of its transactions were counted. */
function release({ journal, chain }: Copy, count: number): void {
  journal.insert("lane_halts", {
    ...{ account: chain.wallet.address.toLowerCase(), chain_id: chain.chainId, reason: "another program uses its key" },
    ...{ transaction_count: count, at_ms: 1, released_by: "ann", released_at_ms: Date.UTC(2026, 10, 28) },
  });
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The same chain, of a node that counts transactions at its newest block alone. */
async function nodeWithoutOldCounts(target: string): Promise<string> {
  const ask = async (calls: readonly Call[]): Promise<Record<string, unknown>[]> => {
    const headers = { "content-type": "application/json" };
    return (await fetch(target, { method: "POST", headers, body: JSON.stringify(calls) })).json() as never;
  };
  const { url } = await startHttpServer(async (request, response) => {
    const calls = JSON.parse(await readBody(request)) as Call[];
    const [tip] = await ask([{ id: 0, method: "eth_blockNumber", params: [], jsonrpc: "2.0" } as Call]);
    const isOld = ({ method, params }: Call): boolean =>
      method === "eth_getTransactionCount" && Number(params[1]) < Number(tip?.result);
    const refusal = { jsonrpc: "2.0", error: { code: -32_000, message: "missing trie node" } };
    const answers = await ask(calls);
    const shown = answers.map((answer, index) => {
      const call = calls[index];
      return call !== undefined && isOld(call) ? { ...refusal, id: call.id } : answer;
    });
    response.writeHead(200).end(JSON.stringify(shown));
  });
  return url;
}

/** A person accepted that tokens left. */
function accept({ journal, chain }: Copy, kind: string, facts: Readonly<Record<string, string>>): void {
  journal.insert("differences", {
    ...{ key: `${kind} ${facts.hash}`, wallet: chain.wallet.address.toLowerCase(), kind, scope: "wallet" },
    ...{ facts: JSON.stringify(facts), text: "no row knows why", found_at_ms: 1, settled_by: "ann", settled_at_ms: 2 },
  });
}

describe("transactions of a person that were accepted with `swapd resume`", () => {
  it("are notes, and what they paid is counted to the wei", async () => {
    const report = await world.auditAfter(async (copy) => {
      await byHand(copy, { to: STRANGER, value: 12_345n });
      const { nonce } = await byHand(copy, { to: copy.chain.wallet.address });
      release(copy, nonce + 1);
    });
    expect(report.differences).toEqual([]);
    expect(report.deposits.length, "no coin too many either").toBe(1);
    expect(report.notes).toEqual([
      expect.stringMatching(
        /^Accepted by ann on 2026-11-28T00:00:00.000Z: nonces 7 to 8 of 0x\w+ were used on the chain by no transaction that is recorded\.$/,
      ),
      expect.stringMatching(
        new RegExp(`^Nonce 7 of 0x\\w+, 0x\\w+, sent 0\\.0{13}12345 native coins to ${STRANGER}\\.$`),
      ),
    ]);
  });

  it("may lie between those of ours, which go on above them", async () => {
    const report = await world.auditAfter(async (copy) => {
      const { USDC, WETH } = copy.chain.tokens;
      const { nonce } = await byHand(copy, { to: STRANGER, value: 5n });
      release(copy, nonce + 1);
      const next = createTrader(copy.chain, copy.journal, nonce + 1);
      await next.swapSelfExecuted({ id: "after", sell: USDC, buy: WETH, amount: 1_000n });
    });
    expect(report.differences).toEqual([]);
    expect(report.notes.length, "who accepted it, and what it sent").toBe(2);
  });

  it("end a transaction of ours whose nonce they took", async () => {
    const report = await world.auditAfter(async (copy) => {
      const { chain, journal } = copy;
      const { nonce } = await byHand(copy, { to: chain.wallet.address });
      release(copy, nonce + 1);
      const account = chain.wallet.address.toLowerCase();
      const data = chain.contracts.usdc.abi.encodeFunctionData("approve", [STRANGER, 0n]) as Hex;
      const to = chain.tokens.USDC.address;
      const signed = await signTransaction(chain.wallet, { chainId: chain.chainId, nonce, to, data, value: 0n });
      journal.insert("lane_intents", {
        ...{ id: "taken", account, chain_id: chain.chainId, purpose: "revoke", to_address: to, data, value: "0" },
        ...{ gas_limit: "1", max_fee_per_gas_cap: String(signed.maxFeePerGas), sign_by_seconds: 1, state: "final" },
        ...{ nonce, outcome: "cancelled", created_at_ms: 1 },
      });
      writeAttempt(journal, { intentId: "taken", kind: "original", nonce, ...signed });
      journal.run("UPDATE lane_attempts SET state = 'dropped' WHERE intent_id = 'taken'");
    });
    expect(report.differences).toEqual([]);
    expect(report.notes.length).toBe(1);
  });

  it("are differences where more came than was counted", async () => {
    const report = await world.auditAfter(async (copy) => {
      const { nonce } = await byHand(copy, { to: STRANGER, value: 5n });
      release(copy, nonce + 1);
      await byHand(copy, { to: STRANGER, value: 5n });
    });
    expect(report.differences.map(({ code, fields }) => [code, fields.from])).toEqual([
      ["FOREIGN_NONCE", "8"],
      ["BALANCE_DIFFERS", undefined],
    ]);
    expect(report.notes.length).toBe(2);
  });

  it("and tokens that they moved are differences until these are accepted as well", async () => {
    const moved = async (copy: Copy): Promise<Record<string, string>> => {
      const { chain } = copy;
      const data = chain.contracts.usdc.abi.encodeFunctionData("transfer", [STRANGER, 9n]) as Hex;
      const { nonce, hash } = await byHand(copy, { to: chain.tokens.USDC.address, data });
      release(copy, nonce + 1);
      return { hash, token: chain.tokens.USDC.address };
    };
    const left = await world.auditAfter(moved);
    expect(codesOf(left)).toEqual(["UNEXPLAINED_OUTFLOW"]);
    const accepted = (amount: string) => async (copy: Copy) =>
      accept(copy, "outflow", { ...(await moved(copy)), amount });
    expect(codesOf(await world.auditAfter(accepted("8")))).toEqual(["UNEXPLAINED_OUTFLOW"]);
    const known = await world.auditAfter(accepted("9"));
    expect(known.differences).toEqual([]);
    expect(known.notes).toContain("Accepted by ann: no row knows why.");
  });

  it.each([
    ["are read from all blocks that they may be in, where the node keeps no old state", 100, 3],
    ["leave a shortfall of coins as a note where these are too many", 1, 2],
  ])("%s", async (_what, maxScannedBlocks, notes) => {
    const rpcUrl = await nodeWithoutOldCounts(world.chain.rpcUrl);
    const handOver = async (copy: Copy): Promise<void> => {
      await byHand(copy, { to: STRANGER, value: 5n });
      const { nonce } = await byHand(copy, { to: STRANGER, value: 12_345n });
      release(copy, nonce + 1);
    };
    const report = await world.auditAfter(handOver, { maxScannedBlocks, rpcUrl });
    expect(report.differences).toEqual([]);
    const unknown = report.notes.filter((note) => note.includes("that a person accepted is not known: the node"));
    expect([report.notes.length, unknown.length]).toEqual([notes, maxScannedBlocks === 1 ? 1 : 0]);
  });
});

describe("what a token took back without an event, once a person accepted it as unproved", () => {
  const USDC_SHORT = 1_000n;
  /** Where the token keeps what an owner has. */
  async function shrink({ chain }: Copy, by: bigint): Promise<{ now: bigint; expected: bigint }> {
    const { usdc } = chain.contracts;
    const expected = BigInt(String(await chain.call(usdc, "balanceOf", chain.wallet.address)));
    for (let slot = 0; slot < 12; slot += 1) {
      const entry = AbiCoder.defaultAbiCoder().encode(["address", "uint256"], [chain.wallet.address, slot]);
      const key = keccak256(entry);
      if (BigInt(String(await chain.rpc.call("eth_getStorageAt", [usdc.address, key, "latest"]))) !== expected)
        continue;
      const left = `0x${(expected - by).toString(16).padStart(64, "0")}`;
      await chain.rpc.call("anvil_setStorageAt", [usdc.address, key, left]);
      await chain.rpc.call("anvil_mine", ["0x1"]);
      return { now: expected - by, expected };
    }
    throw new Error("the token keeps balances elsewhere");
  }
  const accepting = (accepted: bigint) => async (copy: Copy) => {
    const { expected } = await shrink(copy, USDC_SHORT);
    const token = copy.chain.tokens.USDC.address;
    accept(copy, "cannot-prove", { token, now: String(expected - accepted), expected: String(expected) });
  };

  it("is a note", async () => {
    const report = await world.auditAfter(accepting(USDC_SHORT));
    expect(report.differences).toEqual([]);
    expect(report.notes).toContainEqual(
      expect.stringMatching(/holds .* A person accepted that 0\.001 USDC is gone\.$/),
    );
  });

  it.each([
    ["where more is gone than was accepted", accepting(USDC_SHORT - 1n), {}],
    ["where nobody accepted it", (copy: Copy) => shrink(copy, USDC_SHORT), {}],
    ["where it was found before that which is looked at", accepting(USDC_SHORT), { since: { block: 1 } }],
  ])("is a difference %s", async (_where, spoil, options) => {
    expect(codesOf(await world.auditAfter(spoil, options))).toEqual(["BALANCE_DIFFERS"]);
  });
});

it.each([
  ["outflow", {}, /^Find out who it was: .* the key is in other hands\.$/],
  ["nonce", {}, /^Find out who it was: /],
  ["allowance", {}, /^`swapd db accept` takes it back\.$/],
  ["cannot-prove", { readUpTo: "12" }, /^It ends by itself once they are read\.$/],
  ["cannot-prove", { token: STRANGER }, /^It ends by itself once the token answers again\.$/],
  ["cannot-prove", { token: STRANGER, now: "1", expected: "2" }, /^Name an endpoint that keeps logs /],
  ["cannot-prove", { toBlock: "20" }, /^Name an endpoint that keeps logs and start again; accept it /],
  ["lost", {}, /^Restore the database that knows more; /],
])("a finding of the kind %s with the facts %j that nobody accepted says what helps", async (kind, facts, advice) => {
  const report = await world.auditAfter((copy) => {
    accept(copy, kind, facts);
    copy.journal.run("UPDATE differences SET settled_by = NULL, settled_at_ms = NULL");
  });
  expect(codesOf(report)).toEqual(["DATABASE_BEHIND"]);
  const [, said] = report.differences[0]?.message.split("is behind: no row knows why. ") ?? [];
  expect(said).toMatch(advice);
});

it.each(["USDC", "ETH"] as const)("a fill of %s that a person accepted is no outflow any more", async (sold) => {
  const rows = join(temporaryDirectory(), "lost.db");
  const amount = sold === "ETH" ? 10n ** 15n : 100_000n;
  const trade = async (copy: Copy): Promise<Record<string, string>> => {
    const { tokens } = copy.chain;
    copyFileSync(world.database, rows);
    const lost = openToSpoil(rows);
    const order = { id: "lost", sell: tokens[sold], buy: sold === "ETH" ? tokens.USDC : tokens.DAI, amount };
    const { hash } = await createTrader(copy.chain, lost).swapSelfExecuted(order);
    release(copy, Number(lost.get("SELECT max(nonce) + 1 FROM lane_intents")));
    lost.close();
    return { hash, sell: tokens[sold].address };
  };
  expect(codesOf(await world.auditAfter(trade))).toEqual(["UNEXPLAINED_OUTFLOW"]);
  const report = await world.auditAfter(async (copy) =>
    accept(copy, "fill", { ...(await trade(copy)), sold: String(amount) }),
  );
  expect(report.differences).toEqual([]);
});
