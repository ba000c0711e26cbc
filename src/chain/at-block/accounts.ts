import type { Address } from "../../domain/money/address.ts";
import { type JsonRpc, RpcError } from "../json-rpc.ts";

/** Whether there is an account at an address at all: one that has native token, sent a transaction, or has code. */
export interface Accounts {
  /** @throws RpcError when the node does not answer */
  exists(address: Address): Promise<boolean>;
}

/** An account that exists goes on existing, but for a reorganisation: only those are remembered. */
const MAX_ACCOUNTS = 20_000;

const QUESTIONS = ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"];

export function createAccounts(rpc: JsonRpc): Accounts {
  const existing = new Set<Address>();
  return {
    async exists(address) {
      if (existing.has(address)) return true;
      const answers = await rpc.batch(QUESTIONS.map((method) => ({ method, params: [address, "latest"] })));
      for (const answer of answers) if (answer instanceof RpcError) throw answer;
      const exists = answers.some((answer) => typeof answer === "string" && /[1-9a-f]/i.test(answer.slice(2)));
      if (!exists) return false;
      if (existing.size >= MAX_ACCOUNTS) existing.clear();
      existing.add(address);
      return true;
    },
  };
}
