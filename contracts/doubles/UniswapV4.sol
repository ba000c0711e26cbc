// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// Deposits into pools of Uniswap V4 and trades with them, in tests. The manager's own bytecode is read from its package.

import {Prices, Tokens} from "./Pancake.sol";

struct PoolKey {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

interface IManager {
    struct ModifyLiquidityParams {
        int24 tickLower;
        int24 tickUpper;
        int256 liquidityDelta;
        bytes32 salt;
    }

    struct SwapParams {
        bool zeroForOne;
        int256 amountSpecified;
        uint160 sqrtPriceLimitX96;
    }

    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey memory key, ModifyLiquidityParams memory params, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata hookData)
        external
        returns (int256 delta);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// Trades for the caller, who approves this contract; native coins are those that this contract was given.
contract V4Hand {
    struct Job {
        address owner;
        PoolKey key;
        bool zeroForOne;
        uint256[] amounts;
        IManager.ModifyLiquidityParams deposit;
    }

    IManager public immutable manager;

    error NotTheManager(address caller);

    constructor(IManager manager_) {
        manager = manager_;
    }

    receive() external payable {}

    function deposit(PoolKey calldata key, int24 lower, int24 upper, int256 liquidity) external {
        Job memory job;
        (job.owner, job.key) = (msg.sender, key);
        job.deposit = IManager.ModifyLiquidityParams(lower, upper, liquidity, 0);
        manager.unlock(abi.encode(job));
    }

    /// Sells one amount after the other. What was taken is less than that where the pool ends.
    function sell(PoolKey calldata key, bool zeroForOne, uint256[] calldata amounts)
        external
        returns (uint256[] memory taken, uint256[] memory paid)
    {
        Job memory job;
        (job.owner, job.key, job.zeroForOne, job.amounts) = (msg.sender, key, zeroForOne, amounts);
        return abi.decode(manager.unlock(abi.encode(job)), (uint256[], uint256[]));
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        if (msg.sender != address(manager)) revert NotTheManager(msg.sender);
        Job memory job = abi.decode(data, (Job));
        if (job.amounts.length == 0) {
            (int256 delta,) = manager.modifyLiquidity(job.key, job.deposit, "");
            _even(job.key.currency0, job.owner, delta >> 128);
            _even(job.key.currency1, job.owner, int128(delta));
            return "";
        }
        (uint256[] memory taken, uint256[] memory paid) =
            (new uint256[](job.amounts.length), new uint256[](job.amounts.length));
        for (uint256 i = 0; i < job.amounts.length; i++) {
            (taken[i], paid[i]) = _sell(job, job.amounts[i]);
        }
        return abi.encode(taken, paid);
    }

    function _sell(Job memory job, uint256 amount) private returns (uint256, uint256) {
        int256 delta = manager.swap(
            job.key, IManager.SwapParams(job.zeroForOne, -int256(amount), Prices.limit(job.zeroForOne)), ""
        );
        (int256 delta0, int256 delta1) = (delta >> 128, int128(delta));
        _even(job.key.currency0, job.owner, delta0);
        _even(job.key.currency1, job.owner, delta1);
        return job.zeroForOne ? (uint256(-delta0), uint256(delta1)) : (uint256(-delta1), uint256(delta0));
    }

    /// Pays what is owed, or takes what is due.
    function _even(address currency, address owner, int256 delta) private {
        if (delta > 0) manager.take(currency, owner, uint256(delta));
        if (delta >= 0) return;
        manager.sync(currency);
        if (currency == address(0)) {
            manager.settle{value: uint256(-delta)}();
            return;
        }
        Tokens.take(currency, owner, address(manager), uint256(-delta));
        manager.settle();
    }
}
