import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { createJsonRpc, type JsonRpc } from "../../../src/net/json-rpc.ts";
import { findAnvil } from "../../../src/sandbox/anvil-binary.ts";
import { type Contract, deployData } from "../../../src/sandbox/artifacts.ts";
import { claimPort } from "../../../src/sandbox/free-port.ts";

/** A bare chain of its own for one test file, mining a block for each transaction. */
export interface TestChain {
  readonly rpc: JsonRpc;
  readonly url: string;
  /** an unlocked account with plenty of the native token */
  readonly deployer: Address;
  send(transaction: { to?: Address; data?: Hex; value?: bigint; from?: Address }): Promise<Address | undefined>;
  deploy(contract: Contract, values?: readonly unknown[]): Promise<Address>;
  call(transaction: { to: Address; data: Hex; from?: Address; value?: bigint }): Promise<Hex>;
  stop(): Promise<void>;
}

export async function startTestChain(...flags: readonly string[]): Promise<TestChain> {
  const port = await claimPort(0);
  const child = spawn(
    findAnvil(),
    ["--port", String(port), "--host", "127.0.0.1", "--silent", "--slots-in-an-epoch", "1", ...flags],
    { stdio: "ignore" },
  );
  const url = `http://127.0.0.1:${port}`;
  const rpc = createJsonRpc({ url, timeoutMs: 30_000, maxBytes: 64_000_000 });
  const accounts = await whenUp(rpc);
  const deployer = toAddress(accounts[0] ?? "");

  async function send(transaction: Parameters<TestChain["send"]>[0]) {
    const { value, ...rest } = transaction;
    const fields = {
      from: deployer,
      gas: "0x1c9c380",
      ...rest,
      ...(value ? { value: `0x${value.toString(16)}` } : {}),
    };
    const hash = await rpc.call("eth_sendTransaction", [fields]);
    for (let attempt = 0; ; attempt += 1) {
      const receipt = (await rpc.call("eth_getTransactionReceipt", [hash])) as {
        status: string;
        contractAddress?: string;
      } | null;
      if (receipt?.status === "0x1") {
        return receipt.contractAddress ? toAddress(receipt.contractAddress) : undefined;
      }
      if (receipt !== null) throw new Error(`transaction to ${transaction.to ?? "a new contract"} reverted`);
      if (attempt > 200) throw new Error("transaction was not mined");
      await sleep(25);
    }
  }

  return {
    rpc,
    url,
    deployer,
    send,
    async deploy(contract, values = []) {
      const address = await send({ data: deployData(contract, values) });
      if (address === undefined) throw new Error("no contract was created");
      return address;
    },
    async call({ value, ...rest }) {
      const fields = { from: deployer, ...rest, ...(value ? { value: `0x${value.toString(16)}` } : {}) };
      return (await rpc.call("eth_call", [fields, "latest"])) as Hex;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function whenUp(rpc: JsonRpc): Promise<string[]> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return (await rpc.call("eth_accounts", [])) as string[];
    } catch (error) {
      if (attempt > 200) throw error;
      await sleep(25);
    }
  }
}
