import { z } from "zod";
import type { Address } from "../../domain/money/address.ts";
import { FEED_OWNER, TRADER } from "../accounts.ts";
import { type Contract, loadContract, loadUniswap } from "../artifacts.ts";
import { SETUP_BLOCKS, SYMBOLS, type TokenSymbol } from "../plan.ts";
import type { Rpc, RpcCall } from "../rpc.ts";
import { encodeCall, type Fees, type Nonces, type Sending, sendCall, takeNonce } from "../transactions.ts";
import type { SandboxWorld } from "../world.ts";
import { PricePath, type Prices } from "./prices.ts";
import { alignment, noise, type PoolState, type Trade } from "./trades.ts";

/** Moves prices: everything it does lands in the next block, if that is mined after the call has returned. */
interface Market {
  /** Sends the trades and the prices of the next block. */
  prepareBlock(): Promise<void>;
  /** Publishes the last prices once more, as a feed does at its heartbeat. */
  prepareHeartbeat(): Promise<void>;
}

/** Below the usual tip of 1 gwei, so that a transaction with that tip is mined before the market moves. */
const MARKET_FEES: Fees = { maxFeePerGas: 500_000_000_000n, maxPriorityFeePerGas: 10_000_000n };
const TRADE_GAS = 1_000_000n;
const PUBLISH_GAS = 200_000n;

/** The feeds of these are written in every block, the others, which hardly move, in every fifth. */
const MOVING_SYMBOLS: readonly TokenSymbol[] = ["WETH", "WBTC"];
const DOLLAR_FEED_STEPS = 5;

interface Contracts {
  readonly pair: Contract;
  readonly pool: Contract;
  readonly minter: Contract;
  readonly feed: Contract;
}

interface Snapshot {
  readonly blockNumber: number;
  readonly nonces: Nonces;
  readonly states: readonly PoolState[];
}

/**
 * The market of a world: prices walk, a trader takes every pool to them, and others trade a little at random.
 * Prices and random trades follow from seed and block number alone. What the trader sells depends on where the pools
 * stand too, so it repeats as far as all other trades do.
 */
export function createMarket(rpc: Rpc, world: SandboxWorld, minter: Address): Market {
  const contracts: Contracts = {
    pair: loadUniswap("UniswapV2Pair"),
    pool: loadUniswap("UniswapV3Pool"),
    minter: loadContract("PoolMinter"),
    feed: loadContract("PriceFeed"),
  };
  const path = new PricePath(world.market.seed);

  async function prepareBlock(): Promise<void> {
    const { blockNumber, nonces, states } = await readSnapshot(rpc, world, contracts);
    const step = Math.max(0, blockNumber + 1 - SETUP_BLOCKS);
    const prices = path.at(step);
    const aligning = world.pools.flatMap((pool, index) => {
      const state = states[index];
      return state === undefined ? [] : (alignment(pool, state, prices) ?? []);
    });
    const trades = [...aligning, ...noise(world.market.seed, step, world.pools, prices)];
    const sendings = [
      ...publications(world, contracts, { symbols: step % DOLLAR_FEED_STEPS === 0 ? SYMBOLS : MOVING_SYMBOLS, prices }),
      ...trades.map((trade) => sale(trade, minter, contracts)),
    ];
    await send(rpc, nonces, sendings);
  }

  async function prepareHeartbeat(): Promise<void> {
    const { nonces } = await readSnapshot(rpc, world, contracts);
    const latest = encodeCall(contracts.feed, "latestRoundData");
    const answers = await rpc.batch(SYMBOLS.map((symbol) => ethCall(world.tokens[symbol].feed, latest)));
    const entries = SYMBOLS.map((symbol, index) => {
      return [symbol, BigInt(decode(contracts.feed, "latestRoundData", answers[index])[1])];
    });
    await send(
      rpc,
      nonces,
      publications(world, contracts, { symbols: SYMBOLS, prices: Object.fromEntries(entries) as Prices }),
    );
  }

  return { prepareBlock, prepareHeartbeat };
}

async function readSnapshot(rpc: Rpc, world: SandboxWorld, contracts: Contracts): Promise<Snapshot> {
  const reserves = encodeCall(contracts.pair, "getReserves");
  const slot0 = encodeCall(contracts.pool, "slot0");
  const accounts = [TRADER.address, FEED_OWNER.address];
  const answers = await rpc.batch([
    { method: "eth_blockNumber", params: [] },
    ...accounts.map((account) => ({ method: "eth_getTransactionCount", params: [account, "pending"] })),
    ...world.pools.map((pool) => ethCall(pool.address, pool.kind === 1 ? reserves : slot0)),
  ]);
  const nonces: Nonces = new Map(accounts.map((account, index) => [account, Number(answers[1 + index])]));
  const states = world.pools.map((pool, index): PoolState => {
    const answer = answers[1 + accounts.length + index];
    if (pool.kind === 2) return { kind: 2, sqrtX96: BigInt(decode(contracts.pool, "slot0", answer)[0]) };
    const [reserve0, reserve1] = decode(contracts.pair, "getReserves", answer);
    return { kind: 1, reserve0: BigInt(reserve0), reserve1: BigInt(reserve1) };
  });
  return { blockNumber: Number(answers[0]), nonces, states };
}

function ethCall(to: Address, data: string): RpcCall {
  return { method: "eth_call", params: [{ to, data }, "latest"] };
}

function decode(
  contract: Contract,
  method: string,
  answer: unknown,
): ReturnType<Contract["abi"]["decodeFunctionResult"]> {
  return contract.abi.decodeFunctionResult(method, z.string().parse(answer));
}

function publications(
  world: SandboxWorld,
  contracts: Contracts,
  what: { symbols: readonly TokenSymbol[]; prices: Prices },
): Sending[] {
  return what.symbols.map((symbol) => ({
    label: `publishing the price of ${symbol}`,
    from: FEED_OWNER.address,
    to: world.tokens[symbol].feed,
    data: encodeCall(contracts.feed, "set", what.prices[symbol]),
    gas: PUBLISH_GAS,
  }));
}

function sale(trade: Trade, minter: Address, contracts: Contracts): Sending {
  const method = trade.kind === 1 ? "swapV2" : "swapV3";
  return {
    label: "trading",
    from: TRADER.address,
    to: minter,
    data: encodeCall(contracts.minter, method, trade.pool, trade.zeroForOne, trade.amountIn),
    gas: TRADE_GAS,
  };
}

async function send(rpc: Rpc, nonces: Nonces, sendings: readonly Sending[]): Promise<void> {
  await rpc.batch(
    sendings.map((sending) => {
      return sendCall(sending, takeNonce(nonces, sending.from), sending.gas ?? TRADE_GAS, MARKET_FEES);
    }),
  );
}
