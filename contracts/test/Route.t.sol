// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {UniswapV4Legs} from "../src/UniswapV4Legs.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {BalanceLedger} from "../src/BalanceLedger.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, Protocol, Swap} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {FakePool, TaxToken} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

contract RouteTest is Orders {
    function testFuzz_aV2LegPaysWhatUniswapsFormulaSays(uint256 amountIn) public {
        Swap memory order = _order(address(usdc), address(weth), bound(amountIn, 1e6, 50_000_000e6));
        _prepare(order);
        uint256 quoted = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        uint256 amountOut = _submit(order, _route(V2, wethUsdcV2, address(usdc), address(weth)));
        assertEq(amountOut, quoted, "executed as quoted");
        assertEq(weth.balanceOf(recipient), quoted, "delivered as quoted");
        _assertHoldsNothing();
    }

    function testFuzz_aV3LegPaysWhatThePoolSays(uint256 amountIn, bool sellWeth) public {
        (address sold, address bought) = sellWeth ? (address(weth), address(usdc)) : (address(usdc), address(weth));
        Swap memory order = _order(sold, bought, bound(amountIn, 1e10, 30_000_000e6) * (sellWeth ? 1e6 : 1));
        _prepare(order);
        uint256 quoted = _quoteV3(wethUsdcV3, sold, order.amountIn);
        assertEq(_submit(order, _route(V3, wethUsdcV3, sold, bought)), quoted, "executed as quoted");
        assertEq(IERC20(bought).balanceOf(recipient), quoted, "delivered as quoted");
        _assertHoldsNothing();
    }

    function testFuzz_aSplitSpendsAllOfItsInputOverTwoHops(uint64 share, uint256 amountIn) public {
        share = uint64(bound(share, 1e12, ALL - 1e12));
        Swap memory order = _order(address(usdt), address(wbtc), bound(amountIn, 1_000e6, 1_000_000e6));
        _prepare(order);
        Leg[] memory route = new Leg[](4);
        route[0] = _leg(V2, usdcUsdtV2, address(usdt), address(usdc), ALL);
        route[1] = _leg(V2, wethUsdcV2, address(usdc), address(weth), share);
        route[2] = _leg(V3, wethUsdcV3, address(usdc), address(weth), ALL);
        route[3] = _leg(V3, wbtcWethV3, address(weth), address(wbtc), ALL);
        assertEq(_submit(order, route), wbtc.balanceOf(recipient), "all that was bought is delivered");
        assertEq(usdc.balanceOf(owner) + weth.balanceOf(owner) + usdt.balanceOf(owner), 0, "no leftovers");
        _assertHoldsNothing();
    }

    function testFuzz_whatARouteLeavesOverGoesToTheOwner(uint64 share) public {
        share = uint64(bound(share, 1e15, ALL - 1e15));
        Swap memory order = _order(address(usdt), address(weth), 10_000e6);
        _prepare(order);
        Leg[] memory route = new Leg[](2);
        route[0] = _leg(V2, usdcUsdtV2, address(usdt), address(usdc), share);
        route[1] = _leg(V2, wethUsdcV2, address(usdc), address(weth), share);
        uint256 sold = order.amountIn * share / ALL;
        uint256 usdcOut = _quoteV2(usdcUsdtV2, address(usdt), sold);
        _submit(order, route);
        assertEq(usdt.balanceOf(owner), order.amountIn - sold, "the unsold part");
        assertEq(usdc.balanceOf(owner), usdcOut - usdcOut * share / ALL, "the token on the way");
        _assertHoldsNothing();
    }

    function testFuzz_donationsNeitherBreakNorPayForASwap(uint256 donated) public {
        donated = bound(donated, 1, 1_000_000e6);
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _prepare(order);
        _fund(address(usdc), address(executor), donated);
        _fund(address(weth), address(executor), donated);
        uint256 quoted = _quoteV2(wethUsdcV2, address(usdc), order.amountIn);
        order.amountOutMin = quoted;
        assertEq(_submit(order, _route(V2, wethUsdcV2, address(usdc), address(weth))), quoted, "as without donation");
        order.nonce = 1;
        order.amountOutMin = 1;
        _prepare(order);
        bytes memory signature = _sign(order);
        // An empty route cannot pass the donated weth off as its output.
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.OutputBelowMinimum.selector, 0, 1));
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, new Leg[](0), signature, _noPermit());
        assertEq(usdc.balanceOf(address(executor)), donated, "usdc donation stays out");
        assertEq(weth.balanceOf(address(executor)), donated, "weth donation stays out");
    }

    function _refused(Leg[] memory route, bytes memory reason) private {
        Swap memory order = _order(address(usdc), address(weth), 1_000e6);
        _prepare(order);
        bytes memory signature = _sign(order);
        uint256 before = usdc.balanceOf(owner);
        VM.expectRevert(reason);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, route, signature, _noPermit());
        assertEq(usdc.balanceOf(owner), before, "nothing left the owner");
    }

    function test_aPoolThatTheFactoryDoesNotKnowIsRefused() public {
        address fake = address(new FakePool(address(usdc), address(weth)));
        bytes4 code = SwapdExecutor.UnknownPool.selector;
        _refused(_route(V2, fake, address(usdc), address(weth)), abi.encodeWithSelector(code, 0, fake, wethUsdcV2));
        _refused(_route(V3, fake, address(usdc), address(weth)), abi.encodeWithSelector(code, 0, fake, wethUsdcV3));
    }

    function test_aRealPoolOfOtherTokensIsRefused() public {
        bytes4 code = SwapdExecutor.UnknownPool.selector;
        _refused(
            _route(V2, usdcUsdtV2, address(usdc), address(weth)),
            abi.encodeWithSelector(code, 0, usdcUsdtV2, wethUsdcV2)
        );
        _refused(
            _route(V3, wethUsdcV2, address(usdc), address(weth)),
            abi.encodeWithSelector(code, 0, wethUsdcV2, wethUsdcV3)
        );
    }

    function test_aPoolThatDoesNotExistIsNotTheZeroAddress() public {
        _refused(
            _route(V2, address(0), address(usdc), address(wbtc)),
            abi.encodeWithSelector(SwapdExecutor.UnknownPool.selector, 0, address(0), address(0))
        );
    }

    function testFuzz_aProtocolOutsideTheListIsRefused(uint8 protocol) public {
        VM.assume(protocol > V3);
        _refused(
            _route(protocol, wethUsdcV2, address(usdc), address(weth)),
            abi.encodeWithSelector(SwapdExecutor.UnknownProtocol.selector, 0, protocol)
        );
    }

    function testFuzz_aPortionOutsideZeroToAllIsRefused(uint64 portion) public {
        VM.assume(portion > ALL);
        Leg[] memory route = _route(V2, wethUsdcV2, address(usdc), address(weth));
        route[0].portion = portion;
        _refused(route, abi.encodeWithSelector(SwapdExecutor.BadPortion.selector, 0, portion));
        route[0].portion = 0;
        _refused(route, abi.encodeWithSelector(SwapdExecutor.BadPortion.selector, 0, 0));
    }

    function test_aLegWithNothingToSellIsRefused() public {
        _refused(
            _route(V2, usdcUsdtV2, address(usdt), address(usdc)),
            abi.encodeWithSelector(SwapdExecutor.LegWithoutInput.selector, 0, address(usdt))
        );
    }

    function test_anEndlessRouteIsRefused() public {
        _refused(new Leg[](33), abi.encodeWithSelector(SwapdExecutor.TooManyLegs.selector, 33, 32));
    }

    function testFuzz_aDirectCallbackIsRefused(int256 amount0, int256 amount1, bytes calldata payload) public {
        _fund(address(usdc), address(executor), 5e6);
        VM.expectRevert(
            abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, wethUsdcV3, address(0))
        );
        VM.prank(wethUsdcV3);
        executor.uniswapV3SwapCallback(amount0, amount1, payload);
    }

    function testFuzz_whoHasNotReservedCannotExecute(address caller) public {
        VM.assume(caller != address(0));
        Execution memory job = Execution(caller, caller, address(usdc), address(weth), 0);
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.NotReservedBy.selector, caller, address(0)));
        VM.prank(caller);
        executor.execute(job, new Leg[](0));
    }

    function test_aReservationShutsOutEverybodyElseAndServesOnce() public {
        executor.reserve();
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.AlreadyReserved.selector, address(this)));
        VM.prank(relayer);
        executor.reserve();
        Execution memory job = Execution(recipient, recipient, address(usdc), address(weth), 0);
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.NotReservedBy.selector, relayer, address(this)));
        VM.prank(relayer);
        executor.execute(job, new Leg[](0));
        executor.execute(job, new Leg[](0));
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.NotReservedBy.selector, address(this), address(0)));
        executor.execute(job, new Leg[](0));
    }

    function test_anExecutionThatWasNotFundedIsRefused() public {
        executor.reserve();
        Execution memory job = Execution(recipient, recipient, address(usdc), address(weth), 7);
        VM.expectRevert(abi.encodeWithSelector(BalanceLedger.NotFunded.selector, address(usdc), 0, 7));
        executor.execute(job, new Leg[](0));
    }

    function test_aTaxedTokenIsSoldForWhatArrives() public {
        TaxToken tax = new TaxToken();
        tax.mint(address(this), 2_000_000 ether);
        address pool = _poolV2(address(tax), 1_000_000 ether, address(weth), 1_000 ether);
        Swap memory order = _order(address(tax), address(weth), 1_000 ether);
        _prepare(order);
        // One percent stays behind on the way to the executor, and one more on the way to the pool.
        uint256 quoted = _quoteV2(pool, address(tax), 980.1 ether);
        assertEq(_submit(order, _route(V2, pool, address(tax), address(weth))), quoted, "sold what arrived");
        _assertHoldsNothing(address(tax));
    }

    function test_aTaxedTokenIsBoughtByWhatReachesTheRecipient() public {
        TaxToken tax = new TaxToken();
        address pool = _poolV2(address(tax), 1_000_000 ether, address(weth), 1_000 ether);
        Swap memory order = _order(address(weth), address(tax), 1 ether);
        Leg[] memory route = _route(V2, pool, address(weth), address(tax));
        uint256 sent = _quoteV2(pool, address(weth), 1 ether);
        order.amountOutMin = sent;
        _prepare(order);
        bytes memory signature = _sign(order);
        VM.expectPartialRevert(SwapdSettlement.OutputBelowMinimum.selector);
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, route, signature, _noPermit());
        order.amountOutMin = sent * 98 / 100;
        assertEq(_submit(order, route), tax.balanceOf(recipient), "reported is what arrived");
        assertTrue(tax.balanceOf(recipient) < sent, "the tax counts against the minimum");
    }

    function test_anExecutorIsNotBuiltOnAMistake() public {
        Protocol[] memory protocols = new Protocol[](1);
        protocols[0] = Protocol({kind: 5, factory: v2Factory, feePips: 0, initCodeHash: 0});
        VM.expectPartialRevert(SwapdExecutor.BadProtocol.selector);
        Committed.executor(address(weth), protocols);
        protocols[0] = Protocol({kind: 3, factory: v2Factory, feePips: 1, initCodeHash: 0});
        VM.expectPartialRevert(SwapdExecutor.BadProtocol.selector);
        Committed.executor(address(weth), protocols);
        protocols[0] = Protocol({kind: 3, factory: v2Factory, feePips: 0, initCodeHash: PAIR_HASH});
        VM.expectPartialRevert(SwapdExecutor.BadProtocol.selector);
        Committed.executor(address(weth), protocols);
        protocols[0] = Protocol({kind: 1, factory: address(0x1234), feePips: 3000, initCodeHash: 0});
        VM.expectPartialRevert(SwapdExecutor.BadProtocol.selector);
        Committed.executor(address(weth), protocols);
        VM.expectRevert(abi.encodeWithSelector(SwapdSettlement.WrongExecutor.selector, address(executor)));
        Committed.settlement(address(usdc), address(executor));
    }
}
