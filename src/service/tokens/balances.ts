import { parseQuantity } from "../../chain/at-block/head.ts";
import { addressWord, callData } from "../../chain/at-block/words.ts";
import { toQuantity } from "../../chain/quantity.ts";
import { type Address, NATIVE_TOKEN } from "../../domain/money/address.ts";
import { MAX_UINT256 } from "../../domain/money/amount.ts";
import { SELECTOR } from "../pools/selectors.ts";
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

/** Wallets whose balances are remembered at one block; those beyond are asked for each time. */
const MAX_WALLETS = 5_000;

export function createBalances(tokens: readonly Address[], { snapshots }: { snapshots: Snapshots }): Balances {
  const contracts = tokens.filter((token) => token !== NATIVE_TOKEN);
  /** At one block a wallet has one balance: who asks again before the next one gets the same answer. */
  const known = new WeakMap<Snapshot, Map<Address, Promise<readonly Balance[]>>>();

  function knownAt(snapshot: Snapshot): Map<Address, Promise<readonly Balance[]>> {
    const before = known.get(snapshot);
    if (before !== undefined) return before;
    const fresh = new Map<Address, Promise<readonly Balance[]>>();
    known.set(snapshot, fresh);
    return fresh;
  }

  async function nativeBalances(wallets: readonly Address[], { head, rpc }: Snapshot): Promise<readonly bigint[]> {
    const block = toQuantity(head.number);
    const answers = await rpc.batch(wallets.map((wallet) => ({ method: "eth_getBalance", params: [wallet, block] })));
    return answers.map((answer) => parseQuantity(rpc.host, answer));
  }

  async function heldBy(wallet: Address, native: Promise<bigint>, snapshot: Snapshot): Promise<readonly Balance[]> {
    const data = callData(SELECTOR.balanceOf, addressWord(wallet));
    const [amount, ...held] = await Promise.all([
      native,
      ...contracts.map(async (token) => (await snapshot.read(token, data, 1))?.[0] ?? 0n),
    ]);
    const all = [
      { wallet, token: NATIVE_TOKEN, amount },
      ...contracts.map((token, place) => ({ wallet, token, amount: held[place] ?? 0n })),
    ];
    return all.filter(({ amount }) => amount > 0n);
  }

  return {
    async of(wallets) {
      const snapshot = await snapshots.current();
      const atBlock = knownAt(snapshot);
      const unknown = wallets.filter((wallet) => !atBlock.has(wallet));
      const natives = nativeBalances(unknown, snapshot);
      const answers = wallets.map((wallet) => {
        const before = atBlock.get(wallet);
        if (before !== undefined) return before;
        const native = natives.then((amounts) => amounts[unknown.indexOf(wallet)] ?? 0n);
        const answer = heldBy(wallet, native, snapshot);
        if (atBlock.size >= MAX_WALLETS) return answer;
        atBlock.set(wallet, answer);
        // A failed read is tried again by the next caller.
        answer.catch(() => atBlock.delete(wallet));
        return answer;
      });
      return (await Promise.all(answers)).flat();
    },
    async allowance({ token, owner, spender }) {
      if (token === NATIVE_TOKEN) return MAX_UINT256;
      const { read } = await snapshots.current();
      const answer = await read(token, callData(SELECTOR.allowance, addressWord(owner), addressWord(spender)), 1);
      return answer?.[0];
    },
  };
}
