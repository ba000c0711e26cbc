// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToken, SolidlyFactory, SolidlyPool} from "./SolidlyPools.sol";

interface IWrappedCoin is IToken {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// Stands for Solidly's router, whose bytecode is in no package: the part of its interface that swapd writes, from its
/// facts, and the short forms beside them, with what is odd about both. The short ones compare the minimum with what pools
/// say beforehand; a way is not checked to be one; whatever is wrapped in the router goes to whoever asks for coins.
contract SolidlyRouter {
    struct Route {
        address from;
        address to;
        bool stable;
        address factory;
    }

    address public immutable defaultFactory;
    address public immutable weth;

    error Refused(string why);

    modifier until(uint256 deadline) {
        if (block.timestamp > deadline) revert Refused("late");
        _;
    }

    constructor(address factory, address weth_) {
        (defaultFactory, weth) = (factory, weth_);
    }

    receive() external payable {
        if (msg.sender != weth) revert Refused("coins");
    }

    function swapExactTokensForTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        Route[] calldata routes,
        address to,
        uint256 deadline
    ) external until(deadline) {
        uint256 said = amountIn;
        for (uint256 i = 0; i < routes.length; i++) {
            said = _pool(routes[i]).getAmountOut(said, routes[i].from);
        }
        if (said < amountOutMin) revert Refused("minimum");
        _take(routes[0], amountIn);
        _swap(routes, to);
    }

    function swapExactTokensForTokensSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        Route[] calldata routes,
        address to,
        uint256 deadline
    ) external until(deadline) {
        _take(routes[0], amountIn);
        _swapFor(routes, to, amountOutMin);
    }

    function swapExactETHForTokensSupportingFeeOnTransferTokens(
        uint256 amountOutMin,
        Route[] calldata routes,
        address to,
        uint256 deadline
    ) external payable until(deadline) {
        if (routes[0].from != weth) revert Refused("way");
        IWrappedCoin(weth).deposit{value: msg.value}();
        IToken(weth).transfer(address(_pool(routes[0])), msg.value);
        _swapFor(routes, to, amountOutMin);
    }

    function swapExactTokensForETHSupportingFeeOnTransferTokens(
        uint256 amountIn,
        uint256 amountOutMin,
        Route[] calldata routes,
        address to,
        uint256 deadline
    ) external until(deadline) {
        if (routes[routes.length - 1].to != weth) revert Refused("way");
        _take(routes[0], amountIn);
        _swap(routes, address(this));
        uint256 held = IToken(weth).balanceOf(address(this));
        if (held < amountOutMin) revert Refused("minimum");
        IWrappedCoin(weth).withdraw(held);
        (bool paid,) = to.call{value: held}("");
        if (!paid) revert Refused("recipient");
    }

    function _take(Route calldata first, uint256 amount) private {
        IToken(first.from).transferFrom(msg.sender, address(_pool(first)), amount);
    }

    function _swapFor(Route[] calldata routes, address to, uint256 minimum) private {
        IToken bought = IToken(routes[routes.length - 1].to);
        uint256 had = bought.balanceOf(to);
        _swap(routes, to);
        if (bought.balanceOf(to) - had < minimum) revert Refused("minimum");
    }

    /// Each pool sells what it has beyond its reserves.
    function _swap(Route[] calldata routes, address to) private {
        for (uint256 i = 0; i < routes.length; i++) {
            SolidlyPool pool = _pool(routes[i]);
            bool isUp = routes[i].from == pool.token0();
            uint256 came = IToken(routes[i].from).balanceOf(address(pool)) - (isUp ? pool.reserve0() : pool.reserve1());
            uint256 out = pool.getAmountOut(came, routes[i].from);
            address next = i + 1 < routes.length ? address(_pool(routes[i + 1])) : to;
            pool.swap(isUp ? 0 : out, isUp ? out : 0, next, "");
        }
    }

    function _pool(Route calldata route) private view returns (SolidlyPool) {
        address factory = route.factory == address(0) ? defaultFactory : route.factory;
        address pool = SolidlyFactory(factory).getPool(route.from, route.to, route.stable);
        if (pool == address(0)) revert Refused("pool");
        return SolidlyPool(pool);
    }
}
