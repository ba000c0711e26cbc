import { expect } from "vitest";
import { RpcError } from "../../../src/chain/json-rpc.ts";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import { loadContract } from "../../../src/sandbox/artifacts.ts";
import type { Pool, PoolQuote, PoolState } from "../../../src/service/pools/pool.ts";
import { createSnapshots, type Snapshot } from "../../../src/service/pools/snapshots.ts";
import { sqrtRatioAtTick } from "../../../src/service/pools/uniswap-v3/tick-math.ts";
import type { TestChain } from "./chain.ts";
import type { createRandomAmounts } from "./random-amounts.ts";
import { systemClock } from "./system-clock.ts";

// Random trades in pools with liquidity in price ranges: quoted, and then executed by the exchange's own contracts.

type RandomAmounts = ReturnType<typeof createRandomAmounts>;

/** `npm run test:quoted` compares more. */
const QUOTED_TRADES = process.env.SWAPD_QUOTED_SWAPS === undefined ? 400 : 2_400;
const MAX_LOADS = 6;
const TOKEN = loadContract("PermitToken");

/** A token of which the chain's deployer has plenty, and which this contract may take from it. */
export async function newTokenFor(chain: TestChain, spender: Address, decimals: number): Promise<Address> {
  const token = await chain.deploy(TOKEN, ["a token", "TKN", decimals]);
  const call = (method: string, values: unknown[]) => TOKEN.abi.encodeFunctionData(method, values) as Hex;
  await chain.send({ to: token, data: call("mint", [chain.deployer, 10n ** 40n]) });
  await chain.send({ to: token, data: call("approve", [spender, (1n << 256n) - 1n]) });
  return token;
}

/** The chain's newest block, as a service reads it. */
export async function snapshotAtHead(chain: TestChain): Promise<Snapshot> {
  const snapshots = createSnapshots({ rpc: chain.rpc, mode: "override" }, systemClock);
  const current = await snapshots.current();
  snapshots.stop();
  return current;
}

/** Some positions around a price that is no tick's. */
export function randomRanges(random: RandomAmounts, spacing: number) {
  const tick = random.integer(-200_000, 200_000);
  const center = Math.floor(tick / spacing) * spacing;
  const end = Math.floor(887_200 / spacing) * spacing;
  const positions = Array.from({ length: random.integer(2, 6) }, () => {
    const lower = Math.max(center + spacing * random.integer(-300, 200), -end);
    return {
      lower,
      upper: Math.min(lower + spacing * random.integer(1, 400), end),
      liquidity: random.magnitude(8, 22),
    };
  });
  return { sqrtPrice: sqrtRatioAtTick(tick) + BigInt(random.integer(0, 20_000)), positions };
}

/** The quote with everything read that it needs; undefined where the pool does not take the amount. */
export async function filledQuote(state: PoolState, tokenIn: Address, amountIn: bigint) {
  for (let loads = 0; loads <= MAX_LOADS; loads += 1) {
    const quote: PoolQuote = state.quote(tokenIn, amountIn);
    if (quote.kind !== "unread") return quote.kind === "filled" ? quote : undefined;
    await quote.load();
  }
  return undefined;
}

interface Trade {
  readonly pool: Pool;
  readonly zeroForOne: boolean;
  readonly amounts: readonly bigint[];
  readonly quoted: readonly bigint[];
}

/** How trades are executed, and what an execution says of each of its parts. */
interface Execution {
  readonly chain: TestChain;
  readonly random: RandomAmounts;
  readonly seed: number;
  selling(pool: Pool, zeroForOne: boolean, amounts: readonly bigint[]): object;
  soldOf(answer: Hex): { readonly taken: readonly bigint[]; readonly paid: readonly bigint[] };
}

/** Quotes one or two trades after each other, where the pool takes them. */
async function quoteTrade(state: PoolState, random: RandomAmounts): Promise<Trade | undefined> {
  const parts = random.integer(1, 2);
  const zeroForOne = random.integer(0, 1) === 0;
  const tokenIn = zeroForOne ? state.pool.token0 : state.pool.token1;
  const [amounts, quoted]: [bigint[], bigint[]] = [[], []];
  let at = state;
  for (let part = 0; part < parts; part += 1) {
    const amountIn = random.magnitude(3, 25);
    const quote = await filledQuote(at, tokenIn, amountIn);
    if (quote === undefined) return undefined;
    amounts.push(amountIn);
    quoted.push(quote.amountOut);
    at = quote.after;
  }
  return { pool: state.pool, zeroForOne, amounts, quoted };
}

async function compare({ chain, seed, selling, soldOf }: Execution, trades: readonly Trade[]): Promise<void> {
  const requests = trades.map(({ pool, zeroForOne, amounts }) => {
    return { method: "eth_call", params: [{ from: chain.deployer, ...selling(pool, zeroForOne, amounts) }, "latest"] };
  });
  for (const [index, answer] of (await chain.rpc.batch(requests)).entries()) {
    const { pool, zeroForOne, amounts, quoted } = trades[index]!;
    const context = `${amounts.join(" and ")} ${zeroForOne ? "up" : "down"} in the pool of ${pool.feePips}, seed ${seed}`;
    if (answer instanceof RpcError) throw new Error(`quoted but not executable: ${context}: ${answer.message}`);
    expect(soldOf(answer as Hex), context).toEqual({ taken: amounts, paid: quoted });
  }
}

/** Expects of many random trades that they pay what was quoted, to the wei; some in each fee and direction. */
export async function expectPaidAsQuoted(
  execution: Execution,
  states: readonly PoolState[],
  fees: Iterable<number>,
): Promise<void> {
  const { random } = execution;
  const counts = new Map<string, number>();
  let compared = 0;
  for (let round = 0; compared < QUOTED_TRADES && round < 100; round += 1) {
    const trades: Trade[] = [];
    for (let count = 0; count < 200; count += 1) {
      const trade = await quoteTrade(states[random.integer(0, states.length - 1)]!, random);
      if (trade === undefined) continue;
      trades.push(trade);
      const key = `${trade.pool.feePips} ${trade.zeroForOne}`;
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    await compare(execution, trades);
    compared += trades.length;
  }
  expect(compared).toBeGreaterThanOrEqual(QUOTED_TRADES);
  for (const fee of fees)
    for (const up of [true, false]) expect(counts.get(`${fee} ${up}`) ?? 0, `${fee} ${up}`).toBeGreaterThan(5);
}
