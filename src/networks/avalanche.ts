import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, DAY, feed, MINUTE, network, token } from "./network.ts";

const avaxUsd = feed("0x0A77230d17318075983913bC2145DB16C7366156", 2 * MINUTE);
const usdcUsd = feed("0xF096872672F44d6EBA71458D74fe67F9a77a23B9", DAY);
const usdtUsd = feed("0xEBE676ee90Fe1112671f19b6B7459bC678B67e8a", DAY);
const daiUsd = feed("0x51D7180edA2260cc4F6e4EebB82FEF5c3c2B8300", DAY);
const ethUsd = feed("0x976B3D034E162d8bD72D6b9C989d545b839003b0", DAY);
const btcUsd = feed("0x2779D32d5166BAaa2B2b658333bA7e6Ec0C65743", DAY);

/**
 * Where the facts of avalanche were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7)
 * - init codes: Uniswap/universal-router@1ff8a109 script/deployParameters/DeployAvalanche.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Avalanche.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkAvalanche.ts
 * - heartbeats: avasnap/cchainlink@64f33935 avalanche_chainlink_feeds.csv (Chainlink's list of 2026-03)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (the tag `finalized` is about a second behind)
 * - sending: https://docs.chainstack.com/docs/mempool-configuration (of 2026-10)
 * - fees: https://www.alchemy.com/rpc/avalanche (of 2026-11), blocks every 2 s or faster
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const avalanche: BookedNetwork = network({
  chainId: 43_114,
  explorer: "https://snowtrace.io",
  nativeSymbol: "AVAX",
  wrapped: { symbol: "WAVAX", address: "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7", feed: avaxUsd },
  tokens: {
    USDC: token("0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6, { feed: usdcUsd }),
    USDT: token("0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", 6, { feed: usdtUsd }),
    "DAI.e": token("0xd586E7F844cEa2F87f50152665BCbc2C279D8d70", 18, { feed: daiUsd }),
    "WETH.e": token("0x49D5c2BdFfac6CE2BFdB6640F4F80f226bc10bAB", 18, { feed: ethUsd }),
    "BTC.b": token("0x152b9d0FdC40C096757F570A51E494bd4b943E50", 8, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x740b1c1de25031C31FF4fC9A62f554A55cdC1baD", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x06380C0e0912312B5150364B9DC4542BA0DbBc85", feePips: 0 },
  ],
  routers: {
    "Uniswap SwapRouter02": "0xbb00FF08d01D300023C629E8fFfFcb65A5a578cE",
  },
  fees: { maxPriorityFee: undefined, bumpAfterBlocks: 30 },
  sending: "public-mempool",
  first: { gasReserve: "0.2", maxGasPrice: "100gwei" },
});
