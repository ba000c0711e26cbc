// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IUniswapV2Pair} from "../src/interfaces/IUniswapPools.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, Swap} from "../src/SwapTypes.sol";
import {TaxToken} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

/// An owner signs no route. The most that anybody makes of this is the difference between the market and the minimum.
contract UnsignedRouteTest is Orders {
    address private frontRunner = address(0xF407);
    uint256 private constant SAVINGS = 500_000e6;

    function _signedOrder(uint256 slippageBps) private returns (Swap memory order) {
        order = _order(address(usdc), address(weth), 100_000e6);
        (order.swapFee, order.affiliate, order.affiliateFee) = (7e6, affiliate, 11e6);
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), order.amountIn) * (10_000 - slippageBps) / 10_000;
        // The owner has more than it sells, of this token and of another, and has approved all of it.
        _fund(address(usdc), owner, SAVINGS + _gross(order));
        _fund(address(weth), owner, 5 ether);
        VM.startPrank(owner);
        usdc.approve(address(settlement), type(uint256).max);
        weth.approve(address(settlement), type(uint256).max);
        VM.stopPrank();
    }

    function _route() private view returns (Leg[] memory) {
        return _route(V2, wethUsdcV2, address(usdc), address(weth));
    }

    /// Either nothing happened, or exactly what was signed.
    function _assertSignedOrNothing(Swap memory order, bool filled) private view {
        assertEq(usdc.balanceOf(owner), SAVINGS + (filled ? 0 : _gross(order)), "the owner's sold token");
        assertEq(weth.balanceOf(owner), 5 ether, "the owner's other token");
        assertEq(usdc.balanceOf(relayer), filled ? order.swapFee : 0, "the relayer's fee");
        assertEq(usdc.balanceOf(affiliate), filled ? order.affiliateFee : 0, "the affiliate's fee");
        assertTrue(!filled || weth.balanceOf(recipient) >= order.amountOutMin, "the minimum");
    }

    function testFuzz_aFrontRunnerLeavesTheMinimumOrNothing(uint256 size, uint256 slippageBps) public {
        Swap memory order = _signedOrder(bound(slippageBps, 0, 500));
        size = bound(size, 1e6, 9_000_000e6);
        _fund(address(usdc), frontRunner, size);
        bool zeroForOne = IUniswapV2Pair(wethUsdcV2).token0() == address(usdc);
        VM.startPrank(frontRunner);
        usdc.approve(address(minter), size);
        minter.swapV2(wethUsdcV2, zeroForOne, size);
        VM.stopPrank();
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        try settlement.swapWithSignature(owner, order, _route(), signature, _noPermit()) {
            _assertSignedOrNothing(order, true);
        } catch (bytes memory reason) {
            assertTrue(bytes4(reason) == SwapdSettlement.OutputBelowMinimum.selector, "for the minimum only");
            _assertSignedOrNothing(order, false);
        }
    }

    function testFuzz_aCopierWithABetterRouteEarnsNoFee(address copier, bool better) public {
        VM.assume(copier != relayer && copier != owner && copier != affiliate && copier.code.length == 0);
        Swap memory order = _signedOrder(100);
        bytes memory signature = _sign(order);
        Leg[] memory route = better ? _route(V3, wethUsdcV3, address(usdc), address(weth)) : _route();
        uint256 before = usdc.balanceOf(copier);
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(copier);
        settlement.swapWithSignature(owner, order, route, signature, _noPermit());
        assertEq(usdc.balanceOf(copier), before, "no fee");
        _assertSignedOrNothing(order, false);
        // And the copy did not spoil the original.
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _route(), signature, _noPermit());
        _assertSignedOrNothing(order, true);
    }

    /// The relayer owns the only pool of a token of its own, routes a part of the order there and keeps it.
    function testFuzz_aMaliciousRelayerKeepsWhatIsAboveTheMinimumAtMost(uint64 share, uint256 slippageBps) public {
        Swap memory order = _signedOrder(bound(slippageBps, 0, 1_000));
        TaxToken own = new TaxToken();
        own.mint(address(this), 2_000_000 ether);
        address pool = _poolV2(address(own), 1_000_000 ether, address(usdc), 1e6);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V2, pool, address(usdc), address(own), uint64(bound(share, 1e12, ALL / 5)));
        route[1] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL);
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        try settlement.swapWithSignature(owner, order, route, signature, _noPermit()) {
            _assertSignedOrNothing(order, true);
        } catch (bytes memory reason) {
            assertTrue(bytes4(reason) == SwapdSettlement.OutputBelowMinimum.selector, "for the minimum only");
            _assertSignedOrNothing(order, false);
        }
        _assertHoldsNothing();
    }
}
