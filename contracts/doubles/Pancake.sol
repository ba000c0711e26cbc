// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// What PancakeSwap has around its pools of V3, whose own bytecode tests read from its package. Nothing of this is
// deployed by swapd, and nothing of it is PancakeSwap's: it does the same calls in the same order, and no more.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function transfer(address to, uint256 amount) external returns (bool);
    function transferFrom(address from, address to, uint256 amount) external returns (bool);
}

interface IWrapped is IToken {
    function deposit() external payable;
    function withdraw(uint256 amount) external;
}

interface IPool {
    function token0() external view returns (address);
    function token1() external view returns (address);
    function mint(address owner, int24 lower, int24 upper, uint128 liquidity, bytes calldata data)
        external
        returns (uint256, uint256);
    function swap(address to, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        returns (int256, int256);
}

library Prices {
    // One beyond the extremes of the price range.
    uint160 internal constant LOWEST = 4295128740;
    uint160 internal constant HIGHEST = 1461446703485210103287273052203988822378723970341;

    function limit(bool zeroForOne) internal pure returns (uint160) {
        return zeroForOne ? LOWEST : HIGHEST;
    }
}

/// Tokens that answer transfers with nothing are taken as well.
library Tokens {
    error TransferFailed(address token);

    function give(address token, address to, uint256 amount) internal {
        _check(token, abi.encodeCall(IToken.transfer, (to, amount)));
    }

    function take(address token, address from, address to, uint256 amount) internal {
        _check(token, abi.encodeCall(IToken.transferFrom, (from, to, amount)));
    }

    function _check(address token, bytes memory data) private {
        (bool done, bytes memory answer) = token.call(data);
        if (!done || (answer.length != 0 && !abi.decode(answer, (bool)))) revert TransferFailed(token);
    }
}

/// Creates pools for a factory out of code that it was given: the pool asks its creator what it is made of.
contract PancakePoolDeployer {
    struct Parameters {
        address factory;
        address token0;
        address token1;
        uint24 fee;
        int24 tickSpacing;
    }

    Parameters public parameters;
    address public factoryAddress;
    bytes private _poolCode;

    error NotTheFactory(address caller);
    error NotCreated();

    constructor(bytes memory poolCode) {
        _poolCode = poolCode;
    }

    function setFactoryAddress(address factory) external {
        if (factoryAddress != address(0)) revert NotTheFactory(msg.sender);
        factoryAddress = factory;
    }

    function deploy(address factory, address token0, address token1, uint24 fee, int24 tickSpacing)
        external
        returns (address pool)
    {
        if (msg.sender != factoryAddress) revert NotTheFactory(msg.sender);
        parameters = Parameters(factory, token0, token1, fee, tickSpacing);
        bytes memory code = _poolCode;
        bytes32 salt = keccak256(abi.encode(token0, token1, fee));
        assembly ("memory-safe") {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        if (pool == address(0)) revert NotCreated();
        delete parameters;
    }
}

/// A constant product of two balances that keeps a quarter of a per cent of what comes in.
contract PancakePair {
    address public immutable token0;
    address public immutable token1;
    uint112 private _reserve0;
    uint112 private _reserve1;

    error TooMuch();

    constructor(address token0_, address token1_) {
        (token0, token1) = (token0_, token1_);
    }

    function getReserves() external view returns (uint112, uint112, uint32) {
        return (_reserve0, _reserve1, 0);
    }

    /// Takes what came in for liquidity, of which nobody gets a share.
    function sync() external {
        _store(IToken(token0).balanceOf(address(this)), IToken(token1).balanceOf(address(this)));
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata) external {
        (uint256 before0, uint256 before1) = (_reserve0, _reserve1);
        if (out0 >= before0 || out1 >= before1) revert TooMuch();
        if (out0 != 0) Tokens.give(token0, to, out0);
        if (out1 != 0) Tokens.give(token1, to, out1);
        (uint256 now0, uint256 now1) = (IToken(token0).balanceOf(address(this)), IToken(token1).balanceOf(address(this)));
        uint256 less0 = now0 * 10_000 - (now0 + out0 - before0) * 25;
        uint256 less1 = now1 * 10_000 - (now1 + out1 - before1) * 25;
        if (less0 * less1 < before0 * before1 * 10_000 ** 2) revert TooMuch();
        _store(now0, now1);
    }

    function _store(uint256 balance0, uint256 balance1) private {
        if (balance0 > type(uint112).max || balance1 > type(uint112).max) revert TooMuch();
        (_reserve0, _reserve1) = (uint112(balance0), uint112(balance1));
    }
}

contract PancakePairFactory {
    mapping(address tokenA => mapping(address tokenB => address)) public getPair;

    function createPair(address tokenA, address tokenB) external returns (address pair) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        pair = address(new PancakePair(token0, token1));
        getPair[token0][token1] = pair;
        getPair[token1][token0] = pair;
    }
}

/// Deposits into pools and trades with them for the caller, who approves this contract and names honest pools.
contract PancakeHand {
    struct Payment {
        address pool;
        address payer;
    }

    function addPair(address pair, uint256 amount0, uint256 amount1) external {
        Tokens.take(IPool(pair).token0(), msg.sender, pair, amount0);
        Tokens.take(IPool(pair).token1(), msg.sender, pair, amount1);
        PancakePair(pair).sync();
    }

    function mint(address pool, int24 lower, int24 upper, uint128 liquidity) external {
        IPool(pool).mint(msg.sender, lower, upper, liquidity, abi.encode(Payment(pool, msg.sender)));
    }

    /// Sells one amount after the other. What was taken is less than that where the pool ends.
    function sell(address pool, bool zeroForOne, uint256[] calldata amounts)
        external
        returns (uint256[] memory taken, uint256[] memory paid)
    {
        (taken, paid) = (new uint256[](amounts.length), new uint256[](amounts.length));
        bytes memory data = abi.encode(Payment(pool, msg.sender));
        for (uint256 i = 0; i < amounts.length; i++) {
            (taken[i], paid[i]) = _sell(pool, zeroForOne, amounts[i], data);
        }
    }

    function _sell(address pool, bool zeroForOne, uint256 amount, bytes memory data)
        private
        returns (uint256, uint256)
    {
        (int256 amount0, int256 amount1) =
            IPool(pool).swap(msg.sender, zeroForOne, int256(amount), Prices.limit(zeroForOne), data);
        return zeroForOne ? (uint256(amount0), uint256(-amount1)) : (uint256(amount1), uint256(-amount0));
    }

    function pancakeV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function pancakeV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        _pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, data);
    }

    function _pay(uint256 amount0, uint256 amount1, bytes calldata data) private {
        Payment memory payment = abi.decode(data, (Payment));
        if (amount0 != 0) Tokens.take(IPool(payment.pool).token0(), payment.payer, msg.sender, amount0);
        if (amount1 != 0) Tokens.take(IPool(payment.pool).token1(), payment.payer, msg.sender, amount1);
    }
}
