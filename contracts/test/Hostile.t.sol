// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, NATIVE, Swap} from "../src/SwapTypes.sol";
import {Debt, HookToken, ReenteringReceiver, SlowDebt} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

contract HostileTest is Orders {
    HookToken private evil;
    address private evilWethV2;

    function setUp() public override {
        super.setUp();
        evil = new HookToken();
        evilWethV2 = _poolV2(address(evil), 1_000_000 ether, address(weth), 1_000 ether);
    }

    function _hook(address target, bytes memory first, bytes memory second) private {
        bytes[] memory calls = new bytes[](2);
        (calls[0], calls[1]) = (first, second);
        evil.hook(target, calls);
    }

    function _sellEvil() private view returns (Swap memory order) {
        order = _order(address(evil), address(weth), 1_000 ether);
        (order.affiliate, order.affiliateFee, order.swapFee) = (affiliate, 1 ether, 1 ether);
    }

    function _assertAllAttemptsFailed() private view {
        assertTrue(evil.attempts() > 0, "the hook was called");
        assertEq(evil.successes(), 0, "and got nowhere");
        assertEq(weth.balanceOf(address(evil)), 0, "the attacker gained no weth");
        assertEq(usdc.balanceOf(address(evil)), 0, "the attacker gained no usdc");
        _assertHoldsNothing();
        _assertHoldsNothing(address(evil));
    }

    function test_aTokensHookCannotEnterTheSettlementAgain() public {
        Swap memory order = _sellEvil();
        order.nonce = 1;
        Leg[] memory route = _route(V2, evilWethV2, address(evil), address(weth));
        _prepare(order);
        bytes memory again =
            abi.encodeCall(settlement.swapWithSignature, (owner, order, route, _sign(order), _noPermit()));
        Swap memory own = _order(NATIVE, address(usdc), 0);
        _hook(address(settlement), again, abi.encodeCall(settlement.swap, (own, route)));
        _submit(order, route);
        _assertAllAttemptsFailed();
    }

    function test_aTokensHookCannotTakeTheFundsThatTheExecutorHoldsForASwap() public {
        Leg[] memory route = _route(V2, evilWethV2, address(evil), address(weth));
        Swap memory order = _sellEvil();
        _prepare(order);
        Execution memory theft = Execution(address(evil), address(evil), address(evil), address(weth), 1_000 ether);
        _hook(
            address(executor),
            abi.encodeCall(executor.reserve, ()),
            abi.encodeCall(executor.execute, (theft, route))
        );
        uint256 quoted = _quoteV2(evilWethV2, address(evil), order.amountIn);
        assertEq(_submit(order, route), quoted, "the owner gets what was quoted");
        _assertAllAttemptsFailed();
    }

    function test_aTokensHookOnTheWayCannotTakeTheOtherTokensOfTheRoute() public {
        // Half of the owner's usdc is still in the executor while the hostile token moves.
        Leg[] memory route = new Leg[](4);
        route[0] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL / 2);
        route[1] = _leg(V2, evilWethV2, address(weth), address(evil), ALL);
        route[2] = _leg(V2, evilWethV2, address(evil), address(weth), ALL);
        route[3] = _leg(V3, wethUsdcV3, address(usdc), address(weth), ALL);
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        _prepare(order);
        Execution memory theft = Execution(address(evil), address(evil), address(usdc), address(weth), 5_000e6);
        _hook(
            address(executor),
            abi.encodeCall(executor.execute, (theft, _route(V2, wethUsdcV2, address(usdc), address(weth)))),
            abi.encodeCall(executor.uniswapV3SwapCallback, (int256(5_000e6), int256(-1), ""))
        );
        assertEq(_submit(order, route), weth.balanceOf(recipient), "delivered");
        _assertAllAttemptsFailed();
    }

    function test_whatOthersOweTheRecipientDoesNotCountAsOutput() public {
        // The relayer sells nearly all for a worthless token whose hook makes a debtor pay the recipient meanwhile.
        Debt debt = new Debt();
        _fund(address(weth), address(debt), 100 ether);
        address evilUsdc = _poolV2(address(evil), 1_000_000 ether, address(usdc), 1_000_000e6);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL / 100);
        route[1] = _leg(V2, evilUsdc, address(usdc), address(evil), ALL);
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        order.amountOutMin = 3 ether;
        _prepare(order);
        bytes memory pay = abi.encodeCall(debt.pay, (IERC20(address(weth)), recipient));
        _hook(address(debt), pay, pay);
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.OutputBelowMinimum.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, route, signature, _noPermit());
    }

    /// The relayer sells nearly all for the hostile token, and that for next to nothing in the last pool, which pays the
    /// recipient itself; at each of its transfers the token makes a debtor pay him as well.
    function _soldOverEvil(uint8 lastKind, address lastPool) private returns (uint256 amountOut, uint256 debtPaid) {
        SlowDebt debt = new SlowDebt();
        _fund(address(weth), address(debt), 100 ether);
        address evilUsdc = _poolV2(address(evil), 1_000_000 ether, address(usdc), 1_000_000e6);
        Leg[] memory route = new Leg[](3);
        route[0] = _leg(V2, wethUsdcV2, address(usdc), address(weth), ALL / 100);
        route[1] = _leg(V2, evilUsdc, address(usdc), address(evil), ALL);
        route[2] = _leg(lastKind, lastPool, address(evil), address(weth), ALL / 1_000);
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        _prepare(order);
        bytes memory pay = abi.encodeCall(debt.pay, (IERC20(address(weth)), recipient, 1 ether));
        _hook(address(debt), pay, pay);
        amountOut = _submit(order, route);
        debtPaid = 100 ether - weth.balanceOf(address(debt));
    }

    function test_whatOthersOweDoesNotCountWhereAPairPaysTheRecipient() public {
        (uint256 amountOut, uint256 debtPaid) = _soldOverEvil(V2, evilWethV2);
        assertTrue(debtPaid >= 4 ether, "the debtor paid");
        assertEq(amountOut, weth.balanceOf(recipient) - debtPaid, "only what the pools paid is told");
    }

    function test_whatOthersOweDoesNotCountWhereAPoolPaysTheRecipientBeforeItIsPaid() public {
        address evilWethV3 = _poolV3(address(evil), 1_000_000 ether, address(weth), 1_000 ether);
        (uint256 amountOut, uint256 debtPaid) = _soldOverEvil(V3, evilWethV3);
        assertTrue(debtPaid >= 4 ether, "the debtor paid");
        assertEq(amountOut, weth.balanceOf(recipient) - debtPaid, "only what the pools paid is told");
    }

    function test_aBoughtTokensHookGetsNowhereWhileAPoolPaysTheRecipient() public {
        address evilWethV3 = _poolV3(address(evil), 1_000_000 ether, address(weth), 1_000 ether);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V3, evilWethV3, address(weth), address(evil), ALL / 2);
        route[1] = _leg(V2, evilWethV2, address(weth), address(evil), ALL);
        Swap memory order = _order(address(weth), address(evil), 2 ether);
        _prepare(order);
        Execution memory theft = Execution(address(evil), address(evil), address(weth), address(evil), 1 ether);
        _hook(
            address(executor),
            abi.encodeCall(executor.execute, (theft, route)),
            abi.encodeCall(executor.uniswapV3SwapCallback, (int256(1 ether), int256(1 ether), ""))
        );
        assertEq(_submit(order, route), evil.balanceOf(recipient), "both pools paid him");
        _assertAllAttemptsFailed();
    }

    /// A pool that pays itself has delivered nothing.
    function test_aRecipientThatIsThePoolGetsNothingAndNothingHappens() public {
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        _prepare(order);
        address[2] memory pools = [wethUsdcV2, wethUsdcV3];
        for (uint8 kind = V2; kind <= V3; ++kind) {
            order.recipient = pools[kind];
            bytes memory signature = _sign(order);
            VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.OutputBelowMinimum.selector, 0, 1));
            VM.prank(relayer);
            settlement.swapWithSignature(
                owner, order, _route(kind, pools[kind], address(usdc), address(weth)), signature, _noPermit()
            );
        }
        assertEq(usdc.balanceOf(owner), order.amountIn, "nothing was sold");
    }

    function test_receiversOfNativeTokensCannotEnterAgain() public {
        ReenteringReceiver receiver = new ReenteringReceiver(settlement);
        Swap memory order = _order(NATIVE, address(usdc), 1 ether);
        (order.affiliate, order.affiliateFee) = (address(receiver), 0.01 ether);
        VM.deal(owner, 2 ether);
        VM.prank(owner);
        settlement.swap{value: 1.01 ether}(order, _route(V3, wethUsdcV3, address(weth), address(usdc)));
        Swap memory back = _order(address(usdc), NATIVE, 1_000e6);
        back.recipient = address(receiver);
        _prepare(back);
        _submit(back, _route(V2, wethUsdcV2, address(usdc), address(weth)));
        assertEq(receiver.attempts(), 2, "the receiver was called as affiliate and as recipient");
        assertTrue(!receiver.entered(), "and could not enter");
        _assertHoldsNothing();
    }

    function testFuzz_aRelayerThatPicksABadRouteCannotGoBelowTheMinimum(uint64 share, uint256 slippageBps) public {
        share = uint64(bound(share, 1e15, ALL));
        Swap memory order = _order(address(usdc), address(weth), 10_000e6);
        uint256 quoted = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        order.amountOutMin = quoted * (10_000 - bound(slippageBps, 0, 500)) / 10_000;
        _prepare(order);
        Leg[] memory route = _route(V2, wethUsdcV2, address(usdc), address(weth));
        route[0].portion = share;
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        try settlement.swapWithSignature(owner, order, route, signature, _noPermit()) returns (uint256 amountOut) {
            assertTrue(amountOut >= order.amountOutMin, "filled at the minimum or better");
            assertEq(weth.balanceOf(recipient), amountOut, "and really delivered");
        } catch {
            assertEq(usdc.balanceOf(owner), order.amountIn, "not filled, nothing spent");
        }
    }
}
