import { z } from "zod";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { MAX_UINT256 } from "../../domain/money/amount.ts";
import { type JsonRpc, RpcError } from "../../net/json-rpc.ts";
import { addressWord, callData } from "../chain/words.ts";
import type { Snapshot, Snapshots } from "../pools/snapshots.ts";

export interface Balance {
  readonly wallet: Address;
  readonly token: Address;
  readonly amount: bigint;
}

/** What wallets have, and what others may take of it. */
export interface Balances {
  /** Balances above zero of the listed tokens, all at one block: wallet by wallet, tokens in their order. */
  of(wallets: readonly Address[]): Promise<readonly Balance[]>;
  /** @returns undefined when the address is no token; the native token needs no approval */
  allowance(query: { token: Address; owner: Address; spender: Address }): Promise<bigint | undefined>;
}

const SELECTOR = {
  /** balanceOf(address) */
  balanceOf: "0x70a08231",
  /** allowance(address,address) */
  allowance: "0xdd62ed3e",
} as const;

const quantity = z.string().regex(/^0x[0-9a-f]{1,64}$/i);

export function createBalances(
  tokens: readonly Address[],
  { rpc, snapshots }: { rpc: JsonRpc; snapshots: Snapshots },
): Balances {
  const contracts = tokens.filter((token) => token !== NATIVE_TOKEN);

  async function nativeBalances(wallets: readonly Address[], { head }: Snapshot): Promise<readonly bigint[]> {
    const block = `0x${head.number.toString(16)}`;
    const answers = await rpc.batch(wallets.map((wallet) => ({ method: "eth_getBalance", params: [wallet, block] })));
    return answers.map((answer) => {
      if (answer instanceof RpcError) throw answer;
      return BigInt(quantity.parse(answer));
    });
  }

  return {
    async of(wallets) {
      const snapshot = await snapshots.current();
      const [native, held] = await Promise.all([
        nativeBalances(wallets, snapshot),
        Promise.all(
          wallets.map((wallet) => {
            const data = callData(SELECTOR.balanceOf, addressWord(wallet));
            return Promise.all(contracts.map((token) => snapshot.read(token, data, 1)));
          }),
        ),
      ]);
      const all = wallets.flatMap((wallet, index): Balance[] => [
        { wallet, token: NATIVE_TOKEN, amount: native[index] ?? 0n },
        ...contracts.map((token, place) => ({ wallet, token, amount: held[index]?.[place]?.[0] ?? 0n })),
      ]);
      return all.filter(({ amount }) => amount > 0n);
    },
    async allowance({ token, owner, spender }) {
      if (token === NATIVE_TOKEN) return MAX_UINT256;
      const { read } = await snapshots.current();
      const answer = await read(token, callData(SELECTOR.allowance, addressWord(owner), addressWord(spender)), 1);
      return answer?.[0];
    },
  };
}
