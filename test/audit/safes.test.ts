import { id } from "ethers";
import { describe, expect, test } from "vitest";
import { isOfMatter } from "../../src/audit/events.ts";
import { checkFills } from "../../src/audit/fills.ts";
import type { Receipt } from "../../src/audit/node-answers.ts";
import type { SwapRow } from "../../src/audit/rows.ts";
import { checkProposals } from "../../src/audit/safes.ts";
import type { Snapshot } from "../../src/audit/snapshot.ts";
import { type Address, type Hex, toAddress, wordOf } from "../../src/domain/money/address.ts";
import { POOL, ROUTER, USDC, WETH } from "../support/builders.ts";

// What is recorded as the fill of a proposal has to be something that the Safe executed.

const SAFE = toAddress(`0x${"5a".repeat(20)}`);
const HASH: Hex = `0x${"ee".repeat(32)}`;
const WORD: Hex = `0x${"01".repeat(32)}`;
const NOBODY = `0x${"0".repeat(40)}`;
const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const approve = (amount: bigint): string => `095ea7b3${wordOf(POOL).slice(2)}${word(amount)}`;

const asked = {
  domain: { chainId: "31337", verifyingContract: SAFE },
  primaryType: "SafeTx",
  message: {
    ...{ to: POOL, value: "0", data: `0x${approve(1_000n)}${approve(0n)}`, operation: "1", nonce: "0" },
    ...{ safeTxGas: "0", baseGas: "0", gasPrice: "0", gasToken: NOBODY, refundReceiver: NOBODY },
  },
};

/** Codes of what is found where a contract reported an event in the transaction of the fill. */
function found(address: Address, event: string): readonly string[] {
  const swap = {
    ...{ id: "s1", state: "final", mode: "self-executed", wallet: SAFE, recipient: SAFE, hash: HASH },
    ...{ sell_token: USDC.address, amount_in: 1_000n },
  } as SwapRow;
  const row = { swap_id: "s1", kind: "swap", digest: HASH, typed_data: JSON.stringify(asked) };
  const snapshot = { signatures: [row], swaps: new Map([["s1", swap]]) } as unknown as Snapshot;
  const topics = [id(event) as Hex];
  const log = { address, topics, data: "0x", logIndex: 0, transactionHash: HASH, blockNumber: 7 } as const;
  const logs = [log].filter(isOfMatter);
  const receipt: Receipt = { hash: HASH, from: POOL, blockNumber: 7, succeeded: true, cost: 0n, logs };
  return checkProposals(snapshot, new Map([[HASH, receipt]])).map(({ code }) => code);
}

describe("what owners executed at once", () => {
  const log = (address: Address, event: string, ...more: readonly Hex[]) => ({
    ...{ address, topics: [id(event) as Hex, ...more], data: `0x${word(100n)}` as Hex },
    ...{ logIndex: 0, transactionHash: HASH, blockNumber: 7 },
  });
  const move = (token: Address, from: Address, to: Address) =>
    log(token, "Transfer(address,address,uint256)", wordOf(from), wordOf(to));
  const done = (digest: Hex) => log(SAFE, "ExecutionSuccess(bytes32,uint256)", digest);
  const exchange = [move(USDC.address, SAFE, POOL), move(WETH.address, POOL, SAFE)];
  const wages = move(USDC.address, SAFE, ROUTER);
  const byModule = log(SAFE, "ExecutionFromModuleSuccess(address)");

  test.each([
    ["by what was asked for", [wages, done(WORD), ...exchange, done(HASH), wages], []],
    ["by its amount", [wages, done(WORD), ...exchange, byModule, wages, byModule], []],
    ["not at all where one execution did more", [...exchange, wages, done(HASH)], ["SOLD_DIFFERS"]],
  ])("is told apart %s", (_how, logs, codes) => {
    const swap = {
      ...{ id: "s1", state: "final", mode: "self-executed", wallet: SAFE, recipient: SAFE, hash: HASH },
      ...{ sell_token: USDC.address, buy_token: WETH.address, amount_in: 100n, amount_out_min: 90n },
      ...{ sold: 100n, bought: 100n, block_number: 7, sell_decimals: 6, buy_decimals: 18 },
    } as SwapRow;
    const receipt: Receipt = { hash: HASH, from: POOL, blockNumber: 7, succeeded: true, cost: 0n, logs };
    const found = checkFills([swap], {
      ...{ receipts: new Map([[HASH, receipt]]), wrappedNative: WETH.address, settlement: undefined },
      ...{ valueOf: () => 0n, claimedBy: () => [], routerOf: () => undefined, proposedAs: () => HASH },
    });
    expect(found.map(({ code }) => code)).toEqual(codes);
  });

  test.each([
    ["measured by its own execution", [], []],
    ["blamed for what its own execution took beyond it", [wages], ["SOLD_DIFFERS s1"]],
  ])("each of two proposals of one Safe that sell and buy the same is %s", (_how, beyond, differences) => {
    const rows = [
      { id: "s1", bought: 100n, digest: HASH },
      { id: "s2", bought: 95n, digest: WORD },
    ] as const;
    const paid = { ...move(WETH.address, POOL, SAFE), data: `0x${word(95n)}` as Hex };
    const logs = [...exchange, ...beyond, done(HASH), move(USDC.address, SAFE, POOL), paid, done(WORD)];
    const swaps = rows.map(({ id, bought }) => ({
      ...{ id, bought, state: "final", mode: "self-executed", wallet: SAFE, recipient: SAFE, hash: HASH },
      ...{ sell_token: USDC.address, buy_token: WETH.address, amount_in: 100n, amount_out_min: 90n },
      ...{ sold: 100n, block_number: 7, sell_decimals: 6, buy_decimals: 18 },
    })) as SwapRow[];
    const receipt: Receipt = { hash: HASH, from: POOL, blockNumber: 7, succeeded: true, cost: 0n, logs };
    const found = checkFills(swaps, {
      ...{ receipts: new Map([[HASH, receipt]]), wrappedNative: WETH.address, settlement: undefined },
      ...{ valueOf: () => 0n, claimedBy: () => swaps, routerOf: () => undefined },
      proposedAs: (swap) => rows.find(({ id }) => id === swap.id)?.digest,
    });
    expect(found.map(({ code, subject }) => `${code} ${subject.replace("swap ", "")}`)).toEqual(differences);
  });
});

test.each([
  ["its owners executed", SAFE, "ExecutionSuccess(bytes32,uint256)", []],
  ["a module executed for them", SAFE, "ExecutionFromModuleSuccess(address)", []],
  ["a module tried in vain", SAFE, "ExecutionFromModuleFailure(address)", ["MODE_DIFFERS"]],
  ["another Safe executed", POOL, "ExecutionSuccess(bytes32,uint256)", ["MODE_DIFFERS"]],
])("of a proposal whose fill %s is found what it is", (_what, address, event, codes) => {
  expect(found(address, event)).toEqual(codes);
});
