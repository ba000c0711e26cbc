// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, Swap} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

contract SignatureTest is Orders {
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;
    uint256 private constant FIELDS = 12;

    function _signed() private view returns (Swap memory order) {
        order = _order(address(usdc), address(weth), 1_000e6);
        order.nonce = 7;
        order.swapFee = 2e6;
        order.affiliate = affiliate;
        order.affiliateFee = 3e6;
    }

    function _usdcToWeth() private view returns (Leg[] memory) {
        return _route(V2, wethUsdcV2, address(usdc), address(weth));
    }

    /// Another value of one field that is as valid in itself as the signed one.
    function _mutate(Swap memory order, uint256 field, uint256 by) private view returns (Swap memory) {
        if (field == 0) order.recipient = address(uint160(0x10000 + bound(by, 0, type(uint96).max)));
        else if (field == 1) order.fromAsset = address(wbtc);
        else if (field == 2) order.toAsset = address(usdt);
        else if (field == 3) order.deadline += bound(by, 1, 1e9);
        else if (field == 4) order.amountOutMin += bound(by, 1, 1e30);
        else if (field == 5) order.swapFee += bound(by, 1, 1e9);
        else if (field == 6) order.amountIn += bound(by, 1, 1e12);
        else if (field == 7) order.nonce += bound(by, 1, 1e40);
        else if (field == 8) order.affiliate = address(uint160(0x10000 + bound(by, 0, type(uint96).max)));
        else if (field == 9) order.affiliateFee += bound(by, 1, 10e6);
        else if (field == 10) (order.affiliate, order.affiliateFee) = (address(0), 0);
        else order.affiliateFee -= bound(by, 1, 2e6);
        return order;
    }

    function testFuzz_changingAnyFieldAfterSigningIsRefused(uint256 field, uint256 by) public {
        Swap memory order = _signed();
        _prepare(order);
        bytes memory signature = _sign(order);
        Swap memory changed = _mutate(order, field % FIELDS, by);
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, changed, _usdcToWeth(), signature, _noPermit());
    }

    function test_theUnchangedOrderIsFilled() public {
        Swap memory order = _signed();
        _prepare(order);
        uint256 amountOut = _submit(order, _usdcToWeth());
        assertEq(weth.balanceOf(recipient), amountOut, "recipient got what was reported");
        assertTrue(settlement.isNonceUsed(owner, 7), "the nonce is used");
    }

    function testFuzz_anAffiliateCannotBeAddedToAPlainOrder(address added, uint256 fee) public {
        VM.assume(added > address(0x10000) && added != address(settlement) && added != address(executor));
        VM.assume(added != address(weth) && added != address(usdc));
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        bytes memory signature = _sign(order);
        (order.affiliate, order.affiliateFee) = (added, bound(fee, 1, 30e6));
        _prepare(order);
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function testFuzz_aCopierOfAPendingTransactionIsRefused(address copier) public {
        VM.assume(copier != relayer);
        Swap memory order = _signed();
        _prepare(order);
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(copier);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function testFuzz_anotherOwnerCannotBeNamed(address other) public {
        VM.assume(other != owner);
        Swap memory order = _signed();
        bytes memory signature = _sign(order);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.WrongSigner.selector, owner, other));
        VM.prank(relayer);
        settlement.swapWithSignature(other, order, _usdcToWeth(), signature, _noPermit());
    }

    function test_aSignatureForAnotherSettlementIsRefused() public {
        SwapdSettlement other = Committed.settlement(address(weth), address(executor));
        Swap memory order = _signed();
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(relayer);
        other.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function test_aSignatureForAnotherChainIsRefusedAfterAChainSplit() public {
        Swap memory order = _signed();
        bytes memory signature = _sign(order);
        bytes32 separator = settlement.DOMAIN_SEPARATOR();
        VM.chainId(block.chainid + 1);
        assertTrue(settlement.DOMAIN_SEPARATOR() != separator, "the separator follows the chain id");
        VM.expectPartialRevert(SwapdSettlement.WrongSigner.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function testFuzz_aNonceWorksOnce(uint256 nonce) public {
        Swap memory order = _signed();
        order.nonce = nonce;
        _prepare(order);
        assertTrue(!settlement.isNonceUsed(owner, nonce), "a fresh nonce is free");
        _submit(order, _usdcToWeth());
        _prepare(order);
        bytes memory signature = _sign(order);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.NonceUsed.selector, owner, nonce));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function testFuzz_usingOneNonceLeavesAllOthersFree(uint256 used, uint256 other) public {
        VM.assume(used != other);
        VM.prank(owner);
        settlement.cancelNonce(used);
        assertTrue(settlement.isNonceUsed(owner, used), "cancelled");
        assertTrue(!settlement.isNonceUsed(owner, other), "another nonce stays free");
        assertTrue(!settlement.isNonceUsed(relayer, used), "another owner's nonce stays free");
    }

    function testFuzz_aCancelledOrderCannotBeFilled(uint256 nonce) public {
        Swap memory order = _signed();
        order.nonce = nonce;
        _prepare(order);
        VM.expectEmit(address(settlement));
        emit SwapdSettlement.NonceCancelled(owner, nonce);
        VM.prank(owner);
        settlement.cancelNonce(nonce);
        bytes memory signature = _sign(order);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.NonceUsed.selector, owner, nonce));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function test_cancellingAFilledOrderFailsInsteadOfPretending() public {
        Swap memory order = _signed();
        _prepare(order);
        _submit(order, _usdcToWeth());
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.NonceUsed.selector, owner, order.nonce));
        VM.prank(owner);
        settlement.cancelNonce(order.nonce);
    }

    function test_aFailedSwapLeavesItsNonceFree() public {
        Swap memory order = _signed();
        order.amountOutMin = type(uint128).max;
        _prepare(order);
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.OutputBelowMinimum.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
        assertTrue(!settlement.isNonceUsed(owner, order.nonce), "nothing happened, so the nonce is free");
        assertEq(usdc.balanceOf(owner), _gross(order), "nothing left the owner");
    }

    function testFuzz_theDeadlineIsTheLastGoodSecond(uint256 late) public {
        Swap memory order = _signed();
        _prepare(order);
        bytes memory signature = _sign(order);
        uint256 timestamp = order.deadline + bound(late, 1, 1e9);
        VM.warp(timestamp);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.DeadlinePassed.selector, order.deadline, timestamp));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
        VM.warp(order.deadline);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), signature, _noPermit());
    }

    function test_theOtherFormOfASignatureIsRefused() public {
        Swap memory order = _signed();
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(OWNER_KEY, _digest(order, address(settlement), relayer));
        bytes memory highS = abi.encodePacked(r, bytes32(CURVE_ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        VM.expectRevert(SwapdSettlement.MalformedSignature.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, _usdcToWeth(), highS, _noPermit());
    }

    function testFuzz_garbageIsNoSignature(bytes memory garbage, address claimed) public {
        Swap memory order = _signed();
        VM.assume(garbage.length != 65);
        VM.expectRevert(SwapdSettlement.MalformedSignature.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(claimed, order, _usdcToWeth(), garbage, _noPermit());
    }

    function test_noSignatureSpeaksForTheZeroAddress() public {
        Swap memory order = _signed();
        VM.expectRevert(SwapdSettlement.MalformedSignature.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(address(0), order, _usdcToWeth(), new bytes(65), _noPermit());
    }

    function test_anApprovalAloneMovesNothing() public {
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _prepare(order);
        // The attacker's own swap is paid by the attacker, whoever else has approved the settlement.
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.AllowanceTooLow.selector, 0, 1_000e6));
        VM.prank(relayer);
        settlement.swap(order, _usdcToWeth());
        assertEq(IERC20(usdc).balanceOf(owner), 1_000e6, "the owner's tokens stay");
    }
}
