// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// The native token in orders, as in the quotes that they come from.
address constant NATIVE = address(0);

/// What the owner wants. Amounts are in the smallest unit of their token.
/// Gross = amountIn + swapFee + affiliateFee, all in fromAsset, is what leaves the owner.
struct Swap {
    address recipient;
    address fromAsset;
    address toAsset;
    uint256 deadline; // last block timestamp (seconds) at which the swap may run
    uint256 amountOutMin;
    uint256 swapFee;
    uint256 amountIn;
    uint256 nonce;
    address affiliate;
    uint256 affiliateFee;
}

/// One trade in one pool. A leg names a pool, never a call: there is no free calldata in a route.
struct Leg {
    uint8 protocol; // index into the executor's list
    address pool; // V4: the manager
    address tokenIn;
    address tokenOut;
    // V3 and V4: fee tier, with 1 << 23 where a V4 pool is one of the native coin, which the wrapped token stands for;
    // a stable pool's place in its factory's list for the two coins; V2: 0
    uint24 fee;
    uint64 portion; // parts of 1e18 of what the executor holds of tokenIn at that moment
}

/// An EIP-2612 permit for the settlement; v == 0 means that there is none.
struct Permit {
    uint256 value;
    uint256 deadline;
    uint8 v;
    bytes32 r;
    bytes32 s;
}

/// A family of pools, known by its factory.
struct Protocol {
    uint8 kind; // 1 = Uniswap V2 style, 2 = Uniswap V3 style, 3 = Curve style stable pools, 4 = Uniswap V4 without hooks
    address factory; // V4: the manager that all pools lie in
    uint24 feePips; // V2 only: fee in millionths (3000 = 0.3 %); 0 where each pool has its own
    bytes32 initCodeHash; // V2 and V3: of the code that the factory creates its pools by, 0 where it is not known
}
