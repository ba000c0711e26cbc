import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, DAY, feed, HOUR, network, token } from "./network.ts";

const ethUsd = feed("0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", HOUR);
const usdcUsd = feed("0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6", 23 * HOUR);
const usdtUsd = feed("0x3E7d1eAB13ad0104d2750B8863b489D65364e32D", DAY);
const daiUsd = feed("0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9", HOUR);
const btcUsd = feed("0xF4030086522a5bEEa4988F8cA5B36dbC97BeE88c", HOUR);

/**
 * Where the facts of ethereum were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7)
 * - init codes: Uniswap/universal-router@01e89b02 script/deployParameters/DeployMainnet.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Ethereum.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkEthereum.ts
 * - heartbeats: dao-envelop/uni-smart-wallet@d6caf3cd script/oracle_feeds.json (of 2026-08)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts;
 *   pancakeswap/pancake-document@28cc4e4e developers/smart-contracts/pancakeswap-exchange/v3-contracts/README.md
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (the tag `finalized` is about 15 minutes behind)
 * - sending: flashbots/flashbots-docs@272fd13d docs/flashbots-protect/ and
 *   cowprotocol/docs@b9cb5996 docs/mevblocker/
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const ethereum: BookedNetwork = network({
  chainId: 1,
  explorer: "https://etherscan.io",
  nativeSymbol: "ETH",
  wrapped: { symbol: "WETH", address: "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", feed: ethUsd },
  tokens: {
    USDC: token("0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", 6, { feed: usdcUsd }),
    USDT: token("0xdAC17F958D2ee523a2206206994597C13D831ec7", 6, { feed: usdtUsd }),
    DAI: token("0x6B175474E89094C44Da98b954EedeAC495271d0F", 18, { feed: daiUsd }),
    WBTC: token("0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599", 8, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x000000000004444c5dc75cB358380D2e3dE08A90", feePips: 0 },
  ],
  routers: {
    "Uniswap SwapRouter02": "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
    "PancakeSwap SmartRouter": "0x13f4EA83D0bd40E75C8222255bc855a974568Dd4",
  },
  sending: "private-relay",
  relays: [
    {
      name: "Flashbots Protect",
      url: "https://rpc.flashbots.net",
      says: "goes to Flashbots' builder, hints of it to searchers; dropped after 25 blocks; never mined if it reverts",
    },
    {
      name: "MEV Blocker",
      url: "https://rpc.mevblocker.io/noreverts",
      says: "goes to builders and searchers; never mined if it reverts; best-effort cancellation (2025-07)",
    },
  ],
  first: { gasReserve: "0.01", maxGasPrice: "30gwei" },
});
