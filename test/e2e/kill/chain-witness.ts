import { id } from "ethers";

/** What the chain itself reports a wallet, read without any code of the program. */
export interface ChainWitness {
  /** what left the wallet in each transaction, less what came back, by token; native sales are not in it */
  outflows(wallet: string): Promise<readonly Outflow[]>;
  /** the settlement contract's own events of one owner */
  fills(owner: string): Promise<readonly { readonly hash: string; readonly nonce: bigint }[]>;
  receipt(hash: string): Promise<{ readonly succeeded: boolean } | undefined>;
  /** native coins that a transaction carried */
  value(hash: string): Promise<bigint>;
  nonceOf(account: string): Promise<number>;
  allowance(grant: { token: string; owner: string; spender: string }): Promise<bigint>;
}

export interface Outflow {
  readonly hash: string;
  readonly token: string;
  readonly amount: bigint;
}

const TRANSFER = id("Transfer(address,address,uint256)");
const SWAPPED = id("Swapped(address,uint256,address,address,address,address,uint256,uint256,uint256,address,uint256)");
const ALLOWANCE = id("allowance(address,address)").slice(0, 10);

interface Log {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
}

export function createChainWitness(rpcUrl: string, world: { router: string; tokens: readonly string[] }): ChainWitness {
  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const answer = await fetch(rpcUrl, { method: "POST", headers: { "content-type": "application/json" }, body });
    const { result, error } = (await answer.json()) as { result?: unknown; error?: { message: string } };
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result;
  };
  const logs = async (address: string | readonly string[], topics: readonly (string | null)[]): Promise<Log[]> =>
    (await ask("eth_getLogs", [{ fromBlock: "0x0", toBlock: "latest", address, topics }])) as Log[];
  return {
    outflows: async (wallet) => {
      const topic = topicOf(wallet);
      const net = new Map<string, Outflow>();
      const add = (log: Log, sign: bigint): void => {
        const key = `${log.transactionHash} ${log.address}`;
        const amount = (net.get(key)?.amount ?? 0n) + sign * BigInt(log.data);
        net.set(key, { hash: log.transactionHash, token: log.address.toLowerCase(), amount });
      };
      for (const log of await logs(world.tokens, [TRANSFER, topic])) add(log, 1n);
      for (const log of await logs(world.tokens, [TRANSFER, null, topic])) add(log, -1n);
      return [...net.values()].filter(({ amount }) => amount > 0n);
    },
    fills: async (owner) => {
      const found = await logs(world.router, [SWAPPED, topicOf(owner)]);
      return found.map(({ transactionHash, topics }) => ({ hash: transactionHash, nonce: BigInt(topics[2] ?? "0x0") }));
    },
    receipt: async (hash) => {
      const receipt = (await ask("eth_getTransactionReceipt", [hash])) as { status: string } | null;
      return receipt === null ? undefined : { succeeded: receipt.status === "0x1" };
    },
    value: async (hash) => {
      const transaction = (await ask("eth_getTransactionByHash", [hash])) as { value: string } | null;
      return BigInt(transaction?.value ?? "0x0");
    },
    nonceOf: async (account) => Number(await ask("eth_getTransactionCount", [account, "latest"])),
    allowance: async ({ token, owner, spender }) => {
      const data = `${ALLOWANCE}${topicOf(owner).slice(2)}${topicOf(spender).slice(2)}`;
      return BigInt(String(await ask("eth_call", [{ to: token, data }, "latest"])));
    },
  };
}

function topicOf(address: string): string {
  return `0x${address.toLowerCase().slice(2).padStart(64, "0")}`;
}
