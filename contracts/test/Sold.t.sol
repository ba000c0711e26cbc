// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Leg, NATIVE, Swap} from "../src/SwapTypes.sol";
import {Orders} from "./Orders.sol";
import {told} from "./Told.sol";
import {VM} from "./Vm.sol";
import {IV3FactoryAdmin, IV3PoolAdmin} from "./World.sol";

/// What the event tells as `amountIn` is what was sold, not what the order offered.
contract SoldTest is Orders {
    using SafeERC20 for IERC20;

    uint256 private constant RESERVE = 1e15;
    /// A range around the price in which all of a dry pool's liquidity lies.
    int24 private constant NARROW_TICK = 600;

    /// At one to one, with so little liquidity that it is out of it after about three hundredths of RESERVE.
    function _dryPool(address tokenA, address tokenB) private returns (address pool) {
        pool = IV3FactoryAdmin(v3Factory).createPool(tokenA, tokenB, 3000);
        address[2] memory both = [tokenA, tokenB];
        for (uint256 i = 0; i < both.length; ++i) {
            _fund(both[i], address(this), RESERVE);
            IERC20(both[i]).forceApprove(address(minter), RESERVE);
        }
        IV3PoolAdmin(pool).initialize(1 << 96);
        minter.mintV3(pool, -NARROW_TICK, NARROW_TICK, uint128(RESERVE));
    }

    function testFuzz_ofAPoolThatRunsDryOnlyWhatItTookIsSold(uint256 amountIn) public {
        Swap memory order = _order(address(usdc), address(usdt), bound(amountIn, 1_000, 100 * RESERVE));
        order.swapFee = order.amountIn / 100;
        _prepare(order);
        address pool = _dryPool(address(usdc), address(usdt));
        uint256 before = usdc.balanceOf(pool);
        VM.recordLogs();
        _submit(order, _route(V3, pool, address(usdc), address(usdt)));
        uint256 sold = told(address(settlement)).amountIn;
        assertEq(sold, usdc.balanceOf(pool) - before, "what the pool took");
        assertEq(sold, order.amountIn - usdc.balanceOf(owner), "what the owner did not get back");
        if (order.amountIn > RESERVE) assertTrue(sold < order.amountIn / 10, "the pool ran dry");
        else if (order.amountIn < RESERVE / 100) assertEq(sold, order.amountIn, "all of it");
        _assertHoldsNothing();
    }

    function test_ofNativeThatRunsAPoolDryOnlyWhatItTookIsSold() public {
        Swap memory order = _order(NATIVE, address(usdt), RESERVE);
        address pool = _dryPool(address(weth), address(usdt));
        uint256 before = weth.balanceOf(pool);
        VM.deal(owner, RESERVE);
        VM.recordLogs();
        VM.prank(owner);
        settlement.swap{value: RESERVE}(order, _route(V3, pool, address(weth), address(usdt)));
        uint256 sold = told(address(settlement)).amountIn;
        assertEq(sold, weth.balanceOf(pool) - before, "what the pool took");
        assertEq(sold, RESERVE - owner.balance, "what the owner did not get back");
        assertTrue(sold < RESERVE / 10, "the pool ran dry");
    }

    function test_aLeftoverOfATokenOnTheWayIsNoPartOfWhatIsNotSold() public {
        Swap memory order = _order(address(usdt), address(weth), 10_000e6);
        _prepare(order);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V2, usdcUsdtV2, address(usdt), address(usdc), ALL);
        route[1] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL / 2);
        VM.recordLogs();
        _submit(order, route);
        assertEq(told(address(settlement)).amountIn, order.amountIn, "all of the sold token");
        assertTrue(usdc.balanceOf(owner) > 4_000e6, "and half of the other went to the owner");
    }

    /// In a circle more of the sold token may come back than was offered: nothing was sold then, and nothing reverts.
    function test_whereMoreComesBackThanWasOfferedNothingIsSold() public {
        _fund(address(usdc), address(this), 9_000_000e6);
        usdc.approve(address(minter), 9_000_000e6);
        minter.swapV3(wethUsdcV3, address(usdc) < address(weth), 9_000_000e6);
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        _prepare(order);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL);
        route[1] = _leg(V3, wethUsdcV3, address(weth), address(usdc), ALL / 2);
        VM.recordLogs();
        _submit(order, route);
        assertTrue(usdc.balanceOf(owner) > order.amountIn, "more than was offered came back");
        assertEq(told(address(settlement)).amountIn, 0, "nothing was sold");
    }
}
