import type { PoolKind, PoolKindNumber } from "./pool.ts";
import { stable } from "./stable/kind.ts";
import { uniswapV2 } from "./uniswap-v2/kind.ts";
import { uniswapV3 } from "./uniswap-v3/kind.ts";

/** Every kind of pool the service can quote, by the number that the settlement contracts give it. */
export const POOL_KINDS: Readonly<Record<PoolKindNumber, PoolKind>> = { 1: uniswapV2, 2: uniswapV3, 3: stable };

/** Names of all kinds: what a request may allow. */
export const LIQUIDITY_SOURCES: readonly string[] = Object.values(POOL_KINDS).map((kind) => kind.source);
