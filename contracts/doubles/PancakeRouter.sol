// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IPool, IToken, IWrapped, PancakePair, PancakePairFactory, Prices, Tokens} from "./Pancake.sol";

/// Stands for PancakeSwap's SmartRouter: the part of its interface that swapd writes, with what is odd about it (an
/// amount of 0 is all that the router holds, two recipients stand for others, a sweep pays all that is there), over pools
/// whose addresses it computes from their deployer. It is not the router, whose bytecode is in no package.
contract PancakeRouter {
    address private constant CALLER = address(1);
    address private constant ITSELF = address(2);

    address public immutable factoryV2;
    address public immutable deployer;
    address public immutable factory;
    address public immutable WETH9;
    bytes32 private immutable _poolCodeHash;

    uint256 private _entered = 1;

    struct Single {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    struct Several {
        bytes path;
        address recipient;
        uint256 amountIn;
        uint256 amountOutMinimum;
    }

    struct Payment {
        address tokenIn;
        address tokenOut;
        uint24 fee;
        address payer;
    }

    error Late();
    error Reentered();
    error TooLittle();
    error NotThePool(address caller);

    modifier once() {
        if (_entered != 1) revert Reentered();
        _entered = 2;
        _;
        _entered = 1;
    }

    constructor(address factoryV2_, address deployer_, address factory_, address wrapped, bytes32 poolCodeHash) {
        (factoryV2, deployer, factory, WETH9) = (factoryV2_, deployer_, factory_, wrapped);
        _poolCodeHash = poolCodeHash;
    }

    receive() external payable {
        if (msg.sender != WETH9) revert NotThePool(msg.sender);
    }

    function multicall(uint256 deadline, bytes[] calldata data) external payable returns (bytes[] memory answers) {
        if (block.timestamp > deadline) revert Late();
        answers = new bytes[](data.length);
        for (uint256 i = 0; i < data.length; i++) {
            (bool done, bytes memory answer) = address(this).delegatecall(data[i]);
            if (!done) {
                assembly ("memory-safe") {
                    revert(add(answer, 32), mload(answer))
                }
            }
            answers[i] = answer;
        }
    }

    function exactInputSingle(Single memory params) external payable once returns (uint256 amountOut) {
        (uint256 amountIn, address payer) = _amount(params.tokenIn, params.amountIn);
        amountOut = _sell(Payment(params.tokenIn, params.tokenOut, params.fee, payer), amountIn, params.recipient);
        if (amountOut < params.amountOutMinimum) revert TooLittle();
    }

    function exactInput(Several memory params) external payable once returns (uint256 amount) {
        address payer;
        (amount, payer) = _amount(_token(params.path, 0), params.amountIn);
        for (uint256 i = 0; i + 20 < params.path.length; i += 23) {
            bool isLast = i + 43 == params.path.length;
            Payment memory payment =
                Payment(_token(params.path, i), _token(params.path, i + 23), _fee(params.path, i + 20), payer);
            amount = _sell(payment, amount, isLast ? params.recipient : address(this));
            payer = address(this);
        }
        if (amount < params.amountOutMinimum) revert TooLittle();
    }

    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] calldata path, address to)
        external
        payable
        once
        returns (uint256 amountOut)
    {
        address payer;
        (amountIn, payer) = _amount(path[0], amountIn);
        _pay(path[0], payer, _pair(path[0], path[1]), amountIn);
        to = _meant(to);
        address bought = path[path.length - 1];
        uint256 before = IToken(bought).balanceOf(to);
        for (uint256 i = 0; i + 1 < path.length; i++) {
            _swapPair(path[i], path[i + 1], i + 2 < path.length ? _pair(path[i + 1], path[i + 2]) : to);
        }
        amountOut = IToken(bought).balanceOf(to) - before;
        if (amountOut < amountOutMin) revert TooLittle();
    }

    function sweepToken(address token, uint256 amountMinimum, address recipient) external payable {
        uint256 held = IToken(token).balanceOf(address(this));
        if (held < amountMinimum) revert TooLittle();
        if (held != 0) Tokens.give(token, recipient, held);
    }

    function unwrapWETH9(uint256 amountMinimum, address recipient) external payable {
        uint256 held = IWrapped(WETH9).balanceOf(address(this));
        if (held < amountMinimum) revert TooLittle();
        if (held == 0) return;
        IWrapped(WETH9).withdraw(held);
        _give(recipient, held);
    }

    function refundETH() external payable {
        if (address(this).balance != 0) _give(msg.sender, address(this).balance);
    }

    function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        Payment memory payment = abi.decode(data, (Payment));
        if (msg.sender != _pool(payment)) revert NotThePool(msg.sender);
        _pay(payment.tokenIn, payment.payer, msg.sender, uint256(delta0 > 0 ? delta0 : delta1));
    }

    function _sell(Payment memory payment, uint256 amountIn, address to) private returns (uint256) {
        bool zeroForOne = payment.tokenIn < payment.tokenOut;
        (int256 amount0, int256 amount1) = IPool(_pool(payment)).swap(
            _meant(to), zeroForOne, int256(amountIn), Prices.limit(zeroForOne), abi.encode(payment)
        );
        return uint256(-(zeroForOne ? amount1 : amount0));
    }

    function _swapPair(address tokenIn, address tokenOut, address to) private {
        PancakePair pair = PancakePair(_pair(tokenIn, tokenOut));
        (uint256 reserveIn, uint256 reserveOut,) = pair.getReserves();
        bool zeroForOne = tokenIn < tokenOut;
        if (!zeroForOne) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        uint256 lessFee = (IToken(tokenIn).balanceOf(address(pair)) - reserveIn) * 9_975;
        uint256 amountOut = lessFee * reserveOut / (reserveIn * 10_000 + lessFee);
        pair.swap(zeroForOne ? 0 : amountOut, zeroForOne ? amountOut : 0, to, "");
    }

    function _amount(address token, uint256 amountIn) private view returns (uint256, address) {
        return amountIn == 0 ? (IToken(token).balanceOf(address(this)), address(this)) : (amountIn, msg.sender);
    }

    /// Native coins that are there go first, whoever pays.
    function _pay(address token, address payer, address to, uint256 amount) private {
        if (token == WETH9 && address(this).balance >= amount) {
            IWrapped(WETH9).deposit{value: amount}();
            Tokens.give(token, to, amount);
        } else if (payer == address(this)) {
            Tokens.give(token, to, amount);
        } else {
            Tokens.take(token, payer, to, amount);
        }
    }

    function _meant(address to) private view returns (address) {
        return to == CALLER ? msg.sender : to == ITSELF ? address(this) : to;
    }

    function _pair(address tokenA, address tokenB) private view returns (address) {
        return PancakePairFactory(factoryV2).getPair(tokenA, tokenB);
    }

    function _pool(Payment memory payment) private view returns (address) {
        (address token0, address token1) = payment.tokenIn < payment.tokenOut
            ? (payment.tokenIn, payment.tokenOut)
            : (payment.tokenOut, payment.tokenIn);
        bytes32 salt = keccak256(abi.encode(token0, token1, payment.fee));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", deployer, salt, _poolCodeHash)))));
    }

    function _give(address to, uint256 amount) private {
        (bool done,) = to.call{value: amount}("");
        if (!done) revert TooLittle();
    }

    function _token(bytes memory path, uint256 place) private pure returns (address token) {
        assembly ("memory-safe") {
            token := shr(96, mload(add(add(path, 32), place)))
        }
    }

    function _fee(bytes memory path, uint256 place) private pure returns (uint24 fee) {
        assembly ("memory-safe") {
            fee := shr(232, mload(add(add(path, 32), place)))
        }
    }
}
