// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IToken, ProxyCode, SlipstreamFactory, SlipstreamPool} from "./SlipstreamPools.sol";
import {TickMath} from "@uniswap/v4-core/src/libraries/TickMath.sol";

interface IWrappedCoin is IToken {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

/// Stands for Slipstream's SwapRouter, whose bytecode is in no package: the part of its interface that swapd writes, from
/// its facts, with what is odd about it. The deadline is each leg's own, nobody as the recipient means the router, each leg
/// gives all coins back that are left, coins of the router go before tokens, and a sweep pays all that is there.
contract SlipstreamRouter {
    address public immutable factory;
    address public immutable WETH9;

    uint256 private _entered = 1;

    struct Single {
        address tokenIn;
        address tokenOut;
        int24 tickSpacing;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
        uint160 sqrtPriceLimitX96;
    }

    struct Several {
        bytes path;
        address recipient;
        uint256 deadline;
        uint256 amountIn;
        uint256 amountOutMinimum;
    }

    struct Hop {
        address tokenIn;
        int24 spacing;
        address tokenOut;
        address payer;
    }

    error Refused(string why);

    modifier until(uint256 deadline) {
        if (block.timestamp > deadline) revert Refused("late");
        _;
    }

    modifier once() {
        if (_entered != 1) revert Refused("again");
        _entered = 2;
        _;
        _entered = 1;
    }

    constructor(address factory_, address wrapped) {
        (factory, WETH9) = (factory_, wrapped);
    }

    receive() external payable {
        if (msg.sender != WETH9) revert Refused("coins");
    }

    function multicall(bytes[] calldata data) external payable returns (bytes[] memory answers) {
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

    function exactInputSingle(Single calldata params)
        external
        payable
        until(params.deadline)
        returns (uint256 amountOut)
    {
        Hop memory hop = Hop(params.tokenIn, params.tickSpacing, params.tokenOut, msg.sender);
        amountOut = _swap(hop, params.amountIn, params.recipient, params.sqrtPriceLimitX96);
        if (amountOut < params.amountOutMinimum) revert Refused("too little");
        refundETH();
    }

    function exactInput(Several calldata params)
        external
        payable
        until(params.deadline)
        returns (uint256 amountOut)
    {
        (uint256 hops, address payer) = ((params.path.length - 20) / 23, msg.sender);
        amountOut = params.amountIn;
        for (uint256 i = 0; i < hops; i++) {
            bytes calldata part = params.path[23 * i:];
            Hop memory hop = Hop(
                address(bytes20(part[0:20])), int24(uint24(bytes3(part[20:23]))), address(bytes20(part[23:43])), payer
            );
            amountOut = _swap(hop, amountOut, i + 1 < hops ? address(this) : params.recipient, 0);
            payer = address(this);
        }
        if (amountOut < params.amountOutMinimum) revert Refused("too little");
        refundETH();
    }

    function _swap(Hop memory hop, uint256 amountIn, address recipient, uint160 limit) private returns (uint256) {
        bool zeroForOne = hop.tokenIn < hop.tokenOut;
        uint160 end = zeroForOne ? TickMath.MIN_SQRT_PRICE + 1 : TickMath.MAX_SQRT_PRICE - 1;
        (int256 amount0, int256 amount1) = SlipstreamPool(_poolOf(hop)).swap(
            recipient == address(0) ? address(this) : recipient,
            zeroForOne,
            int256(amountIn),
            limit == 0 ? end : limit,
            abi.encode(hop)
        );
        return uint256(-(zeroForOne ? amount1 : amount0));
    }

    /// The address at which the factory makes the proxy of this pool.
    function _poolOf(Hop memory hop) private view returns (address) {
        (address token0, address token1) =
            hop.tokenIn < hop.tokenOut ? (hop.tokenIn, hop.tokenOut) : (hop.tokenOut, hop.tokenIn);
        bytes32 salt = keccak256(abi.encode(token0, token1, hop.spacing));
        bytes32 code = keccak256(ProxyCode.creating(SlipstreamFactory(factory).poolImplementation()));
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", factory, salt, code)))));
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        Hop memory hop = abi.decode(data, (Hop));
        if (msg.sender != _poolOf(hop) || (delta0 <= 0 && delta1 <= 0)) revert Refused("no pool");
        uint256 amount = uint256(delta0 > 0 ? delta0 : delta1);
        if (hop.tokenIn == WETH9 && address(this).balance >= amount) {
            IWrappedCoin(WETH9).deposit{value: amount}();
            IToken(WETH9).transfer(msg.sender, amount);
        } else if (hop.payer == address(this)) {
            IToken(hop.tokenIn).transfer(msg.sender, amount);
        } else {
            IToken(hop.tokenIn).transferFrom(hop.payer, msg.sender, amount);
        }
    }

    function sweepToken(address token, uint256 amountMinimum, address recipient) external payable once {
        uint256 held = IToken(token).balanceOf(address(this));
        if (held < amountMinimum) revert Refused("too little");
        if (held > 0) IToken(token).transfer(recipient, held);
    }

    function unwrapWETH9(uint256 amountMinimum, address recipient) external payable once {
        uint256 held = IToken(WETH9).balanceOf(address(this));
        if (held < amountMinimum) revert Refused("too little");
        if (held == 0) return;
        IWrappedCoin(WETH9).withdraw(held);
        _pay(recipient, held);
    }

    function refundETH() public payable once {
        if (address(this).balance > 0) _pay(msg.sender, address(this).balance);
    }

    function _pay(address to, uint256 amount) private {
        (bool done,) = to.call{value: amount}("");
        if (!done) revert Refused("unpaid");
    }
}
