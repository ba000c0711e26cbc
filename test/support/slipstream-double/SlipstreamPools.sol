// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {LiquidityMath} from "@uniswap/v4-core/src/libraries/LiquidityMath.sol";
import {SqrtPriceMath} from "@uniswap/v4-core/src/libraries/SqrtPriceMath.sol";
import {SwapMath} from "@uniswap/v4-core/src/libraries/SwapMath.sol";
import {TickBitmap} from "@uniswap/v4-core/src/libraries/TickBitmap.sol";
import {TickMath} from "@uniswap/v4-core/src/libraries/TickMath.sol";

// What Slipstream is made of, for tests: no package has its bytecode. Written from the facts of its interface, over the
// curve of Uniswap. It keeps no accounts of fees, rewards and observations, and nobody can take his liquidity out.

interface IToken {
    function balanceOf(address owner) external view returns (uint256);
    // Some answer nothing.
    function transfer(address to, uint256 amount) external;
    function transferFrom(address from, address to, uint256 amount) external;
}

interface ICallbacks {
    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external;
    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external;
}

interface IFees {
    function getSwapFee(address pool) external view returns (uint24);
}

interface IFeeModule {
    function getFee(address pool) external view returns (uint24);
}

/// One pool. Each is a proxy of the factory's one implementation.
contract SlipstreamPool {
    using TickBitmap for mapping(int16 => uint256);

    struct Slot0 {
        uint160 sqrtPriceX96;
        int24 tick;
        uint16 observationIndex;
        uint16 observationCardinality;
        uint16 observationCardinalityNext;
        bool unlocked;
    }

    struct Tick {
        uint128 gross;
        int128 net;
    }

    address public factory;
    address public token0;
    address public token1;
    int24 public tickSpacing;
    uint128 public liquidity;
    Slot0 public slot0;
    mapping(int16 word => uint256) public tickBitmap;
    mapping(int24 tick => Tick) private _ticks;

    event Mint(
        address sender,
        address indexed owner,
        int24 indexed tickLower,
        int24 indexed tickUpper,
        uint128 amount,
        uint256 amount0,
        uint256 amount1
    );

    error Refused(string why);

    modifier lock() {
        if (!slot0.unlocked) revert Refused("LOK");
        slot0.unlocked = false;
        _;
        slot0.unlocked = true;
    }

    function initialize(address tokenA, address tokenB, int24 spacing, uint160 sqrtPriceX96) external {
        if (factory != address(0)) revert Refused("again");
        (factory, token0, token1, tickSpacing) = (msg.sender, tokenA, tokenB, spacing);
        slot0 = Slot0(sqrtPriceX96, TickMath.getTickAtSqrtPrice(sqrtPriceX96), 0, 1, 1, true);
    }

    function fee() public view returns (uint24) {
        return IFees(factory).getSwapFee(address(this));
    }

    /// A tick's liquidity, its change, the change of what is staked, and three accumulators; then what observes it.
    function ticks(int24 tick)
        external
        view
        returns (uint128, int128, int128, uint256, uint256, uint256, int56, uint160, uint32, bool)
    {
        Tick storage at = _ticks[tick];
        return (at.gross, at.net, 0, 0, 0, 0, 0, 0, 0, at.gross != 0);
    }

    function mint(address owner, int24 lower, int24 upper, uint128 amount, bytes calldata data)
        external
        lock
        returns (uint256 amount0, uint256 amount1)
    {
        _deposit(lower, int128(amount), amount);
        _deposit(upper, -int128(amount), amount);
        (uint160 price, uint160 from, uint160 to) =
            (slot0.sqrtPriceX96, TickMath.getSqrtPriceAtTick(lower), TickMath.getSqrtPriceAtTick(upper));
        if (slot0.tick < lower) {
            amount0 = SqrtPriceMath.getAmount0Delta(from, to, amount, true);
        } else if (slot0.tick < upper) {
            amount0 = SqrtPriceMath.getAmount0Delta(price, to, amount, true);
            amount1 = SqrtPriceMath.getAmount1Delta(from, price, amount, true);
            liquidity += amount;
        } else {
            amount1 = SqrtPriceMath.getAmount1Delta(from, to, amount, true);
        }
        (uint256 before0, uint256 before1) = (_balance(token0), _balance(token1));
        ICallbacks(msg.sender).uniswapV3MintCallback(amount0, amount1, data);
        if (before0 + amount0 > _balance(token0) || before1 + amount1 > _balance(token1)) revert Refused("unpaid");
        emit Mint(msg.sender, owner, lower, upper, amount, amount0, amount1);
    }

    function _deposit(int24 at, int128 net, uint128 amount) private {
        Tick storage tick = _ticks[at];
        if (tick.gross == 0) tickBitmap.flipTick(at, tickSpacing);
        tick.gross += amount;
        tick.net += net;
    }

    struct Swap {
        int256 remaining;
        uint256 paid;
        uint160 price;
        int24 tick;
        uint128 liquidity;
        uint24 fee;
        uint160 limit;
        bool zeroForOne;
    }

    function swap(address recipient, bool zeroForOne, int256 amount, uint160 limit, bytes calldata data)
        external
        lock
        returns (int256 amount0, int256 amount1)
    {
        if (amount <= 0) revert Refused("AS");
        uint160 price = slot0.sqrtPriceX96;
        bool isWithin = zeroForOne
            ? limit < price && limit > TickMath.MIN_SQRT_PRICE
            : limit > price && limit < TickMath.MAX_SQRT_PRICE;
        if (!isWithin) revert Refused("SPL");
        // The fee is asked for once, before anything moves.
        Swap memory state = Swap(amount, 0, price, slot0.tick, liquidity, fee(), limit, zeroForOne);
        while (state.remaining != 0 && state.price != limit) _step(state);
        (slot0.sqrtPriceX96, slot0.tick, liquidity) = (state.price, state.tick, state.liquidity);
        (int256 taken, int256 paid) = (amount - state.remaining, -int256(state.paid));
        (amount0, amount1) = zeroForOne ? (taken, paid) : (paid, taken);
        _exchange(recipient, zeroForOne, uint256(taken), state.paid, data);
    }

    function _step(Swap memory state) private {
        uint160 start = state.price;
        (int24 next, bool initialized) =
            tickBitmap.nextInitializedTickWithinOneWord(state.tick, tickSpacing, state.zeroForOne);
        if (next < TickMath.MIN_TICK) next = TickMath.MIN_TICK;
        if (next > TickMath.MAX_TICK) next = TickMath.MAX_TICK;
        uint160 nextPrice = TickMath.getSqrtPriceAtTick(next);
        bool isBeyond = state.zeroForOne ? nextPrice < state.limit : nextPrice > state.limit;
        (uint160 price, uint256 amountIn, uint256 amountOut, uint256 feeAmount) = SwapMath.computeSwapStep(
            start, isBeyond ? state.limit : nextPrice, state.liquidity, -state.remaining, state.fee
        );
        state.price = price;
        state.remaining -= int256(amountIn + feeAmount);
        state.paid += amountOut;
        if (price == nextPrice) {
            if (initialized) {
                int128 net = _ticks[next].net;
                state.liquidity = LiquidityMath.addDelta(state.liquidity, state.zeroForOne ? -net : net);
            }
            state.tick = state.zeroForOne ? next - 1 : next;
        } else if (price != start) {
            state.tick = TickMath.getTickAtSqrtPrice(price);
        }
    }

    function _exchange(address recipient, bool zeroForOne, uint256 taken, uint256 paid, bytes calldata data) private {
        (address sold, address bought) = zeroForOne ? (token0, token1) : (token1, token0);
        if (paid > 0) IToken(bought).transfer(recipient, paid);
        uint256 before = _balance(sold);
        (int256 delta0, int256 delta1) =
            zeroForOne ? (int256(taken), -int256(paid)) : (-int256(paid), int256(taken));
        ICallbacks(msg.sender).uniswapV3SwapCallback(delta0, delta1, data);
        if (before + taken > _balance(sold)) revert Refused("IIA");
    }

    function _balance(address token) private view returns (uint256) {
        return IToken(token).balanceOf(address(this));
    }
}

/// Keys pools by their spacing, and asks a module for their fees.
contract SlipstreamFactory is IFees {
    uint24 private constant MOST_FEE = 100_000;

    address public immutable poolImplementation;
    address public swapFeeModule;
    mapping(int24 spacing => uint24) public tickSpacingToFee;
    mapping(address tokenA => mapping(address tokenB => mapping(int24 spacing => address))) public getPool;
    int24[] private _spacings;

    constructor(address implementation) {
        poolImplementation = implementation;
        enableTickSpacing(1, 100);
        enableTickSpacing(50, 500);
        enableTickSpacing(100, 500);
        enableTickSpacing(200, 3_000);
        enableTickSpacing(2_000, 10_000);
    }

    function enableTickSpacing(int24 spacing, uint24 fee) public {
        tickSpacingToFee[spacing] = fee;
        _spacings.push(spacing);
    }

    function setSwapFeeModule(address module) external {
        swapFeeModule = module;
    }

    function tickSpacings() external view returns (int24[] memory) {
        return _spacings;
    }

    function createPool(address tokenA, address tokenB, int24 spacing, uint160 sqrtPriceX96)
        external
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        bytes memory code = ProxyCode.creating(poolImplementation);
        bytes32 salt = keccak256(abi.encode(token0, token1, spacing));
        assembly ("memory-safe") {
            pool := create2(0, add(code, 32), mload(code), salt)
        }
        SlipstreamPool(pool).initialize(token0, token1, spacing, sqrtPriceX96);
        getPool[token0][token1][spacing] = pool;
        getPool[token1][token0][spacing] = pool;
    }

    /// What a module says above the most that is taken, or in no word, counts for nothing.
    function getSwapFee(address pool) external view returns (uint24) {
        if (swapFeeModule != address(0)) {
            (bool done, bytes memory answer) =
                swapFeeModule.staticcall{gas: 200_000}(abi.encodeCall(IFeeModule.getFee, (pool)));
            if (done && answer.length >= 32) {
                uint256 said = abi.decode(answer, (uint256));
                if (said <= MOST_FEE) return uint24(said);
            }
        }
        return tickSpacingToFee[SlipstreamPool(pool).tickSpacing()];
    }
}

/// The code that creates a proxy which passes everything on to one contract (EIP-1167).
library ProxyCode {
    function creating(address implementation) internal pure returns (bytes memory) {
        return abi.encodePacked(
            hex"3d602d80600a3d3981f3363d3d373d3d3d363d73", implementation, hex"5af43d82803e903d91602b57fd5bf3"
        );
    }
}

/// Fees that were set, and grow the further a pool's price is from where it was last called usual.
contract SlipstreamFeeModule is IFeeModule {
    struct Terms {
        bool isSet;
        uint24 base;
        int24 usualTick;
        /// parts per million for each hundred ticks
        uint24 growth;
        uint24 most;
    }

    SlipstreamFactory public immutable factory;
    mapping(address pool => Terms) public terms;

    constructor(SlipstreamFactory factory_) {
        factory = factory_;
    }

    function set(address pool, uint24 base, uint24 growth, uint24 most) external {
        (, int24 tick,,,,) = SlipstreamPool(pool).slot0();
        terms[pool] = Terms(true, base, tick, growth, most);
    }

    function getFee(address pool) external view returns (uint24) {
        Terms memory own = terms[pool];
        if (!own.isSet) return factory.tickSpacingToFee(SlipstreamPool(pool).tickSpacing());
        (, int24 tick,,,,) = SlipstreamPool(pool).slot0();
        int256 distance = int256(tick) - own.usualTick;
        uint256 sum = own.base + uint256(distance < 0 ? -distance : distance) * own.growth / 100;
        return sum < own.most ? uint24(sum) : own.most;
    }
}

/// Deposits into pools and trades with them for the caller, who approves this contract and names honest pools.
contract SlipstreamHand is ICallbacks {
    struct Payment {
        address pool;
        address payer;
    }

    function mint(address pool, int24 lower, int24 upper, uint128 amount) external {
        SlipstreamPool(pool).mint(msg.sender, lower, upper, amount, abi.encode(Payment(pool, msg.sender)));
    }

    /// Sells one amount after the other. What was taken is less than that where the pool ends.
    function sell(address pool, bool zeroForOne, uint256[] calldata amounts)
        external
        returns (uint256[] memory taken, uint256[] memory paid)
    {
        (taken, paid) = (new uint256[](amounts.length), new uint256[](amounts.length));
        bytes memory data = abi.encode(Payment(pool, msg.sender));
        for (uint256 i = 0; i < amounts.length; i++) {
            uint160 limit = zeroForOne ? TickMath.MIN_SQRT_PRICE + 1 : TickMath.MAX_SQRT_PRICE - 1;
            (int256 amount0, int256 amount1) =
                SlipstreamPool(pool).swap(msg.sender, zeroForOne, int256(amounts[i]), limit, data);
            (taken[i], paid[i]) =
                zeroForOne ? (uint256(amount0), uint256(-amount1)) : (uint256(amount1), uint256(-amount0));
        }
    }

    function uniswapV3MintCallback(uint256 amount0, uint256 amount1, bytes calldata data) external {
        _pay(amount0, amount1, data);
    }

    function uniswapV3SwapCallback(int256 delta0, int256 delta1, bytes calldata data) external {
        _pay(delta0 > 0 ? uint256(delta0) : 0, delta1 > 0 ? uint256(delta1) : 0, data);
    }

    function _pay(uint256 amount0, uint256 amount1, bytes calldata data) private {
        Payment memory payment = abi.decode(data, (Payment));
        SlipstreamPool pool = SlipstreamPool(payment.pool);
        if (amount0 != 0) IToken(pool.token0()).transferFrom(payment.payer, msg.sender, amount0);
        if (amount1 != 0) IToken(pool.token1()).transferFrom(payment.payer, msg.sender, amount1);
    }
}
