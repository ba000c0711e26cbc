import { PANCAKESWAP_PAIR_CODE, UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, feed, MINUTE, network, token } from "./network.ts";

const bnbUsd = feed("0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE", 27);
const usdcUsd = feed("0x51597f405303C4377E36123cBc172b13269EA163", 15 * MINUTE);
const usdtUsd = feed("0xB97Ad0E74fa7d920791E90258A6E2085088b4320", 15 * MINUTE);
const ethUsd = feed("0x9ef1B8c0E4F7dc8bF5719Ea496883DC6401d5b2e", MINUTE);
const btcUsd = feed("0x264990fbd0A4796A3E3d8E37C4d5F87a3aCa5Ebf", MINUTE);

/**
 * Where the facts of bsc were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts;
 *   pancakeswap/pancake-v3-contracts@5cc479f0 common/config.ts, deployments/bscMainnet.json
 *   (the manager of Uniswap V4, which has no factory: Uniswap/sdks@241fb9a7, the same file)
 * - init codes: Uniswap/universal-router@020e1b78 script/deployParameters/DeployBSC.s.sol;
 *   pancakeswap/pancake-v3-contracts@ffa4fb2c projects/router/contracts/libraries/SmartRouterHelper.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3BNB.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkBNB.ts
 * - heartbeats: Chainlink's list of 2026-10, by a copy without a lasting address; round histories agree
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts;
 *   pancakeswap/pancake-document@28cc4e4e developers/smart-contracts/pancakeswap-exchange/v3-contracts/README.md
 * - finality: bnb-chain/bnb-chain.github.io@06fde283 docs/
 *   (the tag `finalized` is some blocks behind)
 * - sending: bnb-chain/bnb-chain.github.io@06fde283 docs/
 * - fees: https://docs.bnbchain.org/llms.txt (of 2026-11), blocks every 0.45 s
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const bsc: BookedNetwork = network({
  chainId: 56,
  explorer: "https://bscscan.com",
  nativeSymbol: "BNB",
  wrapped: { symbol: "WBNB", address: "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", feed: bnbUsd },
  tokens: {
    USDC: token("0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", 18, { feed: usdcUsd }),
    USDT: token("0x55d398326f99059fF775485246999027B3197955", 18, { feed: usdtUsd }),
    ETH: token("0x2170Ed0880ac9A755fd29B2688956BD959F933F8", 18, { feed: ethUsd }),
    BTCB: token("0x7130d2A12B9BCbFAe4f2634d864A1Ee1Ce3Ead9c", 18, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0xdB1d10011AD0Ff90774D0C6Bb92e5C5c8b4461F7", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    {
      kind: 5,
      factory: "0xcA143Ce32Fe78f1f7019d7d551a6402fC5350c73",
      feePips: 2_500,
      initCodeHash: PANCAKESWAP_PAIR_CODE,
    },
    { kind: 6, factory: "0x28e2Ea090877bF75740558f6BFB36A5ffeE9e9dF", feePips: 0 },
    { kind: 4, factory: "0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865", feePips: 0 },
  ],
  routers: {
    "Uniswap SwapRouter02": "0xB971eF87ede563556b2ED4b1C0b0019111Dd85d2",
    "PancakeSwap SmartRouter": "0x13f4EA83D0bd40E75C8222255bc855a974568Dd4",
    "PancakeSwap V2 router": "0x10ED43C718714eb63d5aA57B78B54704E256024E",
  },
  // Nearly all that is traded there lies in its pools.
  tradedThrough: "PancakeSwap SmartRouter",
  fees: { maxPriorityFee: undefined, bumpAfterBlocks: 67 },
  sending: "private-relay",
  relays: [
    {
      name: "PancakeSwap MEV Guard",
      url: "https://bscrpc.pancakeswap.finance",
      says: "goes to builders, not to the public pool",
    },
  ],
  first: { gasReserve: "0.01", maxGasPrice: "5gwei" },
});
