// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {UniswapV4Legs} from "../src/UniswapV4Legs.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {BalanceLedger} from "../src/BalanceLedger.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, Permit, Swap} from "../src/SwapTypes.sol";
import {FakePool, ICallback} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

/// A pool of the attacker's that, once it is called, asks to be paid with somebody else's tokens: the payer stands in
/// the callback's data, as routers that were robbed believed.
contract RobberPool is FakePool {
    address private immutable _victim;

    constructor(address tokenA, address tokenB, address victim) FakePool(tokenA, tokenB) {
        _victim = victim;
    }

    function rob(ICallback router, int256 amount) external {
        router.uniswapV3SwapCallback(amount, -1, abi.encode(token0, token1, uint24(3000), _victim));
    }
}

/// The losses that made routers of others famous, each replayed by its pattern against these contracts. The victim has
/// approved the settlement without a limit, which is the worst that it can have done.
contract IncidentsTest is Orders {
    uint256 private constant SAVINGS = 1_000_000e6;
    address private attacker = address(0xA77ACC);

    function setUp() public override {
        super.setUp();
        _fund(address(usdc), owner, SAVINGS);
        VM.prank(owner);
        usdc.approve(address(settlement), type(uint256).max);
        // The other mistake: an approval for the contract that performs routes.
        VM.prank(owner);
        usdc.approve(address(executor), type(uint256).max);
    }

    function _assertNothingStolen() private view {
        assertEq(usdc.balanceOf(owner), SAVINGS, "the victim's savings");
        assertEq(usdc.balanceOf(attacker) + weth.balanceOf(attacker), 0, "the attacker has nothing");
        _assertHoldsNothing();
    }

    /// What the victim signed is a small order; all else is the attacker's choice.
    function _smallOrder() private view returns (Swap memory order) {
        order = _order(address(usdc), address(weth), 1_000e6);
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), order.amountIn) * 99 / 100;
    }

    function _assertCallFails(address target, bytes memory data) private {
        VM.prank(attacker);
        (bool done,) = target.call(data);
        assertTrue(!done, "refused");
    }

    /// Views and reservations may succeed; what counts is what moved.
    function _tryAnyway(address target, bytes memory data) private returns (bool done) {
        (done,) = target.call(data);
    }

    /// April 2023, 3.3 million dollars: the pool came from the route, so a fake one could call back and name its payer.
    function test_sushiRouteProcessor2_aPoolFromTheRouteNamesTheVictimAsPayer() public {
        RobberPool robber = new RobberPool(address(usdc), address(weth), owner);
        Leg[] memory route = _route(V3, address(robber), address(usdc), address(weth));
        Swap memory order = _order(address(usdc), address(weth), 1e6);
        order.recipient = attacker;
        _fund(address(usdc), attacker, 1e6);
        VM.startPrank(attacker);
        usdc.approve(address(settlement), 1e6);
        VM.expectRevert(
            abi.encodeWithSelector(SwapdExecutor.UnknownPool.selector, 0, address(robber), wethUsdcV3)
        );
        settlement.swap(order, route);
        usdc.transfer(address(0xDEAD), 1e6);
        VM.stopPrank();
        // Nor does it help to call back without having been called.
        VM.expectRevert(
            abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, address(robber), address(0))
        );
        robber.rob(ICallback(address(executor)), int256(SAVINGS));
        _assertNothingStolen();
    }

    /// March 2024, 24 thousand dollars: the callback believed the payer that its caller named.
    function test_paraswapAugustusV6_aDirectCallbackNamesTheVictimAsPayer() public {
        bytes memory payer = abi.encode(owner, address(usdc), address(weth), uint24(3000));
        bytes memory data =
            abi.encodeCall(SwapdExecutor.uniswapV3SwapCallback, (int256(SAVINGS), int256(-1), payer));
        _assertCallFails(address(executor), data);
        _assertCallFails(address(settlement), data);
        // Not even while an execution of the attacker's own holds the executor.
        VM.startPrank(attacker);
        executor.reserve();
        VM.expectRevert(abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, attacker, address(0)));
        executor.uniswapV3SwapCallback(int256(SAVINGS), -1, payer);
        executor.execute(Execution(attacker, attacker, address(usdc), address(weth), 0), new Leg[](0));
        VM.stopPrank();
        _assertNothingStolen();
    }

    /// March 2022 and July 2024, 12.2 million dollars: a facet without a list of targets made any call for anybody, so
    /// `transferFrom(victim, ...)` was one. Here no field of an order or a route is a call; tokens in the places of
    /// pools are the nearest that one can get.
    function test_lifiFacet_aTokenIsNamedAsThePoolToBeCalled() public {
        bytes memory theft = abi.encodeCall(IERC20.transferFrom, (owner, attacker, SAVINGS));
        _assertCallFails(address(settlement), theft);
        _assertCallFails(address(executor), theft);
        Swap memory order = _smallOrder();
        bytes memory signature = _sign(order);
        for (uint8 protocol = V2; protocol <= V3; ++protocol) {
            Leg[] memory route = _route(protocol, address(usdc), address(usdc), address(weth));
            VM.expectPartialRevert(SwapdExecutor.UnknownPool.selector);
            VM.prank(relayer);
            settlement.swapWithSignature(owner, order, route, signature, _noPermit());
        }
        _assertNothingStolen();
    }

    /// January 2026, 13 to 17 million dollars: a token was passed as the router to call, with `transferFrom` as its
    /// calldata, against everybody who had approved. The whole surface is tried with calls that carry a theft.
    function testFuzz_swapNet_noCalldataReachesAToken(uint256 selector, bytes calldata tail) public {
        bytes4[7] memory entries = [
            SwapdSettlement.swap.selector,
            SwapdSettlement.swapWithSignature.selector,
            SwapdSettlement.cancelNonce.selector,
            SwapdExecutor.execute.selector,
            SwapdExecutor.uniswapV3SwapCallback.selector,
            IERC20.transferFrom.selector,
            bytes4(bytes32(selector))
        ];
        bytes memory theft = abi.encode(usdc, abi.encodeCall(IERC20.transferFrom, (owner, attacker, SAVINGS)), tail);
        VM.startPrank(attacker);
        _tryAnyway(address(settlement), bytes.concat(entries[selector % 7], theft));
        _tryAnyway(address(executor), bytes.concat(entries[selector % 7], theft));
        VM.stopPrank();
        _assertNothingStolen();
    }

    /// August 2025, 300 thousand dollars: tokens were approved to the contract that runs routes, and anybody's route
    /// took them. Here too the owner approved the executor by mistake.
    function test_coinbase0xSettler_anApprovalForTheExecutorIsWorthNothingToAnybody() public {
        assertEq(usdc.allowance(owner, address(executor)), type(uint256).max, "the mistake was made");
        VM.startPrank(attacker);
        executor.reserve();
        // A job that claims the victim as its owner is paid from what the executor was sent, which is nothing.
        VM.expectPartialRevert(BalanceLedger.NotFunded.selector);
        executor.execute(
            Execution(owner, attacker, address(usdc), address(weth), SAVINGS),
            _route(V2, wethUsdcV2, address(usdc), address(weth))
        );
        VM.expectPartialRevert(SwapdExecutor.LegWithoutInput.selector);
        executor.execute(
            Execution(owner, attacker, address(usdc), address(weth), 0),
            _route(V2, wethUsdcV2, address(usdc), address(weth))
        );
        executor.execute(Execution(owner, attacker, address(usdc), address(weth), 0), new Leg[](0));
        VM.stopPrank();
        _assertNothingStolen();
    }

    /// February 2023, 166 thousand dollars: the settlement had approved a helper that made arbitrary calls, which took
    /// what the settlement kept of the fees. Here nothing is kept, and nobody is approved, the executor included.
    function test_cowSwapGuard_theSettlementApprovesNobodyAndKeepsNoBuffer() public {
        Swap memory order = _smallOrder();
        (order.swapFee, order.affiliate, order.affiliateFee) = (1e6, affiliate, 2e6);
        _submit(order, _route(V2, wethUsdcV2, address(usdc), address(weth)));
        _assertHoldsNothing();
        address[5] memory spenders = [address(executor), wethUsdcV2, wethUsdcV3, relayer, attacker];
        for (uint256 i = 0; i < spenders.length; ++i) {
            assertEq(usdc.allowance(address(settlement), spenders[i]), 0, "the settlement approves nobody");
            assertEq(usdc.allowance(address(executor), spenders[i]), 0, "the executor approves nobody");
        }
        // And a buffer that somebody leaves there all the same cannot be reached through the helper.
        _fund(address(usdc), address(settlement), 50e6);
        bytes memory theft = abi.encodeCall(IERC20.transferFrom, (address(settlement), attacker, 50e6));
        _assertCallFails(address(executor), theft);
        _assertCallFails(address(usdc), theft);
        assertEq(usdc.balanceOf(address(settlement)), 50e6, "the buffer stays");
    }

    /// March 2025, 5 million dollars: a length in the calldata underflowed, a forged suffix was read as the settlement's
    /// own, and resolvers trusted whatever came from it. Offsets and lengths of a genuine call are bent at random here.
    function testFuzz_oneInchFusionV1_bentLengthsForgeNoOrder(uint256 word, uint256 value, bool underflow) public {
        Swap memory order = _smallOrder();
        Leg[] memory route = _route(V2, wethUsdcV2, address(usdc), address(weth));
        bytes memory call_ = abi.encodeCall(
            SwapdSettlement.swapWithSignature, (owner, order, route, _sign(order), _noPermit())
        );
        uint256 place = 4 + 32 * (word % ((call_.length - 4) / 32));
        if (underflow) value = type(uint256).max - value % 1_000;
        // A suffix with an order for the attacker follows, for whoever reads beyond the end.
        order.recipient = attacker;
        bytes memory bent = bytes.concat(call_, abi.encode(owner, order, route));
        assembly {
            mstore(add(add(bent, 0x20), place), value)
        }
        VM.prank(relayer);
        (bool done,) = address(settlement).call(bent);
        if (done) {
            assertTrue(weth.balanceOf(recipient) >= order.amountOutMin, "only what was signed");
            assertEq(usdc.balanceOf(owner), SAVINGS - order.amountIn, "for what was signed");
        } else {
            assertEq(usdc.balanceOf(owner), SAVINGS, "nothing left the owner");
        }
        assertEq(usdc.balanceOf(attacker) + weth.balanceOf(attacker), 0, "the attacker has nothing");
        _assertHoldsNothing();
    }

    /// Who may call the executor is not a matter of trust: a sender that pretends to be the settlement is served like
    /// anybody, from what it brought.
    function test_oneInchFusionV1_beingCalledByTheSettlementProvesNothing() public {
        VM.startPrank(address(settlement));
        executor.reserve();
        VM.expectPartialRevert(BalanceLedger.NotFunded.selector);
        executor.execute(
            Execution(attacker, attacker, address(usdc), address(weth), SAVINGS),
            _route(V2, wethUsdcV2, address(usdc), address(weth))
        );
        VM.stopPrank();
        _assertNothingStolen();
    }

    /// An audit of 0x Settler: with no minimum and no bought token the check was skipped, and anyone took the funds.
    function test_zeroExSettlerAudit_anOrderWithoutMinimumOrTokenIsRefused() public {
        Swap memory order = _smallOrder();
        order.amountOutMin = 0;
        bytes memory signature = _sign(order);
        VM.expectRevert(SwapdSettlement.AmountOutMinZero.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, new Leg[](0), signature, _noPermit());
        // No token means native: an empty route brings none of it.
        (order.amountOutMin, order.toAsset) = (1, address(0));
        signature = _sign(order);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.OutputBelowMinimum.selector, 0, 1));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, new Leg[](0), signature, _noPermit());
        _assertNothingStolen();
    }

    /// An audit of the Rabby router: the fee came off after the check of the minimum. Here the check is the last step.
    function test_rabbyAudit_feesComeOffBeforeTheMinimumIsChecked() public {
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        (order.swapFee, order.affiliate, order.affiliateFee) = (5e6, affiliate, 10e6);
        order.amountOutMin = _quoteV2(wethUsdcV2, address(usdc), _gross(order));
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.OutputBelowMinimum.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(
            owner, order, _route(V2, wethUsdcV2, address(usdc), address(weth)), signature, _noPermit()
        );
        _assertNothingStolen();
    }

    /// Clober and others: a permit that somebody had submitted first made the whole order fail. And Multichain, 2022:
    /// a permit that a token swallowed without a word counted as an allowance.
    function test_permitFrontRun_neitherBlocksAnOrderNorGivesAnAllowance() public {
        VM.prank(owner);
        usdc.approve(address(settlement), 0);
        Swap memory order = _smallOrder();
        Permit memory permit = _usdcPermit(order.amountIn);
        bytes memory signature = _sign(order);
        VM.prank(attacker);
        usdc.permit(owner, address(settlement), permit.value, permit.deadline, permit.v, permit.r, permit.s);
        // With the permit alone the attacker gets nowhere.
        Swap memory own = _order(address(usdc), address(weth), order.amountIn);
        _assertCallFails(address(settlement), abi.encodeCall(settlement.swap, (own, new Leg[](0))));
        VM.prank(relayer);
        settlement.swapWithSignature(
            owner, order, _route(V2, wethUsdcV2, address(usdc), address(weth)), signature, permit
        );
        assertTrue(weth.balanceOf(recipient) >= order.amountOutMin, "filled");
        Swap memory swallowed = _order(address(weth), address(usdc), 1 ether);
        swallowed.nonce = 1;
        _fund(address(weth), owner, 1 ether);
        signature = _sign(swallowed);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.AllowanceTooLow.selector, 0, 1 ether));
        VM.prank(relayer);
        settlement.swapWithSignature(
            owner, swallowed, _route(V2, wethUsdcV2, address(weth), address(usdc)), signature, permit
        );
    }
}
