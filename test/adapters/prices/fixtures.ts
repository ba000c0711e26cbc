import { AbiCoder, id } from "ethers";
import { ChainReadError } from "../../../src/domain/chain-read-error.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { parseUsd, type ReferencePrice, type UsdPrice } from "../../../src/domain/money/price.ts";
import type { Token } from "../../../src/domain/money/token.ts";
import type { Chain } from "../../../src/ports/chain.ts";
import type { PriceMissing, PriceSource } from "../../../src/ports/price-source.ts";

export const NOW = 1_800_000_000;
/** Lower than {@link USDC}, so it is token0 of their pool. */
export const WETH: Token = { symbol: "WETH", address: toAddress(`0x${"11".repeat(20)}`), decimals: 18 };
export const USDC: Token = { symbol: "USDC", address: toAddress(`0x${"44".repeat(20)}`), decimals: 6 };

/** Answers by contract and function; a function that is not there reverts. */
export type Answers = Readonly<Record<Address, Readonly<Record<string, Hex>>>>;

export function encode(types: readonly string[], values: readonly unknown[]): Hex {
  return AbiCoder.defaultAbiCoder().encode(types, values) as Hex;
}

export function word(value: bigint | number | Hex): Hex {
  return `0x${BigInt(BigInt.asUintN(256, BigInt(value)))
    .toString(16)
    .padStart(64, "0")}`;
}

/** A chain on which only some contracts answer, and which counts what it is asked. */
export function chainWith(answers: Answers): Chain {
  const bySelector = new Map(
    Object.entries(answers).flatMap(([to, functions]) =>
      Object.entries(functions).map(([name, answer]) => [`${to} ${id(name).slice(0, 10)}`, answer] as const),
    ),
  );
  return {
    call: async ({ to, data }: { to: Address; data: Hex }) => bySelector.get(`${to} ${data.slice(0, 10)}`),
    latest: async () => ({ number: 1, hash: "0x00", timestamp: NOW, baseFeePerGas: 1n }),
  } as unknown as Chain;
}

/** A chain of which no node answers. */
export const DEAD_CHAIN = {
  call: async () => {
    throw new ChainReadError("unreachable", "no node answered");
  },
  latest: async () => {
    throw new ChainReadError("unreachable", "no node answered");
  },
} as unknown as Chain;

export function usd(dollars: string): UsdPrice {
  const parsed = parseUsd(dollars);
  if (parsed === undefined) throw new Error(`no dollars: ${dollars}`);
  return parsed;
}

/** A source that always says the same. */
export function saying(said: string | PriceMissing, source = "feed", atSeconds = NOW): PriceSource {
  const price: ReferencePrice | PriceMissing = typeof said === "string" ? { usd: usd(said), source, atSeconds } : said;
  return { price: async () => price };
}
