import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, DAY, feed, GWEI, MINUTE, network, token } from "./network.ts";

const ethUsd = feed("0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70", 20 * MINUTE);
const usdcUsd = feed("0x7e860098F58bBFC8648a4311b374B1D669a2bc6B", DAY);
const cbBtcUsd = feed("0x07DA0E54543a844a80ABE69c8A12F22B3aA59f9D", 20 * MINUTE);
const usdtUsd = feed("0xf19d560eB8d2ADf07BD6D13ed03e1D11215721F9", DAY);
const daiUsd = feed("0x591e79239a7d679378eC8c847e5038150364C78F", DAY);

/**
 * Where the facts of base were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7);
 *   of Slipstream: aerodrome-finance/slipstream@7844368a README.md; of Solidly's pools: its contracts@a5fae2e8 README.md
 * - init codes: Uniswap/universal-router@020e1b78 script/deployParameters/DeployBase.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Base.ts;
 *   USDT and DAI: ethereum-optimism/ethereum-optimism.github.io@9db0b003 data/
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkBase.ts
 * - heartbeats: dao-envelop/uni-smart-wallet@d6caf3cd script/oracle_feeds.json (of 2026-08)
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts; aerodrome-finance/contracts@a5fae2e8 README.md;
 *   aerodrome-finance/slipstream@7844368a README.md
 * - sequencer: smartcontractkit/documentation@59e5cde7 src/content/data-feeds/l2-sequencer-feeds.mdx
 * - data fee: ethereum-optimism/specs@830d0e30 specs/experimental/contracts/L2/gas-price-oracle.md
 * - finality: smartcontractkit/documentation@59e5cde7 src/content/ccip/ccip-execution-latency.mdx
 *   (the tag `finalized` is about 18 minutes behind)
 * - fees: https://docs.base.org/base-chain/network-information/transaction-ordering (of 2026-10)
 *   (blocks come every two seconds, and are ordered by the tip; a node suggests a thousandth of a gwei)
 * - sending: ethereum-optimism/docs@0aabb756 pages/stack/differences.mdx (mempool rules)
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const base: BookedNetwork = network({
  chainId: 8_453,
  explorer: "https://basescan.org",
  nativeSymbol: "ETH",
  wrapped: { symbol: "WETH", address: "0x4200000000000000000000000000000000000006", feed: ethUsd },
  tokens: {
    USDC: token("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, { feed: usdcUsd }),
    USDbC: token("0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA", 6, { twinOf: "USDC" }),
    cbBTC: token("0xcbB7C0000aB88B473b1f5aFd9ef808440eed33Bf", 8, { feed: cbBtcUsd }),
    USDT: token("0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2", 6, { feed: usdtUsd }),
    DAI: token("0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", 18, { feed: daiUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x33128a8fC17869897dcE68Ed026d694621f6FDfD", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x498581fF718922c3f8e6A244956aF099B2652b2b", feePips: 0 },
    { kind: 7, factory: "0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A", feePips: 0 },
    { kind: 8, factory: "0x420DD381b31aEf6683db6B902084cB0FFECe40Da", feePips: 0 },
  ],
  sequencerFeed: "0xBCF85224fc0756B9Fa45aA7892530B47e10b6433",
  dataFee: "op-stack",
  fees: { maxPriorityFee: GWEI / 10n, bumpAfterBlocks: 15 },
  routers: {
    "Uniswap SwapRouter02": "0x2626664c2603336E57B271c5C0b26F421741e481",
    "Aerodrome v1 router": "0xcF77a3Ba9A5CA399B7c97c74d54e5b1Beb874E43",
    "Slipstream SwapRouter": "0xBE6D8f0d05cC4be24d5167a3eF062215bE6D18a5",
  },
  sending: "private-sequencer",
  first: { gasReserve: "0.005", maxGasPrice: "30gwei" },
});
