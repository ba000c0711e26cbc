import { type Address, toAddress } from "../domain/money/address.ts";
import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "../networks/init-codes.ts";
import type { FactoryFacts } from "../networks/network.ts";
import { DEPLOYER, FEED_OWNER, RELAYER, TRADER, WALLET } from "./accounts.ts";
import { type Contract, deployData, loadContract, loadUniswap } from "./artifacts.ts";
import {
  FEED_DECIMALS,
  POOLS,
  RELAYER_NATIVE,
  SANDBOX_CHAIN_ID,
  SETUP_BLOCKS,
  START_PRICES,
  SYMBOLS,
  TOKENS,
  type TokenSymbol,
  TRADER_FUNDS,
  V2_FEE_PIPS,
  WALLET_FUNDS,
  WALLET_NATIVE,
} from "./plan.ts";
import { depositsV2, feedPrice, rangesV3, type Sides, startSqrtPriceX96 } from "./pools.ts";
import type { Rpc } from "./rpc.ts";
import { SandboxError } from "./sandbox-error.ts";
import { addSettlement, Deployments } from "./settlement.ts";
import {
  DEPLOY_GAS,
  encodeCall,
  type Nonces,
  perform,
  quantity,
  readAddresses,
  readNonces,
  type Sending,
} from "./transactions.ts";
import type { SandboxPool, SandboxWorld } from "./world.ts";

type Progress = (step: string, done: number, total: number) => void;

const STEPS = 5;
const COIN = 10n ** 18n;
/** Native coins of the accounts that build and move the world: more than all wrapped native they deposit. */
const BUILDER_NATIVE = 1_000_000_000n * COIN;
/** Wrapped native that the deployer puts into pools. */
const POOL_WRAPPED_NATIVE = 1_000_000n * COIN;
const UNLIMITED = (1n << 256n) - 1n;

interface Deployed {
  readonly tokens: Readonly<Record<TokenSymbol, Address>>;
  readonly feeds: Readonly<Record<TokenSymbol, Address>>;
  readonly factoryV2: Address;
  readonly factoryV3: Address;
  readonly minter: Address;
  readonly executor: Address;
  readonly settlement: Address;
  readonly protocols: readonly FactoryFacts[];
}

/**
 * Builds tokens, pools, settlement and funds on an empty chain that mines on demand only.
 * @throws SandboxError `SETUP_REVERTED`, `CONTRACTS_MISSING` or `RPC_REFUSED`
 */
export async function buildWorld(rpc: Rpc, seed: number, progress: Progress): Promise<SandboxWorld> {
  const builders = [DEPLOYER.address, FEED_OWNER.address, TRADER.address];
  progress("funding accounts", 0, STEPS);
  await fundNative(rpc, builders);
  const nonces = await readNonces(rpc, builders);
  progress("deploying contracts", 1, STEPS);
  const deployed = await deployContracts(rpc, nonces);
  progress("creating pools", 2, STEPS);
  await perform(rpc, nonces, poolCreations(deployed));
  const pools = await locatePools(rpc, deployed);
  progress("minting tokens", 3, STEPS);
  await perform(rpc, nonces, tokenFunding(deployed));
  progress("adding liquidity", 4, STEPS);
  await perform(rpc, nonces, liquidity(deployed, pools));
  await fillUpBlocks(rpc);
  progress("ready", STEPS, STEPS);
  return describe(rpc, seed, deployed, pools);
}

/** Sets the native balances: the builders' out of reach of their spending, the wallet's and the relayer's as promised. */
async function fundNative(rpc: Rpc, builders: readonly Address[]): Promise<void> {
  const balances: [Address, bigint][] = builders.map((builder) => [builder, BUILDER_NATIVE]);
  balances.push([WALLET.address, WALLET_NATIVE * COIN], [RELAYER.address, RELAYER_NATIVE * COIN]);
  await rpc.batch(balances.map(([owner, raw]) => ({ method: "anvil_setBalance", params: [owner, quantity(raw)] })));
}

async function deployContracts(rpc: Rpc, nonces: Nonces): Promise<Deployed> {
  const deployer = new Deployments(DEPLOYER.address, nonces.get(DEPLOYER.address) ?? 0);
  const feedOwner = new Deployments(FEED_OWNER.address, nonces.get(FEED_OWNER.address) ?? 0);
  const tokens = bySymbol((symbol) => {
    const { contract, name, decimals } = TOKENS[symbol];
    const values = contract === "WrappedNative" ? [] : [name, symbol, decimals];
    return deployer.add(symbol, deployData(loadContract(contract), values));
  });
  const priceFeed = loadContract("PriceFeed");
  const feeds = bySymbol((symbol) => {
    const values = [FEED_DECIMALS, TOKENS[symbol].feed, feedPrice(START_PRICES[symbol])];
    return feedOwner.add(`the feed of ${symbol}`, deployData(priceFeed, values));
  });
  const factoryV2 = deployer.add("UniswapV2Factory", deployData(loadUniswap("UniswapV2Factory"), [DEPLOYER.address]));
  const factoryV3 = deployer.add("UniswapV3Factory", deployData(loadUniswap("UniswapV3Factory")));
  const minter = deployer.add("PoolMinter", deployData(loadContract("PoolMinter")));
  const protocols: FactoryFacts[] = [
    { kind: 1, factory: factoryV2, feePips: V2_FEE_PIPS, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: factoryV3, feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
  ];
  const settlement = addSettlement(deployer, tokens.WETH, protocols);
  await perform(rpc, nonces, [...deployer.sendings, ...feedOwner.sendings]);
  return { tokens, feeds, factoryV2, factoryV3, minter, protocols, ...settlement };
}

function bySymbol<Value>(make: (symbol: TokenSymbol) => Value): Record<TokenSymbol, Value> {
  return Object.fromEntries(SYMBOLS.map((symbol) => [symbol, make(symbol)])) as Record<TokenSymbol, Value>;
}

function poolCreations(deployed: Deployed): Sending[] {
  const { factoryV2, factoryV3, tokens } = deployed;
  const from = DEPLOYER.address;
  const v2 = loadUniswap("UniswapV2Factory");
  const v3 = loadUniswap("UniswapV3Factory");
  // The core factory starts with the tiers 500, 3000 and 10000; its owner added 100 later, with a tick spacing of 1.
  const enableTier = {
    label: "enabling fee tier 100",
    from,
    to: factoryV3,
    data: encodeCall(v3, "enableFeeAmount", 100, 1),
  };
  return [
    enableTier,
    ...POOLS.map((plan): Sending => {
      const [a, b] = plan.tokens;
      const creation =
        plan.kind === 1
          ? { to: factoryV2, data: encodeCall(v2, "createPair", tokens[a], tokens[b]) }
          : { to: factoryV3, data: encodeCall(v3, "createPool", tokens[a], tokens[b], plan.fee) };
      return { label: `creating the pool ${a}/${b}`, from, gas: DEPLOY_GAS, ...creation };
    }),
  ];
}

async function locatePools(rpc: Rpc, deployed: Deployed): Promise<SandboxPool[]> {
  const { factoryV2, factoryV3, tokens } = deployed;
  const v2 = loadUniswap("UniswapV2Factory");
  const v3 = loadUniswap("UniswapV3Factory");
  const addresses = await readAddresses(
    rpc,
    POOLS.map((plan) => {
      const pair = [tokens[plan.tokens[0]], tokens[plan.tokens[1]]];
      return plan.kind === 1
        ? { contract: v2, to: factoryV2, method: "getPair", values: pair }
        : { contract: v3, to: factoryV3, method: "getPool", values: [...pair, plan.fee] };
    }),
  );
  return POOLS.map((plan, index) => {
    const [a, b] = plan.tokens;
    const sides: Sides = tokens[a] < tokens[b] ? { token0: a, token1: b } : { token0: b, token1: a };
    const address = toAddress(addresses[index] ?? "");
    if (plan.kind === 1) return { kind: 1, address, ...sides, feePips: V2_FEE_PIPS, ranges: [] };
    return { kind: 2, address, ...sides, feePips: plan.fee, ranges: rangesV3(sides, plan) };
  });
}

function tokenFunding(deployed: Deployed): Sending[] {
  const { tokens, minter } = deployed;
  const wrapped = loadContract("WrappedNative");
  const from = DEPLOYER.address;
  const sendings: Sending[] = [
    wrap(wrapped, tokens.WETH, from, POOL_WRAPPED_NATIVE),
    wrap(wrapped, tokens.WETH, TRADER.address, TRADER_FUNDS.WETH * COIN),
    {
      label: "funding the wallet with WETH",
      from,
      to: tokens.WETH,
      data: encodeCall(wrapped, "transfer", WALLET.address, WALLET_FUNDS.WETH * COIN),
    },
  ];
  for (const symbol of SYMBOLS) {
    const token = loadContract(TOKENS[symbol].contract);
    const to = tokens[symbol];
    const approve = encodeCall(token, "approve", minter, UNLIMITED);
    for (const owner of [from, TRADER.address])
      sendings.push({ label: `approving ${symbol}`, from: owner, to, data: approve });
    if (symbol === "WETH") continue;
    const unit = 10n ** BigInt(TOKENS[symbol].decimals);
    // The pools' provider gets as much as the trader: more than the pools take.
    const shares = [
      [from, TRADER_FUNDS[symbol]],
      [TRADER.address, TRADER_FUNDS[symbol]],
      [WALLET.address, WALLET_FUNDS[symbol]],
    ] as const;
    for (const [owner, whole] of shares) {
      sendings.push({ label: `minting ${symbol}`, from, to, data: encodeCall(token, "mint", owner, whole * unit) });
    }
  }
  return sendings;
}

function wrap(wrapped: Contract, to: Address, from: Address, value: bigint): Sending {
  return { label: "wrapping the native coin", from, to, data: encodeCall(wrapped, "deposit"), value };
}

function liquidity(deployed: Deployed, pools: readonly SandboxPool[]): Sending[] {
  const poolMinter = loadContract("PoolMinter");
  const poolV3 = loadUniswap("UniswapV3Pool");
  const from = DEPLOYER.address;
  return pools.flatMap((pool, index): Sending[] => {
    const name = `${pool.token0}/${pool.token1}`;
    const plan = POOLS[index];
    if (plan?.kind === 1) {
      const { amount0, amount1 } = depositsV2(pool, plan.dollars);
      const data = encodeCall(poolMinter, "addV2", pool.address, amount0, amount1);
      return [{ label: `adding liquidity to ${name}`, from, to: deployed.minter, data }];
    }
    const initialize = encodeCall(poolV3, "initialize", startSqrtPriceX96(pool));
    return [
      { label: `initializing ${name}`, from, to: pool.address, data: initialize },
      ...pool.ranges.map(({ tickLower, tickUpper, liquidity: amount }) => {
        const data = encodeCall(poolMinter, "mintV3", pool.address, tickLower, tickUpper, amount);
        return { label: `adding liquidity to ${name}`, from, to: deployed.minter, data };
      }),
    ];
  });
}

/** Mines up to the fixed end of the set-up, so that the market's blocks have the same numbers in every sandbox. */
async function fillUpBlocks(rpc: Rpc): Promise<void> {
  const number = Number(await rpc.call("eth_blockNumber"));
  if (number > SETUP_BLOCKS) {
    throw new SandboxError("SETUP_REVERTED", `Building the sandbox took ${number} blocks instead of ${SETUP_BLOCKS}.`);
  }
  if (number < SETUP_BLOCKS) await rpc.call("anvil_mine", quantity(SETUP_BLOCKS - number));
}

function describe(rpc: Rpc, seed: number, deployed: Deployed, pools: readonly SandboxPool[]): SandboxWorld {
  return {
    rpcUrl: rpc.url,
    chainId: SANDBOX_CHAIN_ID,
    network: "sandbox",
    wrappedNative: deployed.tokens.WETH,
    settlement: deployed.settlement,
    executor: deployed.executor,
    protocols: deployed.protocols,
    tokens: bySymbol((symbol) => ({
      address: deployed.tokens[symbol],
      decimals: TOKENS[symbol].decimals,
      feed: deployed.feeds[symbol],
    })),
    feeds: { ...deployed.feeds, ETH: deployed.feeds.WETH },
    pools,
    poolMinter: deployed.minter,
    wallet: WALLET,
    relayer: RELAYER,
    traders: [TRADER],
    market: { seed },
  };
}
