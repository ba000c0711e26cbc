import type { Hex } from "../../domain/money/address.ts";

/** First four bytes of the keccak hash of each signature the service reads with on its hot path. */
export const SELECTOR = {
  /** getPair(address,address) */
  getPair: "0xe6a43905",
  /** getReserves() */
  getReserves: "0x0902f1ac",
  /** getPool(address,address,uint24) */
  getPool: "0x1698ee82",
  /** feeAmountTickSpacing(uint24) */
  feeAmountTickSpacing: "0x22afcccb",
  /** slot0() */
  slot0: "0x3850c7bd",
  /** liquidity() */
  liquidity: "0x1a686502",
  /** tickBitmap(int16) */
  tickBitmap: "0x5339c296",
  /** ticks(int24) */
  ticks: "0xf30dba93",
  /** find_pool_for_coins(address,address,uint256) */
  findPoolForCoins: "0x6982eb0b",
  /** get_coin_indices(address,address,address) */
  getCoinIndices: "0xeb85226d",
  /** balances(uint256) */
  balances: "0x4903b0d1",
  /** A_precise() */
  amplification: "0x76a2f0f0",
  /** fee() */
  fee: "0xddca3f43",
  /** admin_fee() */
  adminFee: "0xfee3f7f9",
  /** get_dy(int128,int128,uint256) */
  getDy: "0x5e0d443f",
  /** stored_rates() */
  storedRates: "0xfd0684b1",
  /** get_pool_asset_types(address) */
  getPoolAssetTypes: "0xa80f2464",
  /** decimals() */
  decimals: "0x313ce567",
  /** balanceOf(address) */
  balanceOf: "0x70a08231",
  /** allowance(address,address) */
  allowance: "0xdd62ed3e",
  /** nonces(address) */
  nonces: "0x7ecebe00",
  /** DOMAIN_SEPARATOR() */
  domainSeparator: "0x3644e515",
} as const satisfies Record<string, Hex>;
