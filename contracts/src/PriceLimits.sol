// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// One beyond the extremes of Uniswap's price range (TickMath): a swap that runs until the input is used up.
uint160 constant LOWEST_PRICE_LIMIT = 4295128740;
uint160 constant HIGHEST_PRICE_LIMIT = 1461446703485210103287273052203988822378723970341;
