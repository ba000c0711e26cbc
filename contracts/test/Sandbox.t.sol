// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IUniswapV3Pool} from "../src/interfaces/IUniswapPools.sol";
import {DaiPermitToken} from "../src/sandbox/DaiPermitToken.sol";
import {MintableToken} from "../src/sandbox/MintableToken.sol";
import {PoolMinter} from "../src/sandbox/PoolMinter.sol";
import {PriceFeed} from "../src/sandbox/PriceFeed.sol";
import {UsdtLikeToken} from "../src/sandbox/UsdtLikeToken.sol";
import {WrappedNative} from "../src/sandbox/WrappedNative.sol";
import {Committed} from "./Committed.sol";
import {FakePool} from "./Fixtures.sol";
import {VM} from "./Vm.sol";
import {World} from "./World.sol";

contract SandboxTest is World {
    uint256 private constant HOLDER_KEY = 0xB0B;
    address private holder = VM.addr(HOLDER_KEY);

    function testFuzz_theFeedKeepsItsRounds(int256 first, int256 second) public {
        PriceFeed feed = PriceFeed(Committed.deploy("PriceFeed", abi.encode(8, "ETH / USD", first)));
        VM.warp(block.timestamp + 12);
        feed.set(second);
        (uint80 roundId, int256 answer,, uint256 updatedAt, uint80 answeredInRound) = feed.latestRoundData();
        assertEq(roundId, 2, "round");
        assertEq(answeredInRound, 2, "answered in round");
        assertTrue(answer == second && updatedAt == block.timestamp, "latest answer");
        (, answer,, updatedAt,) = feed.getRoundData(1);
        assertTrue(answer == first && updatedAt == block.timestamp - 12, "earlier answer");
        assertEq(feed.decimals(), 8, "decimals");
        assertTrue(keccak256(bytes(feed.description())) == keccak256("ETH / USD"), "description");
    }

    function test_theFeedHasOneOwnerAndInventsNoRounds() public {
        PriceFeed feed = PriceFeed(Committed.deploy("PriceFeed", abi.encode(8, "ETH / USD", 1)));
        VM.expectRevert(abi.encodeWithSelector(PriceFeed.NotOwner.selector, holder));
        VM.prank(holder);
        feed.set(2);
        VM.expectRevert(abi.encodeWithSelector(PriceFeed.NoDataPresent.selector, uint80(7)));
        feed.getRoundData(7);
    }

    function testFuzz_onlyTheMinterMints(address caller) public {
        VM.assume(caller != address(this));
        VM.startPrank(caller);
        VM.expectRevert(abi.encodeWithSelector(MintableToken.NotMinter.selector, caller));
        usdc.mint(caller, 1);
        VM.expectRevert(abi.encodeWithSelector(UsdtLikeToken.NotMinter.selector, caller));
        usdt.mint(caller, 1);
        VM.stopPrank();
    }

    function test_aUsdtLikeAllowanceChangesOnlyFromOrToZero() public {
        usdt.approve(holder, 5);
        VM.expectRevert(abi.encodeWithSelector(UsdtLikeToken.ApproveFromNonZero.selector, 5, 6));
        usdt.approve(holder, 6);
        usdt.approve(holder, 0);
        usdt.approve(holder, 6);
        assertEq(usdt.allowance(address(this), holder), 6, "allowance");
    }

    function _daiDigest(uint256 nonce, uint256 expiry, bool allowed) private view returns (bytes32) {
        bytes32 structHash = keccak256(
            abi.encode(wbtc.PERMIT_TYPEHASH(), holder, address(settlement), nonce, expiry, allowed)
        );
        return keccak256(abi.encodePacked(hex"1901", wbtc.DOMAIN_SEPARATOR(), structHash));
    }

    function test_aDaiPermitIsAllOrNothingAndWorksOnce() public {
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(HOLDER_KEY, _daiDigest(0, 0, true));
        wbtc.permit(holder, address(settlement), 0, 0, true, v, r, s);
        assertEq(wbtc.allowance(holder, address(settlement)), type(uint256).max, "infinite");
        VM.expectRevert(abi.encodeWithSelector(DaiPermitToken.WrongNonce.selector, 0, 1));
        wbtc.permit(holder, address(settlement), 0, 0, true, v, r, s);
        (v, r, s) = VM.sign(HOLDER_KEY, _daiDigest(1, 0, false));
        wbtc.permit(holder, address(settlement), 1, 0, false, v, r, s);
        assertEq(wbtc.allowance(holder, address(settlement)), 0, "revoked");
    }

    function test_aDaiPermitOfAnotherHolderOrAfterItsExpiryIsRefused() public {
        uint256 expiry = block.timestamp - 1;
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(HOLDER_KEY, _daiDigest(0, expiry, true));
        VM.expectRevert(abi.encodeWithSelector(DaiPermitToken.PermitExpired.selector, expiry, block.timestamp));
        wbtc.permit(holder, address(settlement), 0, expiry, true, v, r, s);
        (v, r, s) = VM.sign(HOLDER_KEY + 1, _daiDigest(0, 0, true));
        VM.expectPartialRevert(DaiPermitToken.WrongSigner.selector);
        wbtc.permit(holder, address(settlement), 0, 0, true, v, r, s);
    }

    function testFuzz_wrappedNativeIsBackedOneToOne(uint96 amount, uint96 back) public {
        VM.assume(back <= amount);
        WrappedNative fresh = WrappedNative(payable(Committed.deploy("WrappedNative", "")));
        VM.deal(address(this), amount);
        (bool sent,) = address(fresh).call{value: amount}(hex"12345678");
        assertTrue(sent, "an unknown call is a deposit");
        fresh.withdraw(back);
        assertEq(fresh.balanceOf(address(this)), amount - back, "balance");
        assertEq(fresh.totalSupply(), amount - back, "supply");
        assertEq(address(this).balance, back, "withdrawn");
    }

    function test_wrappedNativeNeedsAnAllowance() public {
        _fund(address(weth), holder, 1 ether);
        VM.expectRevert(abi.encodeWithSelector(WrappedNative.AllowanceTooLow.selector, 0, 1 ether));
        weth.transferFrom(holder, address(this), 1 ether);
    }

    function testFuzz_theTraderTradesAsThePoolsQuote(uint256 amountIn) public {
        amountIn = bound(amountIn, 1e6, 1_000_000e6);
        _fund(address(usdc), address(this), amountIn * 2);
        usdc.approve(address(minter), amountIn * 2);
        bool zeroForOne = IUniswapV3Pool(wethUsdcV3).token0() == address(usdc);
        uint256 before = weth.balanceOf(address(this));
        uint256 quoted = _quoteV2(wethUsdcV2, address(usdc), amountIn);
        assertEq(minter.swapV2(wethUsdcV2, zeroForOne, amountIn), quoted, "v2");
        uint256 quotedV3 = _quoteV3(wethUsdcV3, address(usdc), amountIn);
        assertEq(minter.swapV3(wethUsdcV3, zeroForOne, amountIn), quotedV3, "v3");
        assertEq(weth.balanceOf(address(this)) - before, quoted + quotedV3, "bought");
        _assertMinterHoldsNothing();
    }

    function test_onlyThePoolInFlightIsPaidByTheTrader() public {
        _fund(address(usdc), address(this), 1e6);
        usdc.approve(address(minter), 1e6);
        FakePool stranger = new FakePool(address(usdc), address(weth));
        VM.expectRevert(abi.encodeWithSelector(PoolMinter.UnexpectedCallback.selector, address(stranger)));
        VM.prank(address(stranger));
        minter.uniswapV3SwapCallback(1e6, 1e6, "");
        VM.expectRevert(abi.encodeWithSelector(PoolMinter.UnexpectedCallback.selector, address(stranger)));
        VM.prank(address(stranger));
        minter.uniswapV3MintCallback(1e6, 1e6, "");
    }

    function _assertMinterHoldsNothing() private view {
        assertEq(usdc.balanceOf(address(minter)) + weth.balanceOf(address(minter)), 0, "the minter keeps nothing");
    }
}
