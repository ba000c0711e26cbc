import type { Hex } from "../../../domain/money/address.ts";

/** Selectors of Curve's factories and pools. */
export const STABLE_SELECTOR = {
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
} as const satisfies Record<string, Hex>;
