// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

// What Solidly's second version is made of, for tests: no package has its bytecode. Written from the facts of its interface
// and its formulas. It keeps no accounts of fees and observations, and nobody can take his liquidity out.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    function decimals() external view returns (uint8);
    // Some answer nothing.
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

/// One pool: of two tokens of any worth, or of about the same.
contract SolidlyPool {
    uint256 private constant ONE = 1e18;

    SolidlyFactory public immutable factory;
    address public immutable token0;
    address public immutable token1;
    bool public immutable stable;
    uint256 private immutable _unit0;
    uint256 private immutable _unit1;
    uint256 public reserve0;
    uint256 public reserve1;
    uint256 private _changedAt;
    bool private _isBusy;

    error Refused(string why);

    constructor(address tokenA, address tokenB, bool isStable) {
        (factory, token0, token1, stable) = (SolidlyFactory(msg.sender), tokenA, tokenB, isStable);
        (_unit0, _unit1) = (10 ** IToken(tokenA).decimals(), 10 ** IToken(tokenB).decimals());
    }

    function metadata() external view returns (uint256, uint256, uint256, uint256, bool, address, address) {
        return (_unit0, _unit1, reserve0, reserve1, stable, token0, token1);
    }

    function getReserves() external view returns (uint256, uint256, uint256) {
        return (reserve0, reserve1, _changedAt);
    }

    /// What came in since the last change stays in.
    function sync() external {
        _write();
    }

    function getAmountOut(uint256 amountIn, address tokenIn) external view virtual returns (uint256) {
        return _amountOut(amountIn, tokenIn);
    }

    function _amountOut(uint256 amountIn, address tokenIn) internal view returns (uint256) {
        uint256 kept = amountIn - amountIn * factory.getFee(address(this), stable) / 10_000;
        bool isUp = tokenIn == token0;
        if (!stable) {
            (uint256 from, uint256 to) = isUp ? (reserve0, reserve1) : (reserve1, reserve0);
            return kept * to / (from + kept);
        }
        uint256 invariant = _invariant(reserve0, reserve1);
        (uint256 side0, uint256 side1) = (reserve0 * ONE / _unit0, reserve1 * ONE / _unit1);
        return isUp
            ? (side1 - _remaining(side0 + kept * ONE / _unit0, side1, invariant)) * _unit1 / ONE
            : (side0 - _remaining(side1 + kept * ONE / _unit1, side0, invariant)) * _unit0 / ONE;
    }

    function swap(uint256 out0, uint256 out1, address to, bytes calldata) external {
        if (_isBusy) revert Refused("busy");
        _isBusy = true;
        if (factory.isPaused()) revert Refused("paused");
        if (out0 >= reserve0 || out1 >= reserve1 || out0 + out1 == 0) revert Refused("amount");
        if (out0 != 0) IToken(token0).transfer(to, out0);
        if (out1 != 0) IToken(token1).transfer(to, out1);
        uint256 in0 = _came(token0, reserve0 - out0);
        uint256 in1 = _came(token1, reserve1 - out1);
        if (in0 + in1 == 0) revert Refused("nothing came");
        uint256 fee = factory.getFee(address(this), stable);
        if (in0 * fee / 10_000 != 0) IToken(token0).transfer(address(factory), in0 * fee / 10_000);
        if (in1 * fee / 10_000 != 0) IToken(token1).transfer(address(factory), in1 * fee / 10_000);
        uint256 before = _invariant(reserve0, reserve1);
        _write();
        if (_invariant(reserve0, reserve1) < before) revert Refused("invariant");
        _isBusy = false;
    }

    function _came(address token, uint256 held) private view returns (uint256) {
        uint256 balance = IToken(token).balanceOf(address(this));
        return balance > held ? balance - held : 0;
    }

    function _write() private {
        reserve0 = IToken(token0).balanceOf(address(this));
        reserve1 = IToken(token1).balanceOf(address(this));
        _changedAt = block.timestamp;
    }

    /// Of amounts of the tokens.
    function _invariant(uint256 amount0, uint256 amount1) private view returns (uint256) {
        return stable ? _curve(amount0 * ONE / _unit0, amount1 * ONE / _unit1) : amount0 * amount1;
    }

    /// xy(x^2 + y^2)
    function _curve(uint256 x, uint256 y) private pure returns (uint256) {
        uint256 squares = x * x / ONE + y * y / ONE;
        return (x * y / ONE) * squares / ONE;
    }

    /// The least y for which the curve at x is no lower than the invariant, by Newton's iteration.
    function _remaining(uint256 x, uint256 y, uint256 invariant) private pure returns (uint256) {
        for (uint256 round = 0; round < 255; round++) {
            uint256 now_ = _curve(x, y);
            uint256 slope = 3 * x * (y * y / ONE) / ONE + (x * x / ONE) * x / ONE;
            uint256 step = (now_ < invariant ? invariant - now_ : now_ - invariant) * ONE / slope;
            if (now_ < invariant) {
                if (step == 0 && _curve(x, y + 1) > invariant) return y + 1;
                y += step == 0 ? 1 : step;
            } else {
                if (step == 0 && (now_ == invariant || _curve(x, y - 1) < invariant)) return y;
                y -= step == 0 ? 1 : step;
            }
        }
        revert Refused("no y");
    }
}

/// A stable pool of a fork, with a rounding of its own.
contract OtherPool is SolidlyPool {
    constructor(address token0, address token1) SolidlyPool(token0, token1, true) {}

    function getAmountOut(uint256 amountIn, address tokenIn) external view override returns (uint256) {
        return _amountOut(amountIn, tokenIn) - 1;
    }
}

/// Knows two pools of each two tokens, and what each of them takes, in parts of 10,000.
contract SolidlyFactory {
    uint256 private constant NOTHING = 420;
    uint256 private constant STABLE_FEE = 5;
    uint256 private constant VOLATILE_FEE = 30;

    bool public isPaused;
    mapping(address tokenA => mapping(address tokenB => mapping(bool stable => address))) public getPool;
    mapping(address pool => bool) public isPool;
    mapping(address pool => uint256) private _own;

    function createPool(address tokenA, address tokenB, bool stable) external returns (address pool) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        pool = address(new SolidlyPool(token0, token1, stable));
        getPool[token0][token1][stable] = pool;
        getPool[token1][token0][stable] = pool;
        isPool[pool] = true;
    }

    /// As a fork has it whose pools pay one less than these.
    function createOther(address token0, address token1) external {
        getPool[token0][token1][true] = address(new OtherPool(token0, token1));
    }

    function setCustomFee(address pool, uint256 fee) external {
        _own[pool] = fee;
    }

    function setPauseState(bool isPaused_) external {
        isPaused = isPaused_;
    }

    function getFee(address pool, bool stable) external view returns (uint256) {
        if (_own[pool] != 0) return _own[pool] == NOTHING ? 0 : _own[pool];
        return stable ? STABLE_FEE : VOLATILE_FEE;
    }
}

/// Deposits into pools and trades with them for the caller, who approves this contract and names honest pools.
contract SolidlyHand {
    function deposit(SolidlyPool pool, uint256 amount0, uint256 amount1) external {
        IToken(pool.token0()).transferFrom(msg.sender, address(pool), amount0);
        IToken(pool.token1()).transferFrom(msg.sender, address(pool), amount1);
        pool.sync();
    }

    /// Sells one amount after the other, for what the pool itself says that it pays.
    function sell(SolidlyPool pool, bool zeroForOne, uint256[] calldata amounts)
        external
        returns (uint256[] memory taken, uint256[] memory paid)
    {
        (taken, paid) = (amounts, new uint256[](amounts.length));
        (address from, address to) = zeroForOne ? (pool.token0(), pool.token1()) : (pool.token1(), pool.token0());
        for (uint256 i = 0; i < amounts.length; i++) {
            uint256 out = pool.getAmountOut(amounts[i], from);
            IToken(from).transferFrom(msg.sender, address(pool), amounts[i]);
            uint256 had = IToken(to).balanceOf(msg.sender);
            pool.swap(zeroForOne ? 0 : out, zeroForOne ? out : 0, msg.sender, "");
            paid[i] = IToken(to).balanceOf(msg.sender) - had;
        }
    }
}
