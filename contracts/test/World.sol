// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {IUniswapV2Pair, IUniswapV3Pool} from "../src/interfaces/IUniswapPools.sol";
import {DaiPermitToken} from "../src/sandbox/DaiPermitToken.sol";
import {PermitToken} from "../src/sandbox/PermitToken.sol";
import {PoolMinter} from "../src/sandbox/PoolMinter.sol";
import {UsdtLikeToken} from "../src/sandbox/UsdtLikeToken.sol";
import {WrappedNative} from "../src/sandbox/WrappedNative.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Protocol} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {Asserts, VM} from "./Vm.sol";

interface IV2FactoryAdmin {
    function createPair(address tokenA, address tokenB) external returns (address pair);
}

interface IV3FactoryAdmin {
    function createPool(address tokenA, address tokenB, uint24 fee) external returns (address pool);
}

interface IV3PoolAdmin {
    function initialize(uint160 sqrtPriceX96) external;
}

/// The contracts among real Uniswap factories and pools (the bytecode that Uniswap publishes), with tokens of every
/// kind that the sandbox knows and deep pools between them.
abstract contract World is Asserts {
    using SafeERC20 for IERC20;

    uint8 internal constant V2 = 0;
    uint8 internal constant V3 = 1;
    int24 internal constant FULL_RANGE_TICK = 887220;
    /// Of the creation code in Uniswap's packages.
    bytes32 internal constant PAIR_HASH = 0x96e8ac4277198ff8b6f785478aa9a39f403cb768dd02cbee326c3e7da348845f;
    bytes32 internal constant POOL_HASH = 0xe34f199b19b2b4f47f68442619d555527d244f78a3297ea89325f843f87b8b54;

    WrappedNative internal weth;
    PermitToken internal usdc;
    DaiPermitToken internal wbtc;
    UsdtLikeToken internal usdt;
    address internal v2Factory;
    address internal v3Factory;
    PoolMinter internal minter;
    SwapdExecutor internal executor;
    SwapdSettlement internal settlement;
    address internal wethUsdcV2;
    address internal wethUsdcV3;
    address internal usdcUsdtV2;
    address internal wbtcWethV3;

    function setUp() public virtual {
        VM.warp(1_800_000_000);
        bytes memory v2Code = _uniswap("v2-core/build/UniswapV2Factory.json");
        v2Factory = _create(abi.encodePacked(v2Code, abi.encode(address(this))));
        v3Factory = _create(_uniswap("v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json"));
        weth = WrappedNative(payable(Committed.deploy("WrappedNative", "")));
        usdc = PermitToken(Committed.deploy("PermitToken", abi.encode("USD Coin", "USDC", 6)));
        wbtc = DaiPermitToken(Committed.deploy("DaiPermitToken", abi.encode("Wrapped BTC", "WBTC", 8)));
        usdt = UsdtLikeToken(Committed.deploy("UsdtLikeToken", abi.encode("Tether USD", "USDT", 6)));
        minter = PoolMinter(Committed.deploy("PoolMinter", ""));
        executor = Committed.executor(address(weth), _protocols());
        settlement = Committed.settlement(address(weth), address(executor));
        wethUsdcV2 = _poolV2(address(weth), 3_000 ether, address(usdc), 9_000_000e6);
        wethUsdcV3 = _poolV3(address(weth), 3_000 ether, address(usdc), 9_000_000e6);
        usdcUsdtV2 = _poolV2(address(usdc), 9_000_000e6, address(usdt), 9_000_000e6);
        wbtcWethV3 = _poolV3(address(wbtc), 300e8, address(weth), 6_000 ether);
    }

    /// What the executor trades on; V2 and V3 are indices into it.
    function _protocols() internal virtual returns (Protocol[] memory protocols) {
        protocols = new Protocol[](2);
        protocols[V2] = Protocol({kind: 1, factory: v2Factory, feePips: 3000, initCodeHash: PAIR_HASH});
        protocols[V3] = Protocol({kind: 2, factory: v3Factory, feePips: 0, initCodeHash: POOL_HASH});
    }

    receive() external payable {}

    function _uniswap(string memory path) internal view returns (bytes memory) {
        string memory json = VM.readFile(string.concat("node_modules/@uniswap/", path));
        string memory code = VM.parseJsonString(json, ".bytecode");
        return VM.parseBytes(bytes(code)[1] == "x" ? code : string.concat("0x", code));
    }

    function _create(bytes memory code) internal returns (address created) {
        assembly {
            created := create(0, add(code, 0x20), mload(code))
        }
        assertTrue(created != address(0), "Uniswap's bytecode deploys");
    }

    /// Gives tokens of any kind to an account.
    function _fund(address token, address to, uint256 amount) internal {
        if (token == address(weth)) {
            VM.deal(address(this), amount);
            weth.deposit{value: amount}();
            weth.transfer(to, amount);
        } else {
            PermitToken(token).mint(to, amount);
        }
    }

    function _poolV2(address tokenA, uint256 amountA, address tokenB, uint256 amountB) internal returns (address pair) {
        pair = IV2FactoryAdmin(v2Factory).createPair(tokenA, tokenB);
        _offer(tokenA, amountA);
        _offer(tokenB, amountB);
        bool sorted = tokenA < tokenB;
        minter.addV2(pair, sorted ? amountA : amountB, sorted ? amountB : amountA);
    }

    /// Full range, fee tier 3000, at the price that the amounts say.
    function _poolV3(address tokenA, uint256 amountA, address tokenB, uint256 amountB) internal returns (address pool) {
        pool = IV3FactoryAdmin(v3Factory).createPool(tokenA, tokenB, 3000);
        _offer(tokenA, amountA * 2);
        _offer(tokenB, amountB * 2);
        (uint256 amount0, uint256 amount1) = tokenA < tokenB ? (amountA, amountB) : (amountB, amountA);
        IV3PoolAdmin(pool).initialize(uint160(Math.sqrt(Math.mulDiv(amount1, 1 << 192, amount0))));
        minter.mintV3(pool, -FULL_RANGE_TICK, FULL_RANGE_TICK, uint128(Math.sqrt(amount0 * amount1)));
    }

    function _offer(address token, uint256 amount) private {
        _fund(token, address(this), amount);
        IERC20(token).forceApprove(address(minter), amount);
    }

    /// The formula of Uniswap V2 as its periphery states it (997/1000), apart from the executor's.
    function _quoteV2(address pair, address tokenIn, uint256 amountIn) internal view returns (uint256) {
        (uint256 reserveIn, uint256 reserveOut,) = IUniswapV2Pair(pair).getReserves();
        if (IUniswapV2Pair(pair).token0() != tokenIn) (reserveIn, reserveOut) = (reserveOut, reserveIn);
        return amountIn * 997 * reserveOut / (reserveIn * 1000 + amountIn * 997);
    }

    /// What the pool itself says: it is asked for the swap, and the callback refuses to pay.
    function _quoteV3(address pool, address tokenIn, uint256 amountIn) internal returns (uint256) {
        bool zeroForOne = IUniswapV3Pool(pool).token0() == tokenIn;
        uint160 limit = zeroForOne ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        try IUniswapV3Pool(pool).swap(address(this), zeroForOne, int256(amountIn), limit, "") {
            revert NotTrue("an unpaid swap reverts");
        } catch (bytes memory reason) {
            (int256 amount0, int256 amount1) = abi.decode(reason, (int256, int256));
            return uint256(-(zeroForOne ? amount1 : amount0));
        }
    }

    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata) external pure {
        bytes memory answer = abi.encode(amount0Delta, amount1Delta);
        assembly {
            revert(add(answer, 0x20), mload(answer))
        }
    }
}
