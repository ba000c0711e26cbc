// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {PoolKey, SwapParams} from "../src/interfaces/IUniswapV4.sol";
import {NativeCoin} from "../src/NativeCoin.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {Leg, NATIVE, Protocol, Swap} from "../src/SwapTypes.sol";
import {UniswapV4Legs} from "../src/UniswapV4Legs.sol";
import {Committed} from "./Committed.sol";
import {HookToken, TaxToken} from "./Fixtures.sol";
import {IV4Admin, V4Pools} from "./V4Pools.sol";
import {VM} from "./Vm.sol";

interface IUnlockCallback {
    function unlockCallback(bytes calldata data) external returns (bytes memory);
}

/// A manager gone bad: it calls back as often as it likes, or later, says what is owed and paid as it likes, and sends
/// native coins as it likes.
contract RogueManager {
    uint256 public callbacks;
    int256 public owed;
    int256 public promised;
    uint256 public sent;

    constructor(uint256 callbacks_, int256 owed_) payable {
        (callbacks, owed) = (callbacks_, owed_);
    }

    function lie(int256 promised_, uint256 sent_) external {
        (promised, sent) = (promised_, sent_);
    }

    function unlock(bytes calldata) external returns (bytes memory) {
        for (uint256 i = 0; i < callbacks; ++i) {
            IUnlockCallback(msg.sender).unlockCallback("forged");
        }
        return "";
    }

    function later(IUnlockCallback payer) external {
        payer.unlockCallback("");
    }

    function send(address to, uint256 amount) external returns (bool done) {
        (done,) = to.call{value: amount}("");
    }

    function swap(PoolKey memory, SwapParams memory params, bytes calldata) external view returns (int256) {
        (int256 delta0, int256 delta1) = params.zeroForOne ? (-owed, promised) : (promised, -owed);
        return delta0 << 128 | int256(uint256(uint128(int128(delta1))));
    }

    function sync(address) external {}

    function settle() external payable returns (uint256) {}

    function take(address currency, address to, uint256) external {
        if (currency != NATIVE) return;
        (bool done,) = to.call{value: sent}("");
        require(done, "taken");
    }
}

/// Legs through the manager of Uniswap V4, in its own bytecode.
contract V4LegTest is V4Pools {
    uint8 private constant V4 = 2;
    uint256 private constant FUNDED = 10e6;
    uint256 private constant DONATED = 90e6;
    int24 private constant SPAN = 6_000;

    function setUp() public override {
        super.setUp();
        _createManager();
        Protocol[] memory protocols = new Protocol[](3);
        Protocol[] memory others = _protocols();
        (protocols[V2], protocols[V3], protocols[V4]) = (others[V2], others[V3], _managerProtocol());
        executor = Committed.executor(address(weth), protocols);
        settlement = Committed.settlement(address(weth), address(executor));
        _evenPool(address(usdc), address(usdt), 3000);
        _evenPool(address(usdc), address(usdt), 100);
        _evenPool(NATIVE, address(usdc), 3000);
        _evenPool(address(weth), address(usdc), 3000);
    }

    /// At one to one.
    function _evenPool(address tokenA, address tokenB, uint24 fee) private {
        _poolV4(_key(tokenA, tokenB, fee), 1 << 96, -SPAN, SPAN, 1e13);
    }

    function _v4Route(address tokenIn, address tokenOut, uint24 fee) private view returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = _legV4(V4, tokenIn, tokenOut, fee, ALL);
    }

    /// Two of three amounts run the dear pool dry. The other holds more than it is offered: to walk the rest of its ticks,
    /// which lie sixty times as close, would take seconds.
    function testFuzz_aV4LegPaysWhatTheManagerSays(uint256 amountIn, bool sellUsdt, bool dear) public {
        (address sold, address bought) = sellUsdt ? (address(usdt), address(usdc)) : (address(usdc), address(usdt));
        uint24 fee = dear ? 3000 : 100;
        Swap memory order = _order(sold, bought, bound(amountIn, 1_000, dear ? 1e13 : 3.4e12));
        _prepare(order);
        (uint256 taken, uint256 quoted) = _quoteV4(_key(sold, bought, fee), sold, order.amountIn);
        assertEq(_submit(order, _v4Route(sold, bought, fee)), quoted, "executed as quoted");
        assertEq(IERC20(bought).balanceOf(recipient), quoted, "delivered as quoted");
        assertEq(IERC20(sold).balanceOf(owner), order.amountIn - taken, "what the pool did not take went back");
        _assertHoldsNothing();
    }

    /// The wrapped token or the native coin, into and out of a pool of the native coin.
    function testFuzz_aPoolOfTheNativeCoinPaysWhatTheManagerSays(uint256 amountIn, bool sells, bool wrapped) public {
        amountIn = bound(amountIn, 1_000, 1e14);
        address coin = wrapped ? address(weth) : NATIVE;
        (address sold, address bought) = sells ? (coin, address(usdc)) : (address(usdc), coin);
        Swap memory order = _order(sold, bought, amountIn);
        (uint256 taken, uint256 quoted) =
            _quoteV4(_key(NATIVE, address(usdc), 3000), sells ? NATIVE : address(usdc), amountIn);
        (address tokenIn, address tokenOut) =
            sells ? (address(weth), address(usdc)) : (address(usdc), address(weth));
        Leg[] memory route = _v4Route(tokenIn, tokenOut, 3000 | NATIVE_POOL);
        uint256 before = _has(bought, recipient);
        if (sold == NATIVE) {
            VM.deal(owner, amountIn);
            VM.prank(owner);
            assertEq(settlement.swap{value: amountIn}(order, route), quoted, "executed as quoted");
        } else {
            _prepare(order);
            assertEq(_submit(order, route), quoted, "executed as quoted");
        }
        assertEq(_has(bought, recipient) - before, quoted, "delivered as quoted");
        assertEq(_has(sold, owner), amountIn - taken, "what the pool did not take went back");
        _assertHoldsNothing();
        assertEq(address(executor).balance + address(settlement).balance, 0, "no native coins stay");
    }

    function _has(address asset, address account) private view returns (uint256) {
        return asset == NATIVE ? account.balance : IERC20(asset).balanceOf(account);
    }

    /// The flag means nothing between two tokens, and without it a pool of the wrapped token is another one.
    function test_poolsOfTheNativeCoinAndOfTheWrappedTokenAreTwo() public {
        Swap memory order = _order(address(usdc), address(weth), 1e9);
        (, uint256 native) = _quoteV4(_key(NATIVE, address(usdc), 3000), address(usdc), 1e9);
        _prepare(order);
        assertEq(_submit(order, _v4Route(address(usdc), address(weth), 3000 | NATIVE_POOL)), native, "the first");
        (, uint256 moved) = _quoteV4(_key(NATIVE, address(usdc), 3000), address(usdc), 1e9);
        assertTrue(moved < native, "the pool of the native coin was traded with");
        (order.amountIn, order.nonce) = (2e9, 1);
        (, uint256 wrapped) = _quoteV4(_key(address(weth), address(usdc), 3000), address(usdc), 2e9);
        _prepare(order);
        assertEq(_submit(order, _v4Route(address(usdc), address(weth), 3000)), wrapped, "the second");
        (, uint256 still) = _quoteV4(_key(NATIVE, address(usdc), 3000), address(usdc), 1e9);
        assertEq(still, moved, "and not the pool of the native coin");
        order = _order(address(usdt), address(usdc), 1e9);
        order.nonce = 2;
        (, uint256 plain) = _quoteV4(_key(address(usdt), address(usdc), 100), address(usdt), 1e9);
        _prepare(order);
        assertEq(_submit(order, _v4Route(address(usdt), address(usdc), 100 | NATIVE_POOL)), plain, "no coin in it");
        _assertHoldsNothing();
    }

    /// What somebody has asked the manager to remember before the swap is not taken for its payment.
    function test_aForeignSyncBeforeDoesNotMatter() public {
        Swap memory order = _order(NATIVE, address(usdc), 1e9);
        VM.deal(owner, 1e9);
        manager.sync(address(usdt));
        Leg[] memory route = _v4Route(address(weth), address(usdc), 3000 | NATIVE_POOL);
        VM.prank(owner);
        assertTrue(settlement.swap{value: 1e9}(order, route) > 0, "sold");
        _assertHoldsNothing();
    }

    /// Only what a manager sends counts as bought: neither what it says, nor what was forced upon the executor.
    function testFuzz_aManagerThatLiesAboutNativeCoinsPaysWhatItSends(uint256 sent, uint256 forced) public {
        (sent, forced) = (bound(sent, 0, 10 ether), bound(forced, 0, 10 ether));
        VM.deal(address(this), 10 ether);
        RogueManager rogue = new RogueManager{value: 10 ether}(1, int256(FUNDED));
        rogue.lie(5 ether, sent);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        VM.deal(address(other), forced);
        Leg[] memory route = _rogueRoute(rogue);
        route[0].fee = 3000 | NATIVE_POOL;
        (uint256 amountOut, uint256 unsold) = other.execute(job, route);
        assertEq(amountOut, sent, "what came");
        assertEq(weth.balanceOf(recipient), sent, "was delivered");
        assertEq(unsold, 0, "all was sold");
        assertEq(address(other).balance, forced, "what was forced upon it stays there");
        assertTrue(!rogue.send(address(other), 0), "and it takes no more from it");
    }

    function test_nobodySendsNativeCoinsToTheExecutor() public {
        VM.deal(address(manager), 1 ether);
        VM.prank(address(manager));
        (bool done, bytes memory reason) = address(executor).call{value: 1}("");
        assertTrue(!done, "refused");
        bytes memory wanted = abi.encodeWithSelector(NativeCoin.UnexpectedNativeTransfer.selector, address(manager));
        assertTrue(keccak256(reason) == keccak256(wanted), "by name");
    }

    function test_aSplitOverAllVersionsIsOneSwap() public {
        Leg[] memory route = new Leg[](3);
        route[0] = _legV4(V4, address(usdt), address(usdc), 100, ALL / 2);
        route[1] = _leg(V2, usdcUsdtV2, address(usdt), address(usdc), ALL);
        route[2] = _leg(V3, wethUsdcV3, address(usdc), address(weth), ALL);
        Swap memory order = _order(address(usdt), NATIVE, 10_000e6);
        _prepare(order);
        assertEq(_submit(order, route), recipient.balance, "delivered");
        _assertHoldsNothing();
    }

    function test_aPoolThatDoesNotExistOrAnotherContractIsRefused() public {
        Swap memory order = _order(address(usdc), address(usdt), 1_000e6);
        _prepare(order);
        Leg[] memory route = _v4Route(address(usdc), address(usdt), 500);
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        (bool done,) = address(settlement).call(
            abi.encodeCall(settlement.swapWithSignature, (owner, order, route, signature, _noPermit()))
        );
        assertTrue(!done, "no such pool");
        route = _v4Route(address(usdc), address(usdt), 100);
        route[0].pool = wethUsdcV3;
        VM.expectRevert(
            abi.encodeWithSelector(SwapdExecutor.UnknownPool.selector, 0, wethUsdcV3, address(manager))
        );
        VM.prank(relayer);
        settlement.swapWithSignature(owner, order, route, signature, _noPermit());
        assertEq(usdc.balanceOf(owner), order.amountIn, "nothing was sold");
    }

    function testFuzz_aDirectCallbackIsRefused(bytes calldata data) public {
        _fund(address(usdc), address(executor), 5e6);
        VM.expectRevert(
            abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, address(manager), address(0))
        );
        VM.prank(address(manager));
        IUnlockCallback(address(executor)).unlockCallback(data);
    }

    function _amongRogues(RogueManager rogue) private returns (SwapdExecutor other, Execution memory job) {
        Protocol[] memory protocols = new Protocol[](1);
        protocols[0] = Protocol({kind: 4, factory: address(rogue), feePips: 0, initCodeHash: 0});
        other = Committed.executor(address(weth), protocols);
        _fund(address(usdc), address(other), FUNDED + DONATED);
        other.reserve();
        job = Execution(owner, recipient, address(usdc), address(weth), FUNDED);
    }

    function _rogueRoute(RogueManager rogue) private view returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = Leg(0, address(rogue), address(usdc), address(weth), 3000, ALL);
    }

    function test_aManagerThatCallsBackTwiceIsPaidOnce() public {
        RogueManager rogue = new RogueManager(2, int256(FUNDED));
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        bytes4 code = UniswapV4Legs.UnexpectedCallback.selector;
        VM.expectRevert(abi.encodeWithSelector(code, address(rogue), address(0)));
        other.execute(job, _rogueRoute(rogue));
    }

    function testFuzz_aManagerCannotOverdrawItsLeg(uint256 extra) public {
        extra = bound(extra, 1, DONATED);
        RogueManager rogue = new RogueManager(1, int256(FUNDED + extra));
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        VM.expectRevert(abi.encodeWithSelector(UniswapV4Legs.CallbackOverdrawn.selector, FUNDED + extra, FUNDED));
        other.execute(job, _rogueRoute(rogue));
    }

    function test_aManagerThatDidNotCollectInItsLegCannotCollectLater() public {
        RogueManager rogue = new RogueManager(0, int256(FUNDED));
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        (uint256 amountOut, uint256 unsold) = other.execute(job, _rogueRoute(rogue));
        assertEq(amountOut, 0, "nothing bought");
        assertEq(unsold, FUNDED, "nothing sold");
        VM.expectRevert(
            abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, address(rogue), address(0))
        );
        rogue.later(IUnlockCallback(address(other)));
        assertEq(usdc.balanceOf(address(other)), DONATED, "the donation stays");
    }

    function test_aTokenThatTaxesIsNotSoldThere() public {
        TaxToken tax = new TaxToken();
        tax.mint(address(this), 1e18);
        Swap memory order = _order(address(tax), address(usdc), 1e6);
        tax.mint(owner, 1e7);
        VM.prank(owner);
        tax.approve(address(settlement), 1e7);
        manager.initialize(_key(address(tax), address(usdc), 3000), 1 << 96);
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        (bool done,) = address(settlement).call(
            abi.encodeCall(
                settlement.swapWithSignature,
                (owner, order, _v4Route(address(tax), address(usdc), 3000), signature, _noPermit())
            )
        );
        assertTrue(!done, "refused");
    }

    /// While the manager is unlocked it hears everybody: a hook that claims the payment, or has another one remembered,
    /// leaves a debt, and nothing happens at all.
    function test_aHookThatMeddlesWithThePaymentUndoesTheSwap() public {
        HookToken evil = new HookToken();
        _evenPool(address(evil), address(usdc), 3000);
        Swap memory order = _order(address(evil), address(usdc), 1e6);
        _prepare(order);
        bytes[2] memory meddling =
            [abi.encodeCall(IV4Admin.sync, (address(weth))), abi.encodeCall(IV4Admin.settle, ())];
        for (uint256 i = 0; i < meddling.length; ++i) {
            bytes[] memory calls = new bytes[](1);
            calls[0] = meddling[i];
            evil.hook(address(manager), calls);
            Leg[] memory route = _v4Route(address(evil), address(usdc), 3000);
            bytes memory signature = _sign(order);
            VM.prank(relayer);
            (bool done,) = address(settlement).call(
                abi.encodeCall(settlement.swapWithSignature, (owner, order, route, signature, _noPermit()))
            );
            assertTrue(!done, "undone");
            assertEq(evil.balanceOf(owner), order.amountIn, "nothing was sold");
        }
    }

    function test_aTokensHookGetsNowhereWhileTheManagerIsUnlocked() public {
        HookToken evil = new HookToken();
        _evenPool(address(evil), address(usdc), 3000);
        Swap memory order = _order(address(evil), address(usdc), 1e6);
        _prepare(order);
        bytes[] memory calls = new bytes[](2);
        calls[0] = abi.encodeCall(IUnlockCallback.unlockCallback, (bytes("")));
        calls[1] = abi.encodeCall(executor.uniswapV3SwapCallback, (int256(1e6), int256(1e6), ""));
        evil.hook(address(executor), calls);
        assertEq(_submit(order, _v4Route(address(evil), address(usdc), 3000)), usdc.balanceOf(recipient), "sold");
        assertTrue(evil.attempts() > 0, "the hook was called");
        assertEq(evil.successes(), 0, "and got nowhere");
        _assertHoldsNothing();
    }
}
