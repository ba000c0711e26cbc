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
  /** with a whole block's gas, where none is named */
  send(transaction: {
    to?: Address;
    data?: Hex;
    value?: bigint;
    from?: Address;
    gas?: Hex;
  }): Promise<Address | undefined>;
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
  const handOver = senderInTurn(rpc);

  async function send(transaction: Parameters<TestChain["send"]>[0]) {
    const { value, ...rest } = transaction;
    const fields = {
      from: deployer,
      gas: "0x1c9c380",
      ...rest,
      ...(value ? { value: `0x${value.toString(16)}` } : {}),
    };
    const { status, contractAddress } = await handOver(fields);
    if (status !== "0x1") throw new Error(`transaction to ${transaction.to ?? "a new contract"} reverted`);
    return contractAddress ? toAddress(contractAddress) : undefined;
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

interface MinedReceipt {
  readonly status: string;
  readonly contractAddress?: string;
}

/**
 * Sends with nonces of its own and waits until each is mined. While a block is being mined anvil may give a transaction the
 * nonce of one that is in its pool already: the second then replaces the first or is refused as underpriced.
 */
function senderInTurn(rpc: JsonRpc): (fields: { readonly from: Address }) => Promise<MinedReceipt> {
  /** by account, the nonce after the last one sent, as long as one of its transactions is not mined */
  const next = new Map<Address, { nonce: number; unmined: number }>();
  let turn: Promise<unknown> = Promise.resolve();

  async function handOver(fields: { readonly from: Address }): Promise<unknown> {
    const pending = Number(await rpc.call("eth_getTransactionCount", [fields.from, "pending"]));
    const own = next.get(fields.from);
    const nonce = Math.max(pending, own?.nonce ?? 0);
    const hash = await rpc.call("eth_sendTransaction", [{ ...fields, nonce: `0x${nonce.toString(16)}` }]);
    next.set(fields.from, { nonce: nonce + 1, unmined: (next.get(fields.from)?.unmined ?? 0) + 1 });
    return hash;
  }

  async function mined(hash: unknown): Promise<MinedReceipt> {
    for (let attempt = 0; attempt < 400; attempt += 1) {
      const receipt = (await rpc.call("eth_getTransactionReceipt", [hash])) as MinedReceipt | null;
      if (receipt !== null) return receipt;
      await sleep(25);
    }
    throw new Error("transaction was not mined");
  }

  return async (fields) => {
    const sent = turn.catch(() => undefined).then(() => handOver(fields));
    turn = sent;
    const hash = await sent;
    try {
      return await mined(hash);
    } finally {
      const own = next.get(fields.from);
      if (own !== undefined) own.unmined -= 1;
      if (own?.unmined === 0) next.delete(fields.from);
    }
  };
}
