import { z } from "zod";
import { type Address, type Hex, toAddress } from "../domain/money/address.ts";
import type { Contract } from "./artifacts.ts";
import type { Rpc, RpcCall } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";

/** A transaction from one of the node's own unlocked accounts. Without `to` it deploys. */
export interface Sending {
  /** What it does, for an error. */
  readonly label: string;
  readonly from: Address;
  readonly to?: Address;
  readonly data: Hex;
  readonly value?: bigint;
  /** Gas limit, where the usual one of a set-up does not do. */
  readonly gas?: bigint;
}

/** Hands out the nonces of the accounts that build the sandbox. */
export type Nonces = Map<Address, number>;

const receiptSchema = z.object({ status: z.string() });
const countSchema = z.string().transform((text) => Number(text));

/** A quantity as JSON-RPC writes it. */
export function quantity(value: bigint | number): Hex {
  return `0x${value.toString(16)}`;
}

/** Encodes a call of a contract's function. */
export function encodeCall(contract: Contract, method: string, ...values: readonly unknown[]): Hex {
  return contract.abi.encodeFunctionData(method, values) as Hex;
}

/** The next nonces of accounts, from the chain. */
export async function readNonces(rpc: Rpc, accounts: readonly Address[]): Promise<Nonces> {
  const counts = await rpc.batch(
    accounts.map((account) => ({ method: "eth_getTransactionCount", params: [account, "pending"] })),
  );
  return new Map(accounts.map((account, index) => [account, countSchema.parse(counts[index])]));
}

/** Takes the next nonce of an account. @throws Error when the account's nonces were not read before */
export function takeNonce(nonces: Nonces, account: Address): number {
  const nonce = nonces.get(account);
  if (nonce === undefined) throw new Error(`the nonces of ${account} were not read`);
  nonces.set(account, nonce + 1);
  return nonce;
}

/** Fees of a transaction, in wei per gas. */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The JSON-RPC call that sends a transaction. Nonce and gas are given, so that a batch may run in any order. */
export function sendCall(sending: Sending, nonce: number, gas: bigint, fees: Fees): RpcCall {
  const transaction = {
    from: sending.from,
    ...(sending.to === undefined ? {} : { to: sending.to }),
    data: sending.data,
    value: quantity(sending.value ?? 0n),
    nonce: quantity(nonce),
    gas: quantity(gas),
    maxFeePerGas: quantity(fees.maxFeePerGas),
    maxPriorityFeePerGas: quantity(fees.maxPriorityFeePerGas),
  };
  return { method: "eth_sendTransaction", params: [transaction] };
}

/** A full block raises the base fee by an eighth, and a set-up fills a few: far above what they can reach. */
const SETUP_FEES: Fees = { maxFeePerGas: 200_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
/** What a call needs at most. A block holds as many transactions as their limits allow, so this is no waste. */
const CALL_GAS = 700_000n;
/** What a deployment needs at most: Uniswap's V3 factory and pools take about 5 million each. */
export const DEPLOY_GAS = 6_000_000n;
const MAX_BLOCKS_PER_PHASE = 20;

/**
 * Sends transactions, mines until all are in blocks, and checks that none reverted.
 * @throws SandboxError `SETUP_REVERTED` naming the first that did
 */
export async function perform(rpc: Rpc, nonces: Nonces, sendings: readonly Sending[]): Promise<void> {
  const calls = sendings.map((sending) => {
    const gas = sending.gas ?? (sending.to === undefined ? DEPLOY_GAS : CALL_GAS);
    return sendCall(sending, takeNonce(nonces, sending.from), gas, SETUP_FEES);
  });
  const hashes = z.array(z.string()).parse(await rpc.batch(calls));
  for (let blocks = 0; blocks < MAX_BLOCKS_PER_PHASE; blocks += 1) {
    await rpc.call("evm_mine");
    const receipts = await rpc.batch(hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })));
    if (receipts.includes(null)) continue;
    const reverted = receipts.findIndex((receipt) => receiptSchema.parse(receipt).status !== "0x1");
    if (reverted === -1) return;
    const label = sendings[reverted]?.label ?? "a transaction";
    throw new SandboxError("SETUP_REVERTED", `Building the sandbox: ${label} reverted (${hashes[reverted]}).`);
  }
  throw new SandboxError("SETUP_REVERTED", `Building the sandbox: not mined within ${MAX_BLOCKS_PER_PHASE} blocks.`);
}

/** Reads one address from a contract, for each call. */
export async function readAddresses(
  rpc: Rpc,
  calls: readonly { contract: Contract; to: Address; method: string; values: readonly unknown[] }[],
): Promise<Address[]> {
  const answers = await rpc.batch(
    calls.map(({ contract, to, method, values }) => ({
      method: "eth_call",
      params: [{ to, data: encodeCall(contract, method, ...values) }, "latest"],
    })),
  );
  return answers.map((answer, index) => {
    const call = calls[index];
    if (call === undefined) throw new Error("more answers than calls");
    return toAddress(String(call.contract.abi.decodeFunctionResult(call.method, z.string().parse(answer))[0]));
  });
}
