import type { z } from "zod";
import type { NetworkOptions } from "../options.ts";
import type { Balance } from "../tokens/balances.ts";
import type { TokenEntry } from "../tokens/token-list.ts";
import type { balancesResponse, networksResponse, tokenResponse } from "./response-schemas.ts";

/** Places that are worth showing of an amount. */
const MAX_DISPLAY_DECIMALS = 6;

export function toWireNetwork({ name, chainId }: NetworkOptions): z.infer<typeof networksResponse>[number] {
  return { id: chainId, name, chainId, logoUrl: null };
}

export function toWireToken(token: TokenEntry, network: NetworkOptions): z.infer<typeof tokenResponse> {
  const { name, symbol, address, decimals, usdPrice } = token;
  return {
    id: `${network.chainId}:${address}`,
    name,
    symbol,
    address,
    decimals,
    displayDecimals: Math.min(decimals, MAX_DISPLAY_DECIMALS),
    isReliable: token.isListed,
    logoUrl: null,
    usdPrice,
    permit: token.hasPermit,
    network: toWireNetwork(network),
  };
}

export function toWireBalance(balance: Balance, network: NetworkOptions): z.infer<typeof balancesResponse>[number] {
  const { wallet, token, amount } = balance;
  return { walletAddress: wallet, tokenAddress: token, amount: amount.toString(), networkId: network.chainId };
}
