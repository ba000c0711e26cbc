import { z } from "zod";
import { type Address, NATIVE_TOKEN, wordOf } from "../domain/money/address.ts";
import type { Rpc } from "./rpc.ts";
import { quantity } from "./transactions.ts";

/** An account that takes the place of another one, and what it gets beyond what that one has; raw amounts. */
export interface FundedCopy {
  readonly of: Address;
  readonly address: Address;
  readonly extra: ReadonlyMap<Address, bigint>;
}

/** `balanceOf(address)` */
const BALANCE_OF = "0x70a08231";
const COIN = 10n ** 18n;
/** For gas, beyond what the other one has. */
const GAS_MONEY = COIN;

/**
 * Gives accounts on a copy of a chain what those have whose places they take.
 * @returns what each has by then, by token; the gas money is not named
 */
export async function fundCopies(
  rpc: Rpc,
  copies: readonly FundedCopy[],
  tokens: readonly Address[],
): Promise<ReadonlyMap<Address, ReadonlyMap<Address, bigint>>> {
  const funded = new Map<Address, ReadonlyMap<Address, bigint>>();
  for (const { of, address, extra } of copies) {
    const has = new Map<Address, bigint>();
    for (const token of tokens) {
      const amount = (await balanceOf(rpc, token, of)) + (extra.get(token) ?? 0n);
      if (amount > 0n) has.set(token, amount);
      if (token !== NATIVE_TOKEN && amount > 0n) await rpc.call("anvil_dealERC20", address, token, quantity(amount));
    }
    await rpc.call("anvil_setBalance", address, quantity((has.get(NATIVE_TOKEN) ?? 0n) + GAS_MONEY));
    funded.set(address, has);
  }
  return funded;
}

async function balanceOf(rpc: Rpc, token: Address, owner: Address): Promise<bigint> {
  if (token === NATIVE_TOKEN) return BigInt(z.string().parse(await rpc.call("eth_getBalance", owner, "latest")));
  const data = `${BALANCE_OF}${wordOf(owner).slice(2)}`;
  return BigInt(z.string().parse(await rpc.call("eth_call", { to: token, data }, "latest")));
}
