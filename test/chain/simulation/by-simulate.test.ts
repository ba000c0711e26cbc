import { expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../../src/chain/chain.ts";
import { approvalsOf, transfersOf } from "../../../src/chain/token-logs.ts";
import { type Hex, NATIVE_TOKEN, toAddress } from "../../../src/domain/money/address.ts";
import { MAX_UINT256 } from "../../../src/domain/money/amount.ts";
import { Secret } from "../../../src/net/secret.ts";
import { ANVIL_ACCOUNT, OTHER_ACCOUNT, startBareAnvil } from "../../support/bare-anvil.ts";
import { deploy, sendAndMine } from "../../support/contracts.ts";
import { startRpcProxy } from "../../support/rpc-proxy.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";

const chainOver = (url: string) =>
  createChain({ rpcUrls: [new Secret(url)], chainId: 31337, trialWays: ["simulate"] }, { clock: systemClock });

test("calls run one on top of the other, and token moves, native moves and allowances are all seen", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver(anvil.url);
  const { address: token, abi } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  await sendAndMine(anvil, { to: token, data: abi.encodeFunctionData("mint", [ANVIL_ACCOUNT, 100n]) as Hex });
  const data = (name: string, args: unknown[]) => abi.encodeFunctionData(name, args) as Hex;
  const outcome = await chain.simulate([
    { from: ANVIL_ACCOUNT, to: token, data: data("approve", [OTHER_ACCOUNT, 60n]), value: 0n },
    { from: OTHER_ACCOUNT, to: token, data: data("transferFrom", [ANVIL_ACCOUNT, OTHER_ACCOUNT, 60n]), value: 0n },
    { from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, data: "0x", value: 9n },
  ]);
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  expect(outcome.transfers).toEqual([
    { token, from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, amount: 60n },
    { token: NATIVE_TOKEN, from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, amount: 9n },
  ]);
  expect(outcome.approvals).toEqual([{ token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT, amount: 60n }]);
  expect(outcome.gasUsedByCall).toHaveLength(3);
  expect(outcome.gasUsedByCall[2]).toBe(21_000n);
  expect(outcome.gasUsed).toBe(outcome.gasUsedByCall.reduce((sum, gas) => sum + gas));
  expect(await chain.balance(token, OTHER_ACCOUNT)).toBe(0n);
});

test("a call that reverts makes the whole simulation reverted, with the contract's reason", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver(anvil.url);
  const { address: token, abi } = await deploy(anvil, "PermitToken", ["USD Coin", "USDC", 6]);
  const data = abi.encodeFunctionData("transfer", [OTHER_ACCOUNT, 1n]) as Hex;
  const outcome = await chain.simulate([
    { from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, data: "0x", value: 9n },
    { from: OTHER_ACCOUNT, to: token, data, value: 0n },
  ]);
  const selector = abi.getError("ERC20InsufficientBalance")?.selector;
  expect(outcome).toEqual({ kind: "reverted", way: "simulate", reason: `custom error ${selector}` });
});

test("contracts see the height and time of the next block, not those of a block long ago", async () => {
  const anvil = await startBareAnvil();
  const chain = chainOver(anvil.url);
  await anvil.mine(3);
  const witness = toAddress("0x00000000000000000000000000000000000000cc");
  // Logs a transfer from (block number) to (caller) of (timestamp).
  const code = `0x426000523343${`7f${TRANSFER.slice(2)}`}60206000a300`;
  await anvil.rpc.call("anvil_setCode", [witness, code]);
  const outcome = await chain.simulate([{ from: ANVIL_ACCOUNT, to: witness, data: "0x", value: 0n }]);
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  const [seen] = outcome.transfers;
  const head = await chain.latest();
  expect(BigInt(seen!.from)).toBe(BigInt(head.number + 1));
  expect(seen!.amount).toBeGreaterThan(BigInt(head.timestamp));
});

const PLAIN_CALL = { from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, data: "0x", value: 1n } as const;

test.each([
  ["is missing", -32601, "Method not found"],
  ["crashes", -32603, "method handler crashed"],
  ["breaks", -32603, "internal error"],
  ["is forbidden", -32600, "method not allowed"],
  ["is not on the plan", -32001, "access denied"],
  ["is older", -32602, "invalid argument 0: json: unknown field"],
])("a simulation that %s at the only node is unavailable, and that is its reason", async (_why, code, message) => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  proxy.fault("eth_simulateV1", { kind: "error", code, message });
  const outcome = await chainOver(proxy.url).simulate([PLAIN_CALL]);
  if (outcome.kind !== "unavailable") throw new Error(JSON.stringify(outcome));
  const host = new URL(proxy.url).hostname;
  expect(outcome.reason).toContain(`no RPC endpoint can try it out by eth_simulateV1: ${host}`);
  expect(outcome.reason).toContain(message);
});

test("a simulation whose answer is lost says nothing of the node's abilities", async () => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  proxy.fault("eth_simulateV1", { kind: "drop-after", loss: "502" });
  await expect(chainOver(proxy.url).simulate([PLAIN_CALL])).rejects.toThrow(/no RPC endpoint can try it out/);
});

test("transfers and allowances of unusual tokens are seen too", () => {
  const token = toAddress(`0x${"7".repeat(40)}`);
  const word = (text: string): Hex => `0x${text.padStart(64, "0")}`;
  const [owner, spender] = [word(ANVIL_ACCOUNT.slice(2)), word(OTHER_ACCOUNT.slice(2))];
  const forAll = "0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31";
  const log = (topics: Hex[], words: Hex[]) => ({
    ...{ address: token, topics, logIndex: 0 },
    data: `0x${words.map((w) => w.slice(2)).join("")}` as Hex,
  });
  const move = { token, from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, amount: 12n };
  expect(transfersOf([log([TRANSFER, owner, spender], [word("c")])])).toEqual([move]);
  expect(transfersOf([log([TRANSFER], [owner, spender, word("c")])])).toEqual([move]);
  expect(transfersOf([log([TRANSFER, owner, spender, word("c")], [])])).toEqual([move]);
  const approval = { token, owner: ANVIL_ACCOUNT, spender: OTHER_ACCOUNT };
  expect(approvalsOf([log([forAll, owner, spender], [word("1")])])).toEqual([{ ...approval, amount: MAX_UINT256 }]);
  expect(approvalsOf([log([forAll, owner, spender], [word("0")])])).toEqual([{ ...approval, amount: 0n }]);
});
