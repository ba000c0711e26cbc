// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What a pool of Uniswap V4 is known by.
struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct SwapParams {
    bool zeroForOne;
    int256 amountSpecified; // below zero: what is sold
    uint160 sqrtPriceLimitX96;
}

/// The contract that holds all pools of Uniswap V4.
interface IPoolManager {
    /// Calls `unlockCallback` of the caller; afterwards everybody must have paid what he owes.
    function unlock(bytes calldata data) external returns (bytes memory);

    /// @return delta what the caller gets of each token, or owes where it is below zero: 128 bits each, the first above
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata hookData)
        external
        returns (int256 delta);

    /// Remembers what the manager has of a token, so that `settle` sees what came.
    function sync(address currency) external;

    function settle() external payable returns (uint256 paid);

    function take(address currency, address to, uint256 amount) external;
}
