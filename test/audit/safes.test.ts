import { id } from "ethers";
import { expect, test } from "vitest";
import { isOfMatter } from "../../src/audit/events.ts";
import type { Receipt } from "../../src/audit/node-answers.ts";
import type { SwapRow } from "../../src/audit/rows.ts";
import { checkProposals } from "../../src/audit/safes.ts";
import type { Snapshot } from "../../src/audit/snapshot.ts";
import { type Address, type Hex, toAddress, wordOf } from "../../src/domain/money/address.ts";
import { POOL, USDC } from "../support/builders.ts";

// What is recorded as the fill of a proposal has to be something that the Safe executed.

const SAFE = toAddress(`0x${"5a".repeat(20)}`);
const HASH: Hex = `0x${"ee".repeat(32)}`;
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

test.each([
  ["its owners executed", SAFE, "ExecutionSuccess(bytes32,uint256)", []],
  ["a module executed for them", SAFE, "ExecutionFromModuleSuccess(address)", []],
  ["a module tried in vain", SAFE, "ExecutionFromModuleFailure(address)", ["MODE_DIFFERS"]],
  ["another Safe executed", POOL, "ExecutionSuccess(bytes32,uint256)", ["MODE_DIFFERS"]],
])("of a proposal whose fill %s is found what it is", (_what, address, event, codes) => {
  expect(found(address, event)).toEqual(codes);
});
