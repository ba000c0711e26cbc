import type { FillQuestion } from "../domain/forecast/forecast.ts";
import { spendersIn } from "../domain/guard/swap-contracts.ts";
import { type Address, NATIVE_TOKEN } from "../domain/money/address.ts";
import { isNative } from "../domain/money/token.ts";
import type { AssumedHoldings, Chain } from "../ports/chain.ts";
import type { EngineContext } from "./engine-context.ts";

/**
 * The chain for a swap of a forecast: its wallet has what earlier swaps of the forecast brought and lacks what they took.
 * Simulations assume that only where the wallet does not have what is sold yet, since not every node can do so.
 * @returns and whether they do
 * @throws ChainReadError when the chain cannot be read
 */
export async function chainAfter(
  { settings, deps: { chain } }: Pick<EngineContext, "settings" | "deps">,
  { spec, swap: { sell }, amount, moved }: FillQuestion,
): Promise<{ readonly chain: Chain; readonly isAssumed: boolean }> {
  if (moved.size === 0) return { chain, isAssumed: false };
  const owner = spec.wallet.address;
  const after = (token: Address, held: bigint): bigint => {
    const sum = held + (moved.get(token) ?? 0n);
    return sum > 0n ? sum : 0n;
  };
  const held = await chain.balance(sell.address, owner);
  const isAssumed = held < amount && after(sell.address, held) >= amount;
  const assumed = isAssumed ? await assumedHoldings() : undefined;

  async function assumedHoldings(): Promise<AssumedHoldings> {
    const native = after(NATIVE_TOKEN, await chain.balance(NATIVE_TOKEN, owner));
    if (isNative(sell)) return { owner, native, balances: [], allowances: [] };
    const token = sell.address;
    const allowances = await Promise.all(
      spendersIn(settings).map(async (spender) => {
        return { token, spender, amount: await chain.allowance({ token, owner, spender }) };
      }),
    );
    return { owner, native, balances: [{ token, amount: after(token, held) }], allowances };
  }

  const seen: Pick<Chain, "balance" | "simulate"> = {
    balance: async (token, holder, block) => {
      const balance = await chain.balance(token, holder, block);
      return holder === owner ? after(token, balance) : balance;
    },
    simulate: (calls, about) => chain.simulate(calls, assumed === undefined ? about : { ...about, assumed }),
  };
  return { chain: Object.assign<Chain, typeof seen>(Object.create(chain), seen), isAssumed };
}
