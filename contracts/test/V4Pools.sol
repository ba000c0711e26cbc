// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {PoolKey, SwapParams} from "../src/interfaces/IUniswapV4.sol";
import {HIGHEST_PRICE_LIMIT, LOWEST_PRICE_LIMIT} from "../src/PriceLimits.sol";
import {Leg, NATIVE, Protocol} from "../src/SwapTypes.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

interface IV4Admin {
    struct ModifyLiquidityParams {
        int24 tickLower;
        int24 tickUpper;
        int256 liquidityDelta;
        bytes32 salt;
    }

    function initialize(PoolKey memory key, uint160 sqrtPriceX96) external returns (int24 tick);
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(PoolKey memory key, ModifyLiquidityParams memory params, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function swap(PoolKey memory key, SwapParams memory params, bytes calldata hookData) external returns (int256);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

/// Deposits what it has into pools, and asks what they would pay. It is a contract of its own, since the manager calls back,
/// which nothing can answer that is still being made.
contract V4Desk {
    IV4Admin private immutable _manager;

    constructor(IV4Admin manager) {
        _manager = manager;
    }

    receive() external payable {}

    function deposit(PoolKey memory key, IV4Admin.ModifyLiquidityParams memory params) external {
        _manager.unlock(abi.encode(key, params));
    }

    function quote(PoolKey memory key, bool zeroForOne, uint256 amountIn)
        external
        returns (uint256 taken, uint256 bought)
    {
        uint160 limit = zeroForOne ? LOWEST_PRICE_LIMIT : HIGHEST_PRICE_LIMIT;
        try _manager.unlock(abi.encode(key, SwapParams(zeroForOne, -int256(amountIn), limit))) {
            revert("an unpaid swap reverts");
        } catch (bytes memory reason) {
            int256 delta = abi.decode(reason, (int256));
            (int256 in_, int256 out) =
                zeroForOne ? (delta >> 128, int256(int128(delta))) : (int256(int128(delta)), delta >> 128);
            return (uint256(-in_), uint256(out));
        }
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        if (data.length == 32 * 9) {
            (PoolKey memory key, IV4Admin.ModifyLiquidityParams memory params) =
                abi.decode(data, (PoolKey, IV4Admin.ModifyLiquidityParams));
            (int256 delta,) = _manager.modifyLiquidity(key, params, "");
            _pay(key.currency0, uint256(-(delta >> 128)));
            _pay(key.currency1, uint256(-int256(int128(delta))));
            return "";
        }
        (PoolKey memory pool, SwapParams memory swap) = abi.decode(data, (PoolKey, SwapParams));
        int256 answer = _manager.swap(pool, swap, "");
        assembly {
            mstore(0, answer)
            revert(0, 32)
        }
    }

    function _pay(address token, uint256 amount) private {
        _manager.sync(token);
        if (token == NATIVE) {
            _manager.settle{value: amount}();
            return;
        }
        (bool done,) = token.call(abi.encodeCall(IERC20.transfer, (address(_manager), amount)));
        require(done, "paid");
        _manager.settle();
    }
}

/// The manager of Uniswap V4 in its own bytecode, which is read from its package and no part of what is released.
abstract contract V4Pools is Orders {
    /// As the executor takes it.
    uint24 internal constant NATIVE_POOL = 1 << 23;

    IV4Admin internal manager;
    V4Desk internal desk;

    function _createManager() internal {
        string memory json = VM.readFile("node_modules/@uniswap/v4-core/out/PoolManager.sol/PoolManager.json");
        bytes memory code = VM.parseBytes(VM.parseJsonString(json, ".bytecode.object"));
        manager = IV4Admin(_create(abi.encodePacked(code, abi.encode(address(this)))));
        desk = new V4Desk(manager);
    }

    function _managerProtocol() internal view returns (Protocol memory) {
        return Protocol({kind: 4, factory: address(manager), feePips: 0, initCodeHash: 0});
    }

    function _key(address tokenA, address tokenB, uint24 fee) internal pure returns (PoolKey memory) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return PoolKey(token0, token1, fee, fee == 100 ? int24(1) : int24(fee / 50), address(0));
    }

    /// With liquidity in one range of ticks; the zero address is the native coin.
    function _poolV4(PoolKey memory key, uint160 sqrtPrice, int24 lower, int24 upper, uint256 liquidity) internal {
        manager.initialize(key, sqrtPrice);
        address[2] memory currencies = [key.currency0, key.currency1];
        for (uint256 i = 0; i < 2; ++i) {
            if (currencies[i] == NATIVE) VM.deal(address(desk), 1e9 ether);
            else _fund(currencies[i], address(desk), 1e8 ether);
        }
        desk.deposit(key, IV4Admin.ModifyLiquidityParams(lower, upper, int256(liquidity), 0));
    }

    /// What the manager itself says: it is asked for the swap, and all of it is undone.
    function _quoteV4(PoolKey memory key, address sold, uint256 amountIn)
        internal
        returns (uint256 taken, uint256 bought)
    {
        return desk.quote(key, sold == key.currency0, amountIn);
    }

    function _legV4(uint8 protocol, address tokenIn, address tokenOut, uint24 fee, uint64 portion)
        internal
        view
        returns (Leg memory)
    {
        return Leg(protocol, address(manager), tokenIn, tokenOut, fee, portion);
    }
}
