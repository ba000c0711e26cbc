import { Wallet } from "ethers";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { TestChain } from "./chain.ts";

const TOKEN = loadContract("PermitToken").abi;

interface WireTypedData {
  readonly domain: Record<string, string>;
  readonly types: Record<string, { name: string; type: string }[]>;
  readonly message: Record<string, string>;
}

/** Somebody with tokens and a key, and without a wei for gas. */
export interface TestWallet {
  readonly address: Address;
  sign(typedData: WireTypedData): Promise<Hex>;
}

export function createWallet(): TestWallet {
  const wallet = new Wallet(Wallet.createRandom().privateKey);
  return {
    address: toAddress(wallet.address),
    sign: async ({ domain, types, message }) => (await wallet.signTypedData(domain, types, message)) as Hex,
  };
}

export async function giveTokens(
  chain: TestChain,
  token: Address,
  gift: { to: Address; amount: bigint },
): Promise<void> {
  const data = TOKEN.encodeFunctionData("transfer", [gift.to, gift.amount]) as Hex;
  // Gifts at once go into one block.
  await chain.send({ to: token, data, gas: "0x7a120" });
}

export async function balanceOf(chain: TestChain, token: Address, owner: Address): Promise<bigint> {
  return BigInt(await chain.call({ to: token, data: TOKEN.encodeFunctionData("balanceOf", [owner]) as Hex }));
}
