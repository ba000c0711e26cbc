import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, DAY, feed, GWEI, MINUTE, network, token } from "./network.ts";

const ethUsd = feed("0x13e3Ee699D1909E989722E753853AE30b17e08c5", 20 * MINUTE);
const usdcUsd = feed("0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3", DAY);
const usdtUsd = feed("0xECef79E109e997bCA29c1c0897ec9d7b03647F5E", DAY);
const daiUsd = feed("0x8dBa75e83DA73cc766A7e5a0ee71F656BAb470d6", DAY);
const btcUsd = feed("0xD702DD976Fb76Fffc2D3963D037dfDae5b04E593", 20 * MINUTE);

/**
 * Where the facts of optimism were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7);
 *   both of Slipstream, the later one with its second gauges: velodrome-finance/slipstream@193a6b85 README.md;
 *   of Solidly's pools: velodrome-finance/contracts@1ea5feec README.md
 * - init codes: Uniswap/universal-router@020e1b78 script/deployParameters/DeployOptimism.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Optimism.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkOptimism.ts
 * - heartbeats: LZeroAnalytics/chainlink-package@7f3e48ac src/package_io/constants.star (of 2025-03)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts; velodrome-finance/contracts@1ea5feec README.md;
 *   velodrome-finance/slipstream@193a6b85 README.md
 * - sequencer: smartcontractkit/documentation@59e5cde7 src/content/data-feeds/l2-sequencer-feeds.mdx
 * - data fee: ethereum-optimism/specs@830d0e30 specs/experimental/contracts/L2/gas-price-oracle.md
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (the tag `finalized` is 20 to 30 minutes behind)
 * - fees: ethereum-optimism/docs@0aabb756 pages/stack/transactions/fees.mdx
 *   (the sequencer orders by the tip; blocks come every two seconds)
 * - sending: ethereum-optimism/docs@0aabb756 pages/stack/differences.mdx (mempool rules)
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const optimism: BookedNetwork = network({
  chainId: 10,
  explorer: "https://optimistic.etherscan.io",
  nativeSymbol: "ETH",
  wrapped: { symbol: "WETH", address: "0x4200000000000000000000000000000000000006", feed: ethUsd },
  tokens: {
    USDC: token("0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", 6, { feed: usdcUsd }),
    "USDC.e": token("0x7F5c764cBc14f9669B88837ca1490cCa17c31607", 6, { twinOf: "USDC" }),
    USDT: token("0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", 6, { feed: usdtUsd }),
    DAI: token("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, { feed: daiUsd }),
    WBTC: token("0x68f180fcCe6836688e9084f035309E29Bf0A2095", 8, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3", feePips: 0 },
    { kind: 7, factory: "0xCc0bDDB707055e04e497aB22a59c2aF4391cd12F", feePips: 0 },
    { kind: 7, factory: "0xe13Dd1fbA721Aa81a1826D9523AC9BC7d260c879", feePips: 0 },
    { kind: 8, factory: "0xF1046053aa5682b4F9a81b5481394DA16BE5FF5a", feePips: 0 },
  ],
  sequencerFeed: "0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389",
  dataFee: "op-stack",
  fees: { maxPriorityFee: GWEI / 10n, bumpAfterBlocks: 15 },
  routers: {
    "Uniswap SwapRouter02": "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    "Velodrome v2 router": "0xa062aE8A9c5e11aaA026fc2670B0D65cCc8B2858",
    "Slipstream SwapRouter": "0x0792a633F0c19c351081CF4B211F68F79bCc9676",
    "later Slipstream SwapRouter": "0xbA3aEe516399388C779463183d00bB579f5041Ca",
  },
  sending: "private-sequencer",
  first: { gasReserve: "0.005", maxGasPrice: "30gwei" },
});
