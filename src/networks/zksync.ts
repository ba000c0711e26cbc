import { type BookedNetwork, DAY, EMPTY_GAS_LIMIT_WITH_DATA, feed, network, token } from "./network.ts";

const ethUsd = feed("0x6D41d1dc818112880b40e26BD6FD347E41008eDA", DAY);
const usdcUsd = feed("0x1824D297C6d6D311A204495277B63e943C2D376E", DAY);
const usdtUsd = feed("0xB615075979AE1836B476F651f1eB79f0Cd3956a9", DAY);

/**
 * Where the facts of zksync were read; none was tried against the live network.
 * - factories: Uniswap/sdks@d90bb7d3 sdks/sdk-core/src/addresses.ts
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3ZkSync.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkZkSync.ts
 * - heartbeats: VenusProtocol/vips@1f6abd50 multisig/proposals/zksyncmainnet/vip-001/index.ts (of 2024-08)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts
 * - sequencer: smartcontractkit/documentation@59e5cde7 src/content/data-feeds/l2-sequencer-feeds.mdx
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (no source says that the tag `finalized` works; on L1 a block is final after hours)
 * - empty transactions: docs.rs/crate/zksync_system_constants/0.1.0 src/fees/intrinsic.rs and src/ethereum.rs
 *   (14,070 gas and 7,343 for the refund before any data; gas pays for data, up to 50,000 a byte; at most 80,000,000)
 * - sending: https://docs.chainstack.com/docs/mempool-configuration (of 2026-10)
 * - fees: https://www.alchemy.com/rpc/zksync (of 2026-11), blocks every 2 s or faster
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const zksync: BookedNetwork = network({
  chainId: 324,
  explorer: "https://explorer.zksync.io",
  nativeSymbol: "ETH",
  wrapped: { symbol: "WETH", address: "0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91", feed: ethUsd },
  tokens: {
    USDC: token("0x1d17CBcF0D6D143135aE902365D2E5e2A16538D4", 6, { feed: usdcUsd }),
    USDT: token("0x493257fD37EDB34451f62EDf8D2a0C418852bA4C", 6, { feed: usdtUsd }),
  },
  protocols: [{ kind: 2, factory: "0x8FdA5a7a8dCA67BBcDd10F02Fa0649A937215422", feePips: 0 }],
  emptyGasLimit: EMPTY_GAS_LIMIT_WITH_DATA,
  sequencerFeed: "0x0E6AC8B967393dcD3D36677c126976157F993940",
  noSettlement: "zksync is unsupported by the settlement contracts: its bytecode and its CREATE2 differ",
  routers: {
    "Uniswap SwapRouter02": "0x99c56385daBCE3E81d8499d0b8d0257aBC07E8A3",
  },
  fees: { maxPriorityFee: undefined, bumpAfterBlocks: 30 },
  sending: "private-sequencer",
  first: { gasReserve: "0.005", maxGasPrice: "30gwei" },
});
