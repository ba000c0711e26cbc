// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {IPoolManager, PoolKey, SwapParams} from "./interfaces/IUniswapV4.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";
import {NativeCoin} from "./NativeCoin.sol";
import {HIGHEST_PRICE_LIMIT, LOWEST_PRICE_LIMIT} from "./PriceLimits.sol";
import {Leg} from "./SwapTypes.sol";

/// Trades in pools of Uniswap V4 without hooks, which all lie in one manager and run no code but its own.
abstract contract UniswapV4Legs is NativeCoin {
    using SafeERC20 for IERC20;

    /// Of a leg's fee: the pool is one of the native coin, which the wrapped token of the leg stands for.
    uint24 internal constant NATIVE_POOL = 1 << 23;
    address private constant NATIVE_CURRENCY = address(0);

    // The manager that was just asked to unlock: the only contract that may call back so, once, for this leg.
    address private transient _unlockingManager;
    address private transient _sold;
    uint24 private transient _fee;
    address private transient _bought;
    uint256 private transient _most;

    error UnexpectedCallback(address caller, address payingPool);
    error CallbackOverdrawn(uint256 amount, uint256 maximum);

    function _swapV4(Leg calldata leg, uint256 amount) internal {
        _unlockingManager = leg.pool;
        (_sold, _fee, _bought, _most) = (leg.tokenIn, leg.fee, leg.tokenOut, amount);
        IPoolManager(leg.pool).unlock("");
        _unlockingManager = address(0);
    }

    /// The callback of Uniswap V4's manager: trades in the pool of the leg in flight, pays for it and takes what it
    /// brings. All of that is known here: what the manager hands on is not read.
    function unlockCallback(bytes calldata) external returns (bytes memory) {
        if (msg.sender != _unlockingManager) revert UnexpectedCallback(msg.sender, _unlockingManager);
        // Cleared before anything else: a manager is dealt with once for a leg.
        _unlockingManager = address(0);
        IPoolManager manager = IPoolManager(msg.sender);
        (address tokenIn, address tokenOut, uint24 fee) = (_sold, _bought, _fee);
        (address currencyIn, address currencyOut) = (_currencyOf(tokenIn, fee), _currencyOf(tokenOut, fee));
        (uint256 owed, uint256 bought) = _trade(manager, currencyIn, currencyOut, fee & ~NATIVE_POOL);
        if (owed > _most) revert CallbackOverdrawn(owed, _most);
        // What somebody asked it to remember before would be taken for what is remembered for this payment.
        manager.sync(currencyIn);
        if (currencyIn == NATIVE_CURRENCY) {
            IWrappedNative(tokenIn).withdraw(owed);
            manager.settle{value: owed}();
        } else {
            IERC20(tokenIn).safeTransfer(address(manager), owed);
            manager.settle();
        }
        if (currencyOut == NATIVE_CURRENCY) _takeNative(manager, bought);
        else manager.take(tokenOut, address(this), bought);
        return "";
    }

    /// Wraps what comes, and no native coin that somebody forced upon this contract.
    function _takeNative(IPoolManager manager, uint256 bought) private {
        uint256 before = address(this).balance;
        _expectNativeFrom(address(manager));
        manager.take(NATIVE_CURRENCY, address(this), bought);
        _expectNativeFrom(address(0));
        IWrappedNative(_wrappedNative).deposit{value: address(this).balance - before}();
    }

    function _trade(IPoolManager manager, address currencyIn, address currencyOut, uint24 fee)
        private
        returns (uint256 owed, uint256 bought)
    {
        bool zeroForOne = currencyIn < currencyOut;
        (address currency0, address currency1) = zeroForOne ? (currencyIn, currencyOut) : (currencyOut, currencyIn);
        uint160 limit = zeroForOne ? LOWEST_PRICE_LIMIT : HIGHEST_PRICE_LIMIT;
        int256 delta = manager.swap(
            PoolKey(currency0, currency1, fee, _spacingOf(fee), address(0)),
            SwapParams(zeroForOne, -SafeCast.toInt256(_most), limit),
            ""
        );
        (int256 delta0, int256 delta1) = (delta >> 128, int128(delta));
        owed = SafeCast.toUint256(-(zeroForOne ? delta0 : delta1));
        bought = SafeCast.toUint256(zeroForOne ? delta1 : delta0);
    }

    /// Of the pairs of fee and spacing that interfaces offer: 0.01 % and 1, 0.05 % and 10, 0.3 % and 60, 1 % and 200.
    function _spacingOf(uint24 fee) private pure returns (int24) {
        return fee == 100 ? int24(1) : int24(fee / 50);
    }

    function _currencyOf(address token, uint24 fee) private view returns (address) {
        return token == _wrappedNative && fee & NATIVE_POOL != 0 ? NATIVE_CURRENCY : token;
    }
}
