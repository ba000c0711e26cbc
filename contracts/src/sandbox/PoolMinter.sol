// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IUniswapV2Pair, IUniswapV3Pool} from "../interfaces/IUniswapPools.sol";

/// Deposits into pools and trades with them for the caller, who approves this contract. For sandboxes only: it trusts
/// the pool that the caller names, so whoever keeps an approval here must name honest pools.
contract PoolMinter {
    using SafeERC20 for IERC20;

    // One beyond the extremes of Uniswap V3's price range.
    uint160 private constant LOWEST_PRICE_LIMIT = 4295128740;
    uint160 private constant HIGHEST_PRICE_LIMIT = 1461446703485210103287273052203988822378723970341;

    // The V3 call in flight: who may call back, and who pays.
    address private transient _pool;
    address private transient _payer;

    error CallInFlight(address pool);
    error UnexpectedCallback(address caller);

    function addV2(address pair, uint256 amount0, uint256 amount1) external returns (uint256 liquidity) {
        IERC20(IUniswapV2Pair(pair).token0()).safeTransferFrom(msg.sender, pair, amount0);
        IERC20(IUniswapV2Pair(pair).token1()).safeTransferFrom(msg.sender, pair, amount1);
        return IUniswapV2Pair(pair).mint(msg.sender);
    }

    function mintV3(address pool, int24 tickLower, int24 tickUpper, uint128 liquidity)
        external
        returns (uint256 amount0, uint256 amount1)
    {
        _open(pool);
        (amount0, amount1) = IUniswapV3Pool(pool).mint(msg.sender, tickLower, tickUpper, liquidity, "");
        _close();
    }

    /// Exact input at the 0.3 % fee of Uniswap V2.
    function swapV2(address pair, bool zeroForOne, uint256 amountIn) external returns (uint256 amountOut) {
        (uint256 reserve0, uint256 reserve1,) = IUniswapV2Pair(pair).getReserves();
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        address tokenIn = zeroForOne ? IUniswapV2Pair(pair).token0() : IUniswapV2Pair(pair).token1();
        IERC20(tokenIn).safeTransferFrom(msg.sender, pair, amountIn);
        uint256 amountInAfterFee = amountIn * 997;
        amountOut = amountInAfterFee * reserveOut / (reserveIn * 1000 + amountInAfterFee);
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, uint256(0));
        IUniswapV2Pair(pair).swap(out0, out1, msg.sender, "");
    }

    /// Exact input, as far as the pool's liquidity goes.
    function swapV3(address pool, bool zeroForOne, uint256 amountIn) external returns (uint256 amountOut) {
        _open(pool);
        uint160 limit = zeroForOne ? LOWEST_PRICE_LIMIT : HIGHEST_PRICE_LIMIT;
        (int256 amount0, int256 amount1) =
            IUniswapV3Pool(pool).swap(msg.sender, zeroForOne, SafeCast.toInt256(amountIn), limit, "");
        _close();
        return SafeCast.toUint256(-(zeroForOne ? amount1 : amount0));
    }

    function uniswapV3MintCallback(uint256 amount0Owed, uint256 amount1Owed, bytes calldata) external {
        _pay(amount0Owed, amount1Owed);
    }

    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata) external {
        _pay(amount0Delta > 0 ? uint256(amount0Delta) : 0, amount1Delta > 0 ? uint256(amount1Delta) : 0);
    }

    function _open(address pool) private {
        if (_pool != address(0)) revert CallInFlight(_pool);
        _pool = pool;
        _payer = msg.sender;
    }

    function _close() private {
        _pool = address(0);
        _payer = address(0);
    }

    function _pay(uint256 amount0, uint256 amount1) private {
        if (msg.sender != _pool) revert UnexpectedCallback(msg.sender);
        if (amount0 != 0) IERC20(IUniswapV3Pool(_pool).token0()).safeTransferFrom(_payer, _pool, amount0);
        if (amount1 != 0) IERC20(IUniswapV3Pool(_pool).token1()).safeTransferFrom(_payer, _pool, amount1);
    }
}
