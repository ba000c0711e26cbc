import { openDatabase } from "../../../src/storage/database.ts";
import type { TestChain } from "./chain.ts";
import type { Answer, Client } from "./client.ts";
import type { Market } from "./market.ts";

/** Gas that a quote expects: its cost over the gas price of the block that it stands on. */
export async function expectedGas(chain: TestChain, quote: Answer["body"]): Promise<number> {
  const number = `0x${Number(quote.blockNumber).toString(16)}`;
  const block = (await chain.rpc.call("eth_getBlockByNumber", [number, false])) as { baseFeePerGas: string };
  const tip = BigInt((await chain.rpc.call("eth_maxPriorityFeePerGas", [])) as string);
  const price = BigInt(block.baseFeePerGas) + tip;
  const cost = BigInt(quote.fees.find((fee: { type: string }) => fee.type === "gas").value);
  if (cost % price !== 0n) throw new Error(`a gas cost of ${cost} is no multiple of the gas price ${price}`);
  return Number(cost / price);
}

/** How much more, in parts of one, the relayer reckoned with than a quote, when a simulation let it take the swap. */
export function reckonedBeyond(database: string, quote: Answer["body"]): number {
  const db = openDatabase({ file: database, readonly: true });
  try {
    const cost = db.prepare("SELECT expected_cost FROM relays WHERE intent_id = ?").pluck().get(`relay-${quote.id}`);
    return Number(cost) / Number(quote.fees.find((fee: { type: string }) => fee.type === "gas").value) - 1;
  } finally {
    db.close();
  }
}

/** How far the expectation is from the receipt, in parts of one; above zero: it expected more. */
export function deviation(expected: number, receipt: number): number {
  return (expected - receipt) / receipt;
}

/** Chains move on by a second a block at least: some slots of pools change once a second. */
export async function blocksOfSeconds(chain: TestChain): Promise<void> {
  await chain.rpc.call("anvil_setBlockTimestampInterval", [1]);
}

/**
 * Trades through each pool in both directions, so that none is new: one that never traded has zeros where others have
 * numbers, and its first trade costs more.
 */
export async function seasonPools(
  chain: TestChain,
  market: Market,
  client: Client,
  maker: "uniswap" | "pancakeswap" | "slipstream" = "uniswap",
): Promise<void> {
  const { weth, usdc, dai, usdt } = market;
  const few = new Map([
    [weth, 10n ** 15n],
    [usdc, 3_000_000n],
    [dai, 3n * 10n ** 18n],
    [usdt, 3_000_000n],
  ]);
  for (const [a, b, source] of [
    [weth, usdc, "v2"],
    [weth, usdc, "v3"],
    [weth, dai, "v2"],
    [weth, usdt, "v2"],
    [usdc, usdt, "v2"],
    [usdc, usdt, "v3"],
  ] as const) {
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const { status, body } = await client.get("/aggregator/quote/transaction", {
        ...{ network: "testnet", fromTokenAddress: from, toTokenAddress: to, amount: String(few.get(from)) },
        ...{ slippage: "0.5", gasless: "false", fromAddress: chain.deployer },
        liquiditySources: maker === "slipstream" ? maker : `${maker}-${source}`,
      });
      // Not every market has all of them.
      if (status !== 200) continue;
      const { data, to: target } = body.transaction;
      await chain.send({ to: target, data });
    }
  }
}

/** The median and the worst of some deviations, by size. */
export function summary(deviations: readonly number[]): { readonly median: number; readonly worst: number } {
  const sizes = deviations.map(Math.abs).sort((a, b) => a - b);
  return { median: sizes[Math.floor(sizes.length / 2)] ?? 0, worst: sizes.at(-1) ?? 0 };
}
