import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, DAY, feed, network, token } from "./network.ts";

const ethUsd = feed("0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612", 1755);
const usdcUsd = feed("0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3", 255);
const usdtUsd = feed("0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7", 255);
const daiUsd = feed("0xc5C8E77B397E531B8EC06BFb0048328B30E9eCfB", DAY);
const btcUsd = feed("0x6ce185860a4963106506C203335A2910413708e9", 1755);

/**
 * Where the facts of arbitrum were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7)
 * - init codes: Uniswap/universal-router@020e1b78 script/deployParameters/DeployArbitrum.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Arbitrum.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkArbitrum.ts
 * - heartbeats: dao-envelop/uni-smart-wallet@d6caf3cd script/oracle_feeds.json (of 2026-08)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts
 * - sequencer: smartcontractkit/documentation@59e5cde7 src/content/data-feeds/l2-sequencer-feeds.mdx
 * - data fee: OffchainLabs/nitro-contracts@4ba14450 src/node-interface/NodeInterface.sol
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (the tag `finalized` is about 17 minutes behind)
 * - fees: https://docs.arbitrum.io/launch-arbitrum-chain/chain-config/costs/priority-fees (of 2026-10)
 *   (tips are not collected, and order nothing; blocks come four times a second)
 * - sending: https://docs.chainstack.com/docs/mempool-configuration (of 2026-10)
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const arbitrum: BookedNetwork = network({
  chainId: 42_161,
  explorer: "https://arbiscan.io",
  nativeSymbol: "ETH",
  wrapped: { symbol: "WETH", address: "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", feed: ethUsd },
  tokens: {
    USDC: token("0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6, { feed: usdcUsd }),
    "USDC.e": token("0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8", 6, { twinOf: "USDC" }),
    USDT: token("0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6, { feed: usdtUsd }),
    DAI: token("0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, { feed: daiUsd }),
    WBTC: token("0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f", 8, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32", feePips: 0 },
  ],
  sequencerFeed: "0xFdB631F5EE196F0ed6FAa767959853A9F217697D",
  dataFee: "arbitrum",
  fees: { maxPriorityFee: 0n, bumpAfterBlocks: 120 },
  routers: {
    "Uniswap SwapRouter02": "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
  },
  sending: "private-sequencer",
  first: { gasReserve: "0.005", maxGasPrice: "30gwei" },
});
