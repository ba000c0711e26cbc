import { setTimeout as sleep } from "node:timers/promises";
import { createJsonRpc, type JsonRpc } from "../../../src/chain/json-rpc.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { type Contract, deployData } from "../../../src/sandbox/artifacts.ts";
import { startBareAnvil } from "../../support/anvil.ts";

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

/** `flags` are anvil's own, alongside the chain's id. It ends with the test process, however that ends. */
export async function startTestChain(flags: readonly string[] = [], chainId = 31_337): Promise<TestChain> {
  const { rpcUrl: url, stop } = await startBareAnvil({ flags, chainId });
  const rpc = createJsonRpc({ url, timeoutMs: 30_000, maxBytes: 64_000_000 });
  const accounts = (await rpc.call("eth_accounts", [])) as string[];
  const deployer = toAddress(accounts[0] ?? "");
  let sent: Promise<unknown> = Promise.resolve();

  /** One after the other: of two at once the node may give both the same nonce. */
  function handOver(fields: object): Promise<unknown> {
    sent = sent.catch(() => undefined).then(() => rpc.call("eth_sendTransaction", [fields]));
    return sent;
  }

  async function send(transaction: Parameters<TestChain["send"]>[0]) {
    const { value, ...rest } = transaction;
    const fields = {
      from: deployer,
      gas: "0x1c9c380",
      ...rest,
      ...(value ? { value: `0x${value.toString(16)}` } : {}),
    };
    const hash = await handOver(fields);
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
    stop,
  };
}
