import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { createJsonRpc } from "../../src/chain/json-rpc.ts";
import { type Address, type Hex, NATIVE_TOKEN, toAddress } from "../../src/domain/money/address.ts";
import type { BookedNetwork, PriceFeed } from "../../src/networks/network.ts";
import { DEPLOYER, FEED_OWNER } from "../../src/sandbox/accounts.ts";
import { type Contract, deployData, loadContract, loadUniswap } from "../../src/sandbox/artifacts.ts";
import { sqrtPriceX96 } from "../../src/sandbox/curve.ts";
import { feedPrice } from "../../src/sandbox/pools.ts";
import type { Rpc } from "../../src/sandbox/rpc.ts";
import { Deployments } from "../../src/sandbox/settlement.ts";
import {
  DEPLOY_GAS,
  encodeCall,
  type Nonces,
  perform,
  quantity,
  readAddresses,
  readNonces,
  type Sending,
} from "../../src/sandbox/transactions.ts";
import { slipstream } from "../../src/service/pools/slipstream/kind.ts";
import { charge } from "../service/support/op-stack.ts";
import { loadSwapRouter } from "../service/support/public-router.ts";
import { startBareAnvil } from "./anvil.ts";
import { loadDouble } from "./compile-double.ts";

/** A local chain that looks like a network of the book: what swapd did not write stands where the book says. */
export interface ForeignChain {
  readonly rpcUrl: string;
  /** Gives an account native coins and the dollars of the network, both in whole units. */
  fund(account: Address, amounts: { readonly native: bigint; readonly dollars: bigint }): Promise<void>;
  stop(): Promise<void>;
}

const loadSlipstream = loadDouble("slipstream-double");
const COIN = 10n ** 18n;
const DOLLAR = 10n ** 6n;
const COIN_DOLLARS = 3_000;
const FEED_DECIMALS = 8;
const FEE = 500;
/** of Slipstream's pool, which takes the same */
const SPACING = 100;
const TICKS = { tickLower: -887_270, tickUpper: 887_270 };
const POOL_COINS = 2_000n;
const LIQUIDITY = 10n ** 17n;
/** A rollup's sequencer came back so long ago, in seconds: prices are used again. */
const UP_SINCE = 7_200;
/** In wei: rollups are cheap, and a trade of some dollars pays there. */
const BASE_FEE = 10_000_000;
const SEQUENCER_IS_UP = 0n;

/**
 * Starts a chain with the id of a network of the book, Uniswap's own bytecode at the addresses of its factories and its
 * SwapRouter02, its wrapped coin and its USDC as tokens of the same interface, price feeds and, on a rollup, the feed of
 * its sequencer and a double of its gas price oracle. No contract of ours is on it, and nothing on it moves by itself.
 * @param withSlipstream also Slipstream's factory and router, as doubles, with a pool that pays more than Uniswap's do
 */
export async function startForeignChain(
  book: BookedNetwork,
  { withSlipstream = false }: { readonly withSlipstream?: boolean } = {},
): Promise<ForeignChain> {
  const began = Math.floor(Date.now() / 1_000) - UP_SINCE;
  const flags = ["--timestamp", String(began), "--base-fee", String(BASE_FEE)];
  const anvil = await startBareAnvil({ chainId: book.chainId, onDemand: true, flags });
  try {
    const { rpc } = anvil;
    const builders = [DEPLOYER.address, FEED_OWNER.address];
    await rpc.batch(builders.map((one) => ({ method: "anvil_setBalance", params: [one, quantity(10n ** 9n * COIN)] })));
    const nonces = await readNonces(rpc, builders);
    const minter = await placeContracts(rpc, nonces, { book, withSlipstream });
    await perform(rpc, nonces, funding(book, minter));
    await addPools(rpc, nonces, { book, minter });
    if (withSlipstream) await addSlipstreamPool(rpc, nonces, { book, minter });
    // Each block takes a second of the chain's time: few come after it was set forward to this machine's.
    await rpc.call("evm_setNextBlockTimestamp", began + UP_SINCE);
    await perform(rpc, nonces, prices(book));
    await rpc.call("anvil_mine", quantity(8));
    await rpc.call("evm_setIntervalMining", 1);
    return {
      rpcUrl: rpc.url,
      fund: async (account, { native, dollars }) => {
        await rpc.call("anvil_setBalance", account, quantity(native * COIN));
        const data = encodeCall(loadContract("PermitToken"), "mint", account, dollars * DOLLAR);
        const minted = { from: DEPLOYER.address, to: dollarsOf(book).address, data };
        await perform(rpc, await readNonces(rpc, [DEPLOYER.address]), [{ label: "minting dollars", ...minted }]);
      },
      stop: () => anvil.stop(),
    };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

function dollarsOf({ tokens }: BookedNetwork): { readonly address: Address; readonly feed: PriceFeed } {
  const usdc = tokens.get("USDC");
  if (usdc?.feed === undefined || usdc.decimals !== 6) throw new Error("the network has no USDC with a feed");
  return { address: usdc.address, feed: usdc.feed };
}

function factoriesOf({ protocols }: BookedNetwork): { readonly v2: Address; readonly v3: Address } {
  const [v2, v3] = [1, 2].map((kind) => protocols.find((one) => one.kind === kind)?.factory);
  if (v2 === undefined || v3 === undefined) throw new Error("the network has not both of Uniswap's factories");
  return { v2, v3 };
}

function slipstreamOf({ protocols, furtherRouters }: BookedNetwork): {
  readonly factory: Address;
  readonly router: Address;
} {
  const factory = protocols.find(({ kind }) => kind === slipstream.number)?.factory;
  const router = furtherRouters[0]?.address;
  if (factory === undefined || router === undefined) throw new Error("the network has no Slipstream");
  return { factory, router };
}

/**
 * Deploys each contract where it may lie, and then moves it: code and storage are put where the book says, with each
 * address in them replaced by the one that stands there. None has entries by an address yet.
 * @returns the contract that adds liquidity, which stays where it is
 */
async function placeContracts(
  rpc: Rpc,
  nonces: Nonces,
  { book, withSlipstream }: { readonly book: BookedNetwork; readonly withSlipstream: boolean },
): Promise<Address> {
  const deployer = new Deployments(DEPLOYER.address, nonces.get(DEPLOYER.address) ?? 0);
  const feedOwner = new Deployments(FEED_OWNER.address, nonces.get(FEED_OWNER.address) ?? 0);
  const { v2, v3 } = factoriesOf(book);
  const usdc = dollarsOf(book);
  const moves = new Map<Address, Address>();
  const add = (to: Address, contract: Contract, values: readonly unknown[] = [], by = deployer): Address => {
    const from = by.add(to, deployData(contract, values));
    moves.set(from, to);
    return from;
  };
  const weth = add(book.wrappedNative, loadContract("WrappedNative"));
  add(usdc.address, loadContract("PermitToken"), ["USD Coin", "USDC", 6]);
  const factoryV2 = add(v2, loadUniswap("UniswapV2Factory"), [DEPLOYER.address]);
  const factoryV3 = add(v3, loadUniswap("UniswapV3Factory"));
  if (book.router !== undefined) add(book.router, loadSwapRouter(), [factoryV2, factoryV3, NATIVE_TOKEN, weth]);
  if (withSlipstream) {
    const { factory, router } = slipstreamOf(book);
    const pool = deployer.add("SlipstreamPool", deployData(loadSlipstream("SlipstreamPool"), []));
    add(router, loadSlipstream("SlipstreamRouter"), [add(factory, loadSlipstream("SlipstreamFactory"), [pool]), weth]);
  }
  const feed = (to: Address, answer: bigint): Address =>
    add(to, loadContract("PriceFeed"), [FEED_DECIMALS, "a feed", answer], feedOwner);
  feed(book.nativeFeed.address, feedPrice(COIN_DOLLARS));
  feed(usdc.feed.address, feedPrice(1));
  if (book.sequencerFeed !== undefined) feed(book.sequencerFeed, SEQUENCER_IS_UP);
  const minter = deployer.add("PoolMinter", deployData(loadContract("PoolMinter")));
  await perform(rpc, nonces, [...deployer.sendings, ...feedOwner.sendings]);
  await move(rpc, moves);
  if (book.dataFee === "op-stack") {
    await charge(
      { rpc: createJsonRpc({ url: rpc.url, timeoutMs: 10_000, maxBytes: 1_000_000 }) },
      { perByte: 1_000_000n, operatorScalar: 0n, operatorConstant: 0n },
    );
  }
  return minter;
}

const dump = z.object({
  accounts: z.record(z.string(), z.object({ code: z.string(), storage: z.record(z.string(), z.string()) })),
});

async function move(rpc: Rpc, moves: ReadonlyMap<Address, Address>): Promise<void> {
  const packed = z.string().parse(await rpc.call("anvil_dumpState"));
  const { accounts } = dump.parse(JSON.parse(gunzipSync(Buffer.from(packed.slice(2), "hex")).toString("utf8")));
  const moved = (text: string): string =>
    [...moves].reduce((soFar, [from, to]) => soFar.replaceAll(from.slice(2), to.slice(2)), text.toLowerCase());
  for (const [from, to] of moves) {
    const account = accounts[from];
    if (account === undefined) throw new Error(`nothing was deployed at ${from}`);
    await rpc.call("anvil_setCode", to, moved(account.code));
    for (const [slot, value] of Object.entries(account.storage)) {
      const word = `0x${moved(value).slice(2).padStart(64, "0")}`;
      await rpc.call("anvil_setStorageAt", to, `0x${slot.slice(2).padStart(64, "0")}`, word);
    }
  }
}

/** Published anew, because the chain's time was set forward. The sequencer's stays as old as it is. */
function prices(book: BookedNetwork): readonly Sending[] {
  const set = (to: Address, dollars: number): Sending => {
    const data = encodeCall(loadContract("PriceFeed"), "set", feedPrice(dollars));
    return { label: "publishing a price", from: FEED_OWNER.address, to, data };
  };
  return [set(book.nativeFeed.address, COIN_DOLLARS), set(dollarsOf(book).feed.address, 1)];
}

function funding(book: BookedNetwork, minter: Address): readonly Sending[] {
  const [wrapped, token] = [loadContract("WrappedNative"), loadContract("PermitToken")];
  const usdc = dollarsOf(book).address;
  const from = DEPLOYER.address;
  const coins = 1_000_000n * COIN;
  const owned = encodeCall(token, "mint", from, 10n ** 10n * DOLLAR);
  return [
    { label: "wrapping coins", from, to: book.wrappedNative, data: encodeCall(wrapped, "deposit"), value: coins },
    { label: "minting dollars", from, to: usdc, data: owned },
    ...[book.wrappedNative, usdc].map((to): Sending => {
      return { label: "approving", from, to, data: encodeCall(token, "approve", minter, coins) };
    }),
  ];
}

/** One pair of V2 and one pool of V3, made by the factories, at the price of the feeds. */
async function addPools(
  rpc: Rpc,
  nonces: Nonces,
  { book, minter }: { readonly book: BookedNetwork; readonly minter: Address },
): Promise<void> {
  const [v2, v3] = [loadUniswap("UniswapV2Factory"), loadUniswap("UniswapV3Factory")];
  const at = factoriesOf(book);
  const from = DEPLOYER.address;
  const pair = [book.wrappedNative, dollarsOf(book).address] as const;
  await perform(rpc, nonces, [
    { label: "creating a pair", from, to: at.v2, gas: DEPLOY_GAS, data: encodeCall(v2, "createPair", ...pair) },
    { label: "creating a pool", from, to: at.v3, gas: DEPLOY_GAS, data: encodeCall(v3, "createPool", ...pair, FEE) },
  ]);
  const [pairAt, poolAt] = await readAddresses(rpc, [
    { contract: v2, to: at.v2, method: "getPair", values: pair },
    { contract: v3, to: at.v3, method: "getPool", values: [...pair, FEE] },
  ]);
  if (pairAt === undefined || poolAt === undefined) throw new Error("the factories name no pools");
  const [coin, dollar] = [
    { decimals: 18, price: feedPrice(COIN_DOLLARS) },
    { decimals: 6, price: feedPrice(1) },
  ];
  const isCoinFirst = toAddress(pair[0]) < toAddress(pair[1]);
  const price = isCoinFirst ? sqrtPriceX96(coin, dollar) : sqrtPriceX96(dollar, coin);
  const deposits = [POOL_COINS * COIN, POOL_COINS * BigInt(COIN_DOLLARS) * DOLLAR];
  const liquidity = loadContract("PoolMinter");
  const call = (to: Address, data: Hex): Sending => ({ label: "adding liquidity", from, to, data });
  await perform(rpc, nonces, [
    call(minter, encodeCall(liquidity, "addV2", pairAt, ...(isCoinFirst ? deposits : deposits.reverse()))),
    call(poolAt, encodeCall(loadUniswap("UniswapV3Pool"), "initialize", price)),
    call(minter, encodeCall(liquidity, "mintV3", poolAt, TICKS.tickLower, TICKS.tickUpper, LIQUIDITY)),
  ]);
}

/** One that gives a hundredth more for dollars than the feeds say: the daemon's reference lets that pass. */
async function addSlipstreamPool(
  rpc: Rpc,
  nonces: Nonces,
  { book, minter }: { readonly book: BookedNetwork; readonly minter: Address },
): Promise<void> {
  const factories = loadSlipstream("SlipstreamFactory");
  const { factory } = slipstreamOf(book);
  const from = DEPLOYER.address;
  const pair = [book.wrappedNative, dollarsOf(book).address] as const;
  const [coin, dollar] = [
    { decimals: 18, price: (feedPrice(COIN_DOLLARS) * 99n) / 100n },
    { decimals: 6, price: feedPrice(1) },
  ];
  const price = toAddress(pair[0]) < toAddress(pair[1]) ? sqrtPriceX96(coin, dollar) : sqrtPriceX96(dollar, coin);
  const created = encodeCall(factories, "createPool", ...pair, SPACING, price);
  await perform(rpc, nonces, [{ label: "creating a pool", from, to: factory, gas: DEPLOY_GAS, data: created }]);
  const [pool] = await readAddresses(rpc, [
    { contract: factories, to: factory, method: "getPool", values: [...pair, SPACING] },
  ]);
  if (pool === undefined) throw new Error("the factory names no pool");
  const { tickLower, tickUpper } = { tickLower: -887_200, tickUpper: 887_200 };
  const minted = encodeCall(loadContract("PoolMinter"), "mintV3", pool, tickLower, tickUpper, LIQUIDITY);
  await perform(rpc, nonces, [{ label: "adding liquidity", from, to: minter, data: minted }]);
}
