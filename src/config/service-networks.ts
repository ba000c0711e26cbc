/**
 * Facts of the networks that `swapd serve --network` knows. Each was taken from the published source that stands beside
 * it, at the commit that is named; a fact without one is left out. None was tried against the live network.
 */

/** Where a fact was read: repository, commit and file. */
const SOURCES = {
  factories: "Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts",
  zksyncFactory: "Uniswap/sdks@d90bb7d3 sdks/sdk-core/src/addresses.ts",
  wrappedNative: "Uniswap/sdks@06439b48 sdks/sdk-core/src/entities/weth9.ts",
  v2InitCodeHash: "keccak256 of the pair's creation code in @uniswap/v2-core 1.0.1",
  v3InitCodeHash: "Uniswap/sdks@024bf18e sdks/v3-sdk/src/constants.ts",
  feeTiers: "Uniswap/sdks@024bf18e sdks/v3-sdk/src/constants.ts",
  tokens: "bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3*.ts",
  feeds: "bgd-labs/aave-address-book@f61c9762 src/ts/Chainlink*.ts",
  multicall3: "mds1/multicall@19da7a56 deployments.json",
  dataFee:
    "ethereum-optimism/specs@830d0e30 specs/experimental/contracts/L2/gas-price-oracle.md, " +
    "OffchainLabs/nitro-contracts@4ba14450 src/node-interface/NodeInterface.sol",
} as const;

/** A factory with Uniswap's code; where it came from, and what its pools are created with. */
interface FactoryFacts {
  readonly kind: 1 | 2;
  readonly factory: string;
  readonly feePips: number;
  readonly initCodeHash: string;
  readonly sources: readonly string[];
}

/** A token that routes may pass through, with its feed in dollars. */
interface HubFacts {
  readonly address: string;
  readonly feed: string | undefined;
}

/** What a service must know of a network, with checksums as published. */
export interface ServiceNetworkFacts {
  readonly chainId: number;
  readonly nativeSymbol: string;
  readonly wrappedNative: string;
  readonly nativeFeed: string;
  readonly multicall3: string;
  readonly protocols: readonly FactoryFacts[];
  readonly v3FeeTiers: readonly number[];
  readonly hubTokens: Readonly<Record<string, HubFacts>>;
  /** how the network charges for a transaction's data; undefined: with its gas alone */
  readonly dataFee: "op-stack" | "arbitrum" | undefined;
  /** where the settlement contracts cannot be: why */
  readonly noSettlement: string | undefined;
  readonly sources: typeof SOURCES;
}

const V2_INIT_CODE_HASH = "0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f";
const V3_INIT_CODE_HASH = "0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54";
const ZKSYNC_V3_INIT_CODE_HASH = "0x010013f177ea1fcbc4520f9a3ca7cd2d1d77959e05aa66484027cb38e712aeed";
const V3_FEE_TIERS = [100, 500, 3_000, 10_000];
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";

function uniswapV2(factory: string): FactoryFacts {
  const sources = [SOURCES.factories, SOURCES.v2InitCodeHash];
  return { kind: 1, factory, feePips: 3_000, initCodeHash: V2_INIT_CODE_HASH, sources };
}

function uniswapV3(factory: string): FactoryFacts {
  const sources = [SOURCES.factories, SOURCES.v3InitCodeHash];
  return { kind: 2, factory, feePips: 0, initCodeHash: V3_INIT_CODE_HASH, sources };
}

function hub(address: string, feed?: string): HubFacts {
  return { address, feed };
}

/** What most networks have in common. */
const COMMON = {
  multicall3: MULTICALL3,
  v3FeeTiers: V3_FEE_TIERS,
  dataFee: undefined,
  noSettlement: undefined,
  sources: SOURCES,
} as const;

const ethereum: ServiceNetworkFacts = {
  ...COMMON,
  chainId: 1,
  nativeSymbol: "ETH",
  wrappedNative: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2",
  nativeFeed: "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419",
  protocols: [
    uniswapV2("0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f"),
    uniswapV3("0x1F98431c8aD98523631AE4a59f267346ea31F984"),
  ],
  hubTokens: {
    USDC: hub("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"),
    USDT: hub("0xdAC17F958D2ee523a2206206994597C13D831ec7", "0x3E7d1eAB13ad0104d2750B8863b489D65364e32D"),
    DAI: hub("0x6B175474E89094C44Da98b954EedeAC495271d0F", "0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9"),
    WBTC: hub("0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599"),
  },
};

const polygon: ServiceNetworkFacts = {
  ...COMMON,
  chainId: 137,
  nativeSymbol: "POL",
  wrappedNative: "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270",
  nativeFeed: "0xAB594600376Ec9fD91F8e885dADF0CE036862dE0",
  protocols: [
    uniswapV2("0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C"),
    uniswapV3("0x1F98431c8aD98523631AE4a59f267346ea31F984"),
  ],
  hubTokens: {
    USDC: hub("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", "0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7"),
    "USDC.e": hub("0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174"),
    USDT: hub("0xc2132D05D31c914a87C6611C10748AEb04B58e8F", "0x0A6513e40db6EB1b165753AD52E80663aeA50545"),
    DAI: hub("0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063", "0x4746DeC9e833A82EC7C2C1356372CcF2cfcD2F3D"),
    WETH: hub("0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619", "0xF9680D99D6C9589e2a93a78A04A279e509205945"),
    WBTC: hub("0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6"),
  },
};

const bsc: ServiceNetworkFacts = {
  ...COMMON,
  chainId: 56,
  nativeSymbol: "BNB",
  wrappedNative: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c",
  nativeFeed: "0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE",
  protocols: [
    uniswapV2("0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6"),
    uniswapV3("0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7"),
  ],
  hubTokens: {
    USDC: hub("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", "0x51597f405303C4377E36123cBc172b13269EA163"),
    USDT: hub("0x55d398326f99059fF775485246999027B3197955", "0xB97Ad0E74fa7d920791E90258A6E2085088b4320"),
    ETH: hub("0x2170Ed0880ac9A755fd29B2688956BD959F933F8", "0x9ef1B8c0E4F7dc8bF5719Ea496883DC6401d5b2e"),
    BTCB: hub("0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c"),
  },
};

const arbitrum: ServiceNetworkFacts = {
  ...COMMON,
  dataFee: "arbitrum",
  chainId: 42_161,
  nativeSymbol: "ETH",
  wrappedNative: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1",
  nativeFeed: "0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612",
  protocols: [
    uniswapV2("0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9"),
    uniswapV3("0x1F98431c8aD98523631AE4a59f267346ea31F984"),
  ],
  hubTokens: {
    USDC: hub("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", "0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3"),
    "USDC.e": hub("0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8"),
    USDT: hub("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", "0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7"),
    DAI: hub("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", "0xc5C8E77B397E531B8EC06BFb0048328B30E9eCfB"),
    WBTC: hub("0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f"),
  },
};

const avalanche: ServiceNetworkFacts = {
  ...COMMON,
  chainId: 43_114,
  nativeSymbol: "AVAX",
  wrappedNative: "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7",
  nativeFeed: "0x0A77230d17318075983913bC2145DB16C7366156",
  protocols: [
    uniswapV2("0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C"),
    uniswapV3("0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD"),
  ],
  hubTokens: {
    USDC: hub("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", "0xF096872672F44d6EBA71458D74fe67F9a77a23B9"),
    USDT: hub("0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", "0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a"),
    "DAI.e": hub("0xd586E7F844cEa2F87f50152665BCbc2C279D8d70"),
    "WETH.e": hub("0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB", "0x976B3D034E162d8bD72D6b9C989d545b839003b0"),
    "BTC.b": hub("0x152b9d0FdC40C096757F570A51E494bd4b943E50"),
  },
};

const optimism: ServiceNetworkFacts = {
  ...COMMON,
  dataFee: "op-stack",
  chainId: 10,
  nativeSymbol: "ETH",
  wrappedNative: "0x4200000000000000000000000000000000000006",
  nativeFeed: "0x13e3Ee699D1909E989722E753853AE30b17e08c5",
  protocols: [
    uniswapV2("0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf"),
    uniswapV3("0x1F98431c8aD98523631AE4a59f267346ea31F984"),
  ],
  hubTokens: {
    USDC: hub("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", "0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3"),
    "USDC.e": hub("0x7F5c764cBc14f9669B88837ca1490cCa17c31607"),
    USDT: hub("0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", "0xECef79E109e997bCA29c1c0897ec9d7b03647F5E"),
    DAI: hub("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", "0x8dBa75e83DA73cc766A7e5a0ee71F656BAb470d6"),
    WBTC: hub("0x68f180fcCe6836688e9084f035309E29Bf0A2095"),
  },
};

const base: ServiceNetworkFacts = {
  ...COMMON,
  dataFee: "op-stack",
  chainId: 8_453,
  nativeSymbol: "ETH",
  wrappedNative: "0x4200000000000000000000000000000000000006",
  nativeFeed: "0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70",
  protocols: [
    uniswapV2("0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6"),
    uniswapV3("0x33128a8fC17869897dcE68Ed026d694621f6FDfD"),
  ],
  hubTokens: {
    USDC: hub("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "0x7e860098F58bBFC8648a4311b374B1D669a2bc6B"),
    USDbC: hub("0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA"),
    cbBTC: hub("0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf"),
  },
};

/** Its CREATE2 differs, so pools are found by asking the factory only, as everywhere. No V2 factory has a source here. */
const zksync: ServiceNetworkFacts = {
  ...COMMON,
  chainId: 324,
  nativeSymbol: "ETH",
  wrappedNative: "0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91",
  nativeFeed: "0x6D41d1dc818112880b40e26BD6FD347E41008eDA",
  multicall3: "0xF9cda624FBC7e059355ce98a31693d299FACd963",
  protocols: [
    {
      kind: 2,
      factory: "0x8FdA5a7a8dCA67BBcDd10F02Fa0649A937215422",
      feePips: 0,
      initCodeHash: ZKSYNC_V3_INIT_CODE_HASH,
      sources: [SOURCES.zksyncFactory, SOURCES.v3InitCodeHash],
    },
  ],
  hubTokens: {
    USDC: hub("0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4", "0x1824D297C6d6D311A204495277B63e943C2D376E"),
    USDT: hub("0x493257fD37EDB34451f62EDf8D2a0C418852bA4C", "0xB615075979AE1836B476F651f1eB79f0Cd3956a9"),
  },
  noSettlement: "zksync is unsupported by the settlement contracts: its bytecode and its CREATE2 differ",
};

/** By the names that requests use. */
export const SERVICE_NETWORKS: ReadonlyMap<string, ServiceNetworkFacts> = new Map(
  Object.entries({ ethereum, polygon, bsc, arbitrum, avalanche, optimism, base, zksync }),
);
