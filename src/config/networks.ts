import { type Address, toAddress } from "../domain/money/address.ts";
import type { PriceFeed, RoutingProtocol } from "./configuration.ts";
import { DEFAULTS } from "./defaults.ts";
import type { PresetFile } from "./schemas/preset-schema.ts";

/** The facts of a network that a configuration need not repeat. */
export interface NetworkPreset {
  readonly chainId: number;
  readonly nativeSymbol: string;
  readonly wrappedNative: Address;
  readonly settlement: Address | undefined;
  readonly executor: Address | undefined;
  readonly protocols: readonly RoutingProtocol[];
  readonly v3FeeTiers: readonly number[];
  /** how the network charges for a transaction's data; undefined: with its gas alone */
  readonly dataFee: "op-stack" | "arbitrum" | undefined;
  readonly hubTokens: readonly Address[];
  readonly confirmations: number;
  readonly tokens: ReadonlyMap<
    string,
    { readonly address: Address; readonly decimals: number; readonly feed: PriceFeed }
  >;
  readonly nativeFeed: PriceFeed;
  /** of a rollup: the feed that says whether its sequencer is up */
  readonly sequencerFeed: Address | undefined;
}

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;

/** A margin as long as the heartbeat, half an hour at most: a feed that is a little late is no reason to stop. */
function feed(address: string, heartbeatSeconds: number): PriceFeed {
  const marginSeconds = Math.min(heartbeatSeconds, 30 * MINUTE);
  return { address: toAddress(address), heartbeatSeconds, marginSeconds };
}

function uniswap(v2Factory: string, v3Factory: string): readonly RoutingProtocol[] {
  return [
    { kind: 1, factory: toAddress(v2Factory), feePips: 3_000 },
    { kind: 2, factory: toAddress(v3Factory), feePips: 0 },
  ];
}

const V3_FEE_TIERS = [100, 500, 3_000, 10_000];

/** Written with their checksums, which a test verifies; feeds are Chainlink's proxies with their heartbeats. */
export const PRESET_ADDRESSES = {
  ethereum: {
    wrappedNative: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
    v2Factory: "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f",
    v3Factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984",
    usdc: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
    usdt: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
    dai: "0x6B175474E89094C44Da98b954EedeAC495271d0F",
    wbtc: "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599",
    ethUsd: "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419",
    btcUsd: "0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c",
    usdcUsd: "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6",
    usdtUsd: "0x3E7d1eAB13ad0104d2750B8863b489D65364e32D",
    daiUsd: "0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9",
  },
  base: {
    wrappedNative: "0x4200000000000000000000000000000000000006",
    v2Factory: "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6",
    v3Factory: "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
    usdc: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
    usdt: "0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2",
    dai: "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb",
    ethUsd: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70",
    usdcUsd: "0x7e860098F58bBFC8648a4311b374B1D669a2bc6B",
    usdtUsd: "0xf19d560eB8d2ADf07BD6D13ed03e1D11215721F9",
    daiUsd: "0x591e79239a7d679378eC8c847e5038150364C78F",
    sequencer: "0xBCF85224fc0756B9Fa45aA7892530B47e10b6433",
  },
} as const;

function ethereum(): NetworkPreset {
  const at = PRESET_ADDRESSES.ethereum;
  const ethUsd = feed(at.ethUsd, HOUR);
  return {
    chainId: 1,
    nativeSymbol: "ETH",
    wrappedNative: toAddress(at.wrappedNative),
    settlement: undefined,
    executor: undefined,
    protocols: uniswap(at.v2Factory, at.v3Factory),
    v3FeeTiers: V3_FEE_TIERS,
    dataFee: undefined,
    hubTokens: [at.wrappedNative, at.usdc, at.usdt, at.dai, at.wbtc].map(toAddress),
    confirmations: 3,
    tokens: new Map([
      ["WETH", { address: toAddress(at.wrappedNative), decimals: 18, feed: ethUsd }],
      ["USDC", { address: toAddress(at.usdc), decimals: 6, feed: feed(at.usdcUsd, DAY) }],
      ["USDT", { address: toAddress(at.usdt), decimals: 6, feed: feed(at.usdtUsd, DAY) }],
      ["DAI", { address: toAddress(at.dai), decimals: 18, feed: feed(at.daiUsd, HOUR) }],
      ["WBTC", { address: toAddress(at.wbtc), decimals: 8, feed: feed(at.btcUsd, HOUR) }],
    ]),
    nativeFeed: ethUsd,
    sequencerFeed: undefined,
  };
}

function base(): NetworkPreset {
  const at = PRESET_ADDRESSES.base;
  const ethUsd = feed(at.ethUsd, 20 * MINUTE);
  return {
    chainId: 8_453,
    nativeSymbol: "ETH",
    wrappedNative: toAddress(at.wrappedNative),
    settlement: undefined,
    executor: undefined,
    protocols: uniswap(at.v2Factory, at.v3Factory),
    v3FeeTiers: V3_FEE_TIERS,
    dataFee: "op-stack",
    hubTokens: [at.wrappedNative, at.usdc, at.usdt, at.dai].map(toAddress),
    confirmations: 3,
    tokens: new Map([
      ["WETH", { address: toAddress(at.wrappedNative), decimals: 18, feed: ethUsd }],
      ["USDC", { address: toAddress(at.usdc), decimals: 6, feed: feed(at.usdcUsd, DAY) }],
      ["USDT", { address: toAddress(at.usdt), decimals: 6, feed: feed(at.usdtUsd, DAY) }],
      ["DAI", { address: toAddress(at.dai), decimals: 18, feed: feed(at.daiUsd, DAY) }],
    ]),
    nativeFeed: ethUsd,
    sequencerFeed: toAddress(at.sequencer),
  };
}

/** The networks that are built in. */
export const NETWORK_PRESETS: ReadonlyMap<string, NetworkPreset> = new Map([
  ["base", base()],
  ["ethereum", ethereum()],
]);

const PRESET_FILE_HEARTBEAT_SECONDS = HOUR;

/** A preset from a file with the facts of a network. All its tokens may be passed through. */
export function presetFromFile(facts: PresetFile): NetworkPreset {
  const heartbeatSeconds = facts.heartbeatSeconds ?? PRESET_FILE_HEARTBEAT_SECONDS;
  const feedAt = (address: Address): PriceFeed => ({
    address,
    heartbeatSeconds,
    marginSeconds: DEFAULTS.feedMarginSeconds,
  });
  const tokens = Object.entries(facts.tokens);
  return {
    chainId: facts.chainId,
    nativeSymbol: facts.nativeSymbol ?? "ETH",
    wrappedNative: facts.wrappedNative,
    settlement: facts.settlement,
    executor: facts.executor,
    protocols: facts.protocols,
    v3FeeTiers: facts.feeTiers,
    dataFee: facts.dataFee,
    hubTokens: [...new Set([facts.wrappedNative, ...tokens.map(([, token]) => token.address)])],
    confirmations: facts.confirmations ?? 1,
    tokens: new Map(
      tokens.map(([symbol, token]) => [
        symbol,
        { address: token.address, decimals: token.decimals, feed: feedAt(token.feed) },
      ]),
    ),
    nativeFeed: feedAt(facts.nativeFeed),
    sequencerFeed: facts.sequencerFeed,
  };
}
