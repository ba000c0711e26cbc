// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {PoolKey, SwapParams} from "../src/interfaces/IUniswapV4.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {Leg, NATIVE, Protocol, Swap} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {HookToken, TaxToken} from "./Fixtures.sol";
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

interface IUnlockCallback {
    function unlockCallback(bytes calldata data) external returns (bytes memory);
}

/// A manager gone bad: it calls back as often as it likes, or later, and says what is owed as it likes.
contract RogueManager {
    uint256 public callbacks;
    int256 public owed;
    bytes public forged;

    constructor(uint256 callbacks_, int256 owed_, bytes memory forged_) {
        (callbacks, owed, forged) = (callbacks_, owed_, forged_);
    }

    function unlock(bytes calldata data) external returns (bytes memory) {
        bytes memory said = data;
        if (forged.length != 0) said = forged;
        for (uint256 i = 0; i < callbacks; ++i) {
            IUnlockCallback(msg.sender).unlockCallback(said);
        }
        return "";
    }

    function later(IUnlockCallback payer, bytes calldata data) external {
        payer.unlockCallback(data);
    }

    function swap(PoolKey memory, SwapParams memory params, bytes calldata) external view returns (int256) {
        // Nothing is delivered.
        return params.zeroForOne ? -owed << 128 : int256(uint256(uint128(int128(-owed))));
    }

    function sync(address) external {}

    function settle() external payable returns (uint256) {}

    function take(address, address, uint256) external {}
}

/// Legs through the manager of Uniswap V4, in its own bytecode.
contract V4LegTest is Orders {
    uint8 private constant V4 = 2;
    uint256 private constant FUNDED = 10e6;
    uint256 private constant DONATED = 90e6;
    int24 private constant SPAN = 6_000;

    IV4Admin private manager;

    function setUp() public override {
        super.setUp();
        string memory json = VM.readFile("node_modules/@uniswap/v4-core/out/PoolManager.sol/PoolManager.json");
        bytes memory code = VM.parseBytes(VM.parseJsonString(json, ".bytecode.object"));
        manager = IV4Admin(_create(abi.encodePacked(code, abi.encode(address(this)))));
        Protocol[] memory protocols = new Protocol[](3);
        Protocol[] memory others = _protocols();
        (protocols[V2], protocols[V3]) = (others[V2], others[V3]);
        protocols[V4] = Protocol({kind: 4, factory: address(manager), feePips: 0, initCodeHash: 0});
        executor = Committed.executor(address(weth), protocols);
        settlement = Committed.settlement(address(weth), address(executor));
        _poolV4(address(usdc), address(usdt), 3000);
        _poolV4(address(usdc), address(usdt), 100);
    }

    function _key(address tokenA, address tokenB, uint24 fee) private pure returns (PoolKey memory) {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return PoolKey(token0, token1, fee, fee == 100 ? int24(1) : int24(fee / 50), address(0));
    }

    /// At one to one.
    function _poolV4(address tokenA, address tokenB, uint24 fee) private {
        PoolKey memory key = _key(tokenA, tokenB, fee);
        manager.initialize(key, 1 << 96);
        _fund(tokenA, address(this), 1e18);
        _fund(tokenB, address(this), 1e18);
        manager.unlock(abi.encode(key));
    }

    /// This test itself is asked, by its deposits and by {_quoteV4}.
    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        if (data.length == 32 * 5) {
            PoolKey memory key = abi.decode(data, (PoolKey));
            IV4Admin.ModifyLiquidityParams memory params = IV4Admin.ModifyLiquidityParams(-SPAN, SPAN, 1e13, 0);
            (int256 delta,) = manager.modifyLiquidity(key, params, "");
            _pay(key.currency0, uint256(-(delta >> 128)));
            _pay(key.currency1, uint256(-int256(int128(delta))));
            return "";
        }
        (PoolKey memory pool, SwapParams memory swap) = abi.decode(data, (PoolKey, SwapParams));
        int256 answer = manager.swap(pool, swap, "");
        assembly {
            mstore(0, answer)
            revert(0, 32)
        }
    }

    function _pay(address token, uint256 amount) private {
        manager.sync(token);
        (bool done,) = token.call(abi.encodeCall(IERC20.transfer, (address(manager), amount)));
        assertTrue(done, "paid");
        manager.settle();
    }

    /// What the manager itself says: it is asked for the swap, and all of it is undone.
    function _quoteV4(address tokenIn, address tokenOut, uint24 fee, uint256 amountIn)
        private
        returns (uint256 taken, uint256 bought)
    {
        bool zeroForOne = tokenIn < tokenOut;
        uint160 limit = zeroForOne ? 4295128740 : 1461446703485210103287273052203988822378723970341;
        SwapParams memory params = SwapParams(zeroForOne, -int256(amountIn), limit);
        try manager.unlock(abi.encode(_key(tokenIn, tokenOut, fee), params)) {
            revert NotTrue("an unpaid swap reverts");
        } catch (bytes memory reason) {
            int256 delta = abi.decode(reason, (int256));
            (int256 in_, int256 out) =
                zeroForOne ? (delta >> 128, int256(int128(delta))) : (int256(int128(delta)), delta >> 128);
            return (uint256(-in_), uint256(out));
        }
    }

    function _v4Route(address tokenIn, address tokenOut, uint24 fee) private view returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = Leg(V4, address(manager), tokenIn, tokenOut, fee, ALL);
    }

    function testFuzz_aV4LegPaysWhatTheManagerSays(uint256 amountIn, bool sellUsdt, bool dear) public {
        (address sold, address bought) = sellUsdt ? (address(usdt), address(usdc)) : (address(usdc), address(usdt));
        uint24 fee = dear ? 3000 : 100;
        Swap memory order = _order(sold, bought, bound(amountIn, 1_000, 1e14));
        _prepare(order);
        (uint256 taken, uint256 quoted) = _quoteV4(sold, bought, fee, order.amountIn);
        assertEq(_submit(order, _v4Route(sold, bought, fee)), quoted, "executed as quoted");
        assertEq(IERC20(bought).balanceOf(recipient), quoted, "delivered as quoted");
        assertEq(IERC20(sold).balanceOf(owner), order.amountIn - taken, "what the pool did not take went back");
        _assertHoldsNothing();
    }

    function test_aSplitOverAllVersionsIsOneSwap() public {
        Leg[] memory route = new Leg[](3);
        route[0] = Leg(V4, address(manager), address(usdt), address(usdc), 100, ALL / 2);
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
            abi.encodeWithSelector(SwapdExecutor.UnexpectedCallback.selector, address(manager), address(0))
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
        RogueManager rogue = new RogueManager(2, int256(FUNDED), "");
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        bytes4 code = SwapdExecutor.UnexpectedCallback.selector;
        VM.expectRevert(abi.encodeWithSelector(code, address(rogue), address(0)));
        other.execute(job, _rogueRoute(rogue));
    }

    function testFuzz_aManagerCannotOverdrawItsLeg(uint256 extra, bool forges) public {
        extra = bound(extra, 1, DONATED);
        bytes memory forged = forges ? abi.encode(address(weth), uint24(77)) : bytes("");
        RogueManager rogue = new RogueManager(1, int256(FUNDED + extra), forged);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.CallbackOverdrawn.selector, FUNDED + extra, FUNDED));
        other.execute(job, _rogueRoute(rogue));
    }

    function test_aManagerThatDidNotCollectInItsLegCannotCollectLater() public {
        RogueManager rogue = new RogueManager(0, int256(FUNDED), "");
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        (uint256 amountOut, uint256 unsold) = other.execute(job, _rogueRoute(rogue));
        assertEq(amountOut, 0, "nothing bought");
        assertEq(unsold, FUNDED, "nothing sold");
        bytes memory data = abi.encode(address(weth), uint24(3000));
        VM.expectRevert(
            abi.encodeWithSelector(SwapdExecutor.UnexpectedCallback.selector, address(rogue), address(0))
        );
        rogue.later(IUnlockCallback(address(other)), data);
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

    function test_aTokensHookGetsNowhereWhileTheManagerIsUnlocked() public {
        HookToken evil = new HookToken();
        _poolV4(address(evil), address(usdc), 3000);
        Swap memory order = _order(address(evil), address(usdc), 1e6);
        _prepare(order);
        bytes[] memory calls = new bytes[](2);
        calls[0] = abi.encodeCall(IUnlockCallback.unlockCallback, (abi.encode(address(usdc), uint24(3000))));
        calls[1] = abi.encodeCall(executor.uniswapV3SwapCallback, (int256(1e6), int256(1e6), ""));
        evil.hook(address(executor), calls);
        assertEq(_submit(order, _v4Route(address(evil), address(usdc), 3000)), usdc.balanceOf(recipient), "sold");
        assertTrue(evil.attempts() > 0, "the hook was called");
        assertEq(evil.successes(), 0, "and got nowhere");
        _assertHoldsNothing();
    }
}
