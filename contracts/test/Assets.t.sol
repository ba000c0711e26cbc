// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {NativeCoin} from "../src/NativeCoin.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, NATIVE, Permit, Swap} from "../src/SwapTypes.sol";
import {Forwarder, Refuser} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

contract AssetsTest is Orders {
    function _wethToUsdc() private view returns (Leg[] memory) {
        return _route(V3, wethUsdcV3, address(weth), address(usdc));
    }

    function _usdcToWeth() private view returns (Leg[] memory) {
        return _route(V2, wethUsdcV2, address(usdc), address(weth));
    }

    function _swapAsOwner(Swap memory order, Leg[] memory route, uint256 value) private returns (uint256) {
        VM.prank(owner);
        return settlement.swap{value: value}(order, route);
    }

    function testFuzz_feesAreExactAndTheMinimumHoldsAfterThem(uint256 amountIn, uint256 swapFee, uint256 fee) public {
        Swap memory order = _order(address(usdc), address(weth), bound(amountIn, 1_000e6, 1_000_000e6));
        order.swapFee = bound(swapFee, 0, 100e6);
        order.affiliateFee = bound(fee, 1, order.amountIn * 3 / 100);
        order.affiliate = affiliate;
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        _prepare(order);
        VM.expectEmit(address(settlement));
        emit SwapdSettlement.Swapped(
            owner,
            order.nonce,
            relayer,
            recipient,
            address(usdc),
            address(weth),
            order.amountIn,
            order.amountOutMin,
            order.swapFee,
            affiliate,
            order.affiliateFee
        );
        _submit(order, _usdcToWeth());
        assertEq(usdc.balanceOf(relayer), order.swapFee, "the relayer's fee");
        assertEq(usdc.balanceOf(affiliate), order.affiliateFee, "the affiliate's fee");
        assertEq(usdc.balanceOf(owner), 0, "gross left the owner, no more and no less");
        assertEq(weth.balanceOf(recipient), order.amountOutMin, "the minimum after all fees");
        assertEq(usdc.allowance(owner, address(settlement)), 0, "an exact allowance is used up");
        _assertHoldsNothing();
    }

    function testFuzz_oneLessThanTheMinimumReverts(uint256 amountIn, uint256 excess) public {
        Swap memory order = _order(address(usdc), address(weth), bound(amountIn, 1e6, 1_000_000e6));
        uint256 quoted = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        order.amountOutMin = quoted + bound(excess, 1, 1e30);
        _prepare(order);
        bytes memory signature = _sign(order);
        bytes4 code = SwapdSettlement.OutputBelowMinimum.selector;
        VM.expectRevert(abi.encodeWithSelector(code, quoted, order.amountOutMin));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function testFuzz_nativeInIsTheGrossAmountExactly(uint256 amountIn, uint256 fee) public {
        Swap memory order = _order(NATIVE, address(usdc), bound(amountIn, 1e12, 1_000 ether));
        order.affiliateFee = bound(fee, 1, order.amountIn * 3 / 100);
        order.affiliate = affiliate;
        uint256 quoted = _quoteV3(wethUsdcV3, address(weth), order.amountIn);
        VM.deal(owner, _gross(order) + 1);
        assertEq(_swapAsOwner(order, _wethToUsdc(), _gross(order)), quoted, "as quoted");
        assertEq(usdc.balanceOf(recipient), quoted, "delivered");
        assertEq(affiliate.balance, order.affiliateFee, "the affiliate is paid in the sold asset");
        assertEq(owner.balance, 1, "gross left the owner");
        _assertHoldsNothing();
    }

    function testFuzz_nativeInWithAnotherValueIsRefused(uint256 value) public {
        Swap memory order = _order(NATIVE, address(usdc), 1 ether);
        VM.assume(value != 1 ether);
        VM.deal(owner, value);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.WrongNativeValue.selector, value, 1 ether));
        _swapAsOwner(order, _wethToUsdc(), value);
    }

    function test_valueBesideATokenOrderIsRefusedInsteadOfLost() public {
        Swap memory order = _order(address(weth), address(usdc), 1 ether);
        _prepare(order);
        VM.deal(owner, 1 ether);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.WrongNativeValue.selector, 1 ether, 0));
        _swapAsOwner(order, _wethToUsdc(), 1 ether);
    }

    function test_unsoldNativeComesBackAsNative() public {
        Swap memory order = _order(NATIVE, address(usdc), 2 ether);
        VM.deal(owner, 2 ether);
        Leg[] memory route = _wethToUsdc();
        route[0].portion = ALL / 4;
        _swapAsOwner(order, route, 2 ether);
        assertEq(owner.balance, 1.5 ether, "the unsold part");
        _assertHoldsNothing();
    }

    function testFuzz_nativeOutIsUnwrappedForTheRecipient(uint256 amountIn) public {
        Swap memory order = _order(address(usdc), NATIVE, bound(amountIn, 1e6, 1_000_000e6));
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        _prepare(order);
        uint256 amountOut = _submit(order, _usdcToWeth());
        assertEq(amountOut, order.amountOutMin, "as quoted");
        assertEq(recipient.balance, amountOut, "delivered as native");
        _assertHoldsNothing();
    }

    function test_aRecipientThatForwardsNativeStillCountsAsPaid() public {
        recipient = address(new Forwarder(payable(address(0xF0F0))));
        Swap memory order = _order(address(usdc), NATIVE, 1_000e6);
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        _prepare(order);
        _submit(order, _usdcToWeth());
        assertEq(address(0xF0F0).balance, order.amountOutMin, "forwarded");
    }

    function test_aRecipientThatRefusesNativeRevertsTheSwap() public {
        recipient = address(new Refuser());
        Swap memory order = _order(address(usdc), NATIVE, 1_000e6);
        _prepare(order);
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(NativeCoin.NativeTransferFailed.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function test_nativeCannotBeSoldBySignature() public {
        Swap memory order = _order(NATIVE, address(usdc), 1 ether);
        bytes memory signature = _sign(order);
        VM.expectRevert(SwapdSettlement.NativeNeedsOwnTransaction.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _wethToUsdc(), signature, _noPermit());
    }

    function test_nobodyCanLeaveNativeTokensInTheContracts() public {
        VM.deal(address(this), 2 ether);
        (bool toSettlement,) = address(settlement).call{value: 1 ether}("");
        (bool toExecutor,) = address(executor).call{value: 1 ether}("");
        assertTrue(!toSettlement && !toExecutor, "both refuse");
    }

    function testFuzz_tokensWithoutReturnValuesAreSoldAndBought(uint256 amountIn) public {
        uint256 amount = bound(amountIn, 1e6, 1_000_000e6);
        Swap memory order = _order(address(usdt), address(usdc), amount);
        order.affiliate = affiliate;
        order.affiliateFee = amount / 100;
        _prepare(order);
        _submit(order, _route(V2, usdcUsdtV2, address(usdt), address(usdc)));
        assertEq(usdt.balanceOf(affiliate), order.affiliateFee, "fee in usdt");
        Swap memory back = _order(address(usdc), address(usdt), amount);
        back.nonce = 1;
        _prepare(back);
        uint256 amountOut = _submit(back, _route(V2, usdcUsdtV2, address(usdc), address(usdt)));
        assertEq(usdt.balanceOf(recipient), amountOut, "usdt bought");
        _assertHoldsNothing();
    }

    function _permitted(Swap memory order, Permit memory permit) private returns (uint256) {
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        return settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, permit);
    }

    function test_aPermitGivesTheAllowanceInTheSameTransaction() public {
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _fund(address(usdc), owner, 1_000e6);
        _permitted(order, _usdcPermit(1_000e6));
        assertEq(usdc.allowance(owner, address(settlement)), 0, "used up");
    }

    function test_aPermitThatSomebodySubmittedFirstStillServes() public {
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _fund(address(usdc), owner, 1_000e6);
        Permit memory permit = _usdcPermit(1_000e6);
        VM.prank(address(0xBAD));
        usdc.permit(owner, address(settlement), permit.value, permit.deadline, permit.v, permit.r, permit.s);
        assertTrue(_permitted(order, permit) > 0, "filled");
    }

    function testFuzz_aWorthlessPermitEndsAtTheAllowance(Permit memory permit) public {
        VM.assume(permit.v != 0);
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _fund(address(usdc), owner, 1_000e6);
        bytes memory signature = _sign(order);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.AllowanceTooLow.selector, 0, 1_000e6));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, permit);
    }

    function test_aTokenThatSwallowsPermitsGivesNoAllowance() public {
        // Wrapped native answers any unknown call with success.
        Swap memory order = _order(address(weth), address(usdc), 1 ether);
        _fund(address(weth), owner, 1 ether);
        bytes memory signature = _sign(order);
        Permit memory permit = _usdcPermit(1 ether);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.AllowanceTooLow.selector, 0, 1 ether));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _wethToUsdc(), signature, permit);
    }

    function _refused(Swap memory order, bytes memory reason) private {
        VM.expectRevert(reason);
        _swapAsOwner(order, _usdcToWeth(), 0);
    }

    function test_anOrderThatCannotBeMeantIsRefused() public {
        Swap memory order = _order(address(usdc), address(weth), 0);
        _refused(order, abi.encodeWithSelector(SwapdSettlement.AmountInZero.selector));
        order = _order(address(usdc), address(weth), 1e6);
        order.amountOutMin = 0;
        _refused(order, abi.encodeWithSelector(SwapdSettlement.AmountOutMinZero.selector));
        order = _order(address(usdc), address(usdc), 1e6);
        _refused(order, abi.encodeWithSelector(SwapdSettlement.SameAsset.selector, usdc, usdc));
        order = _order(address(weth), NATIVE, 1e6);
        _refused(order, abi.encodeWithSelector(SwapdSettlement.SameAsset.selector, weth, NATIVE));
        order = _order(address(usdc), address(weth), 1e6);
        order.swapFee = 1;
        _refused(order, abi.encodeWithSelector(SwapdSettlement.SwapFeeNotZero.selector, 1));
        order = _order(address(usdc), address(weth), 1e6);
        order.nonce = 1;
        _refused(order, abi.encodeWithSelector(SwapdSettlement.NonceNotZero.selector, 1));
    }

    function test_receiversThatWouldLoseTheTokensAreRefused() public {
        address[6] memory lost =
            [address(0), address(settlement), address(executor), address(weth), address(usdc), address(wbtc)];
        for (uint256 i = 0; i < lost.length; ++i) {
            Swap memory order = _order(address(usdc), address(wbtc), 1e6);
            order.recipient = lost[i];
            _refused(order, abi.encodeWithSelector(SwapdSettlement.BadRecipient.selector, lost[i]));
            order.recipient = recipient;
            (order.affiliate, order.affiliateFee) = (lost[i], 1);
            _refused(order, abi.encodeWithSelector(SwapdSettlement.BadAffiliate.selector, lost[i], 1));
        }
    }

    function testFuzz_anAffiliateTakesThreePercentAtMost(uint256 amountIn, uint256 excess) public {
        Swap memory order = _order(address(usdc), address(weth), bound(amountIn, 1e6, 1e18));
        order.affiliate = affiliate;
        _refused(order, abi.encodeWithSelector(SwapdSettlement.BadAffiliate.selector, affiliate, 0));
        // 3 % of gross is 3/97 of net.
        order.affiliateFee = order.amountIn * 3 / 97 + bound(excess, 2, 1e18);
        VM.expectPartialRevert(SwapdSettlement.AffiliateFeeTooHigh.selector);
        _swapAsOwner(order, _usdcToWeth(), 0);
    }
}
