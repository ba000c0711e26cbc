import { UNISWAP_PAIR_CODE, UNISWAP_POOL_CODE } from "./init-codes.ts";
import { type BookedNetwork, feed, network, token } from "./network.ts";

// No list was found for bitcoin and dollars: 27 s is from a note of 2026-08, 90 s from one without a date, and others
// measured a minute. A heartbeat that is too short stops trading and says so.
const polUsd = feed("0xAB594600376Ec9fD91F8e885dADF0CE036862dE0", 27);
const usdcUsd = feed("0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7", 90);
const usdtUsd = feed("0x0A6513e40db6EB1b165753AD52E80663aeA50545", 90);
const daiUsd = feed("0x4746DeC9e833A82EC7C2C1356372CcF2cfcD2F3D", 90);
const ethUsd = feed("0xF9680D99D6C9589e2a93a78A04A279e509205945", 27);
const btcUsd = feed("0xc907E116054Ad103354f2D350FD2514433D57F6f", 27);

/**
 * Where the facts of polygon were read; none was tried against the live network.
 * - factories: Uniswap/sdks@0058bfb6 sdks/sdk-core/src/addresses.ts
 *   (the manager of Uniswap V4, which has no factory: the same file of 241fb9a7)
 * - init codes: Uniswap/universal-router@020e1b78 script/deployParameters/DeployPolygon.s.sol
 * - tokens: bgd-labs/aave-address-book@f61c9762 src/ts/AaveV3Polygon.ts
 * - feeds: bgd-labs/aave-address-book@f61c9762 src/ts/ChainlinkPolygon.ts
 * - heartbeats: beefyfinance/beefy-api@91b868b2 src/utils/fetchChainLinkPrices.ts (of 2023-03), and above
 * - routers: Uniswap/sdks@241fb9a7 sdks/sdk-core/src/addresses.ts
 * - finality: 0xPolygon/polygon-docs@0f9ab164 docs/pos/concepts/finality/finality.md
 *   (the tag `finalized` is a milestone, some seconds behind)
 * - sending: https://docs.chainstack.com/docs/mempool-configuration (of 2026-10)
 * - fees: https://www.alchemy.com/rpc/matic (of 2026-11), blocks every 2 s
 * - explorer: ethereum-lists/chains@043d0301 _data/chains/
 */
export const polygon: BookedNetwork = network({
  chainId: 137,
  explorer: "https://polygonscan.com",
  nativeSymbol: "POL",
  wrapped: { symbol: "WPOL", address: "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270", feed: polUsd },
  tokens: {
    USDC: token("0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", 6, { feed: usdcUsd }),
    "USDC.e": token("0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174", 6, { twinOf: "USDC" }),
    USDT: token("0xc2132D05D31c914a87C6611C10748AEb04B58e8F", 6, { feed: usdtUsd }),
    DAI: token("0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063", 18, { feed: daiUsd }),
    WETH: token("0x7ceB23fD6bC0adD59E62ac25578270cFf1b9f619", 18, { feed: ethUsd }),
    WBTC: token("0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6", 8, { feed: btcUsd }),
  },
  protocols: [
    { kind: 1, factory: "0x9e5A52f57b3038F1B8EeE45F28b3C1967e22799C", feePips: 3_000, initCodeHash: UNISWAP_PAIR_CODE },
    { kind: 2, factory: "0x1F98431c8aD98523631AE4a59f267346ea31F984", feePips: 0, initCodeHash: UNISWAP_POOL_CODE },
    { kind: 6, factory: "0x67366782805870060151383F4BbFF9daB53e5cD6", feePips: 0 },
  ],
  routers: {
    "Uniswap SwapRouter02": "0x68b3465833fb72A70ecDF485E0e4C7bD8665Fc45",
  },
  fees: { maxPriorityFee: undefined, bumpAfterBlocks: 15 },
  sending: "public-mempool",
  first: { gasReserve: "2", maxGasPrice: "500gwei" },
});
