// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {StablePool} from "../src/sandbox/StablePool.sol";
import {StablePoolFactory} from "../src/sandbox/StablePoolFactory.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Leg, Protocol, Swap} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

/// A stable pool gone bad, vouched for by its factory, which it is itself: it draws what it likes and pays nothing.
contract RogueStablePool {
    uint256 public immutable drawn;
    bool public immutable underlying;
    IERC20 private _coin;

    constructor(uint256 drawn_, bool underlying_) {
        (drawn, underlying) = (drawn_, underlying_);
    }

    function find_pool_for_coins(address, address, uint256) external view returns (address) {
        return address(this);
    }

    function get_coin_indices(address, address, address) external view returns (int128, int128, bool) {
        return (0, 1, underlying);
    }

    function exchange(int128, int128, uint256, uint256) external {
        draw(_coin, msg.sender, drawn);
    }

    function trade(IERC20 coin) external {
        _coin = coin;
    }

    function draw(IERC20 coin, address from, uint256 amount) public {
        coin.transferFrom(from, address(this), amount);
    }
}

/// Legs through stable pools: authenticated like the others, and the only ones that need an allowance.
contract StableLegTest is Orders {
    uint8 private constant STABLE = 2;
    uint256 private constant FUNDED = 10e6;
    uint256 private constant DONATED = 90e6;

    StablePoolFactory private _factory;
    address private _first;
    address private _second;

    function setUp() public override {
        super.setUp();
        _factory = StablePoolFactory(Committed.deploy("StablePoolFactory", ""));
        _first = _filled(200, 4e6);
        _second = _filled(50, 1e6);
        Protocol[] memory protocols = new Protocol[](3);
        protocols[V2] = Protocol({kind: 1, factory: v2Factory, feePips: 3000, initCodeHash: 0});
        protocols[V3] = Protocol({kind: 2, factory: v3Factory, feePips: 0, initCodeHash: 0});
        protocols[STABLE] = Protocol({kind: 3, factory: address(_factory), feePips: 0, initCodeHash: 0});
        executor = Committed.executor(address(weth), protocols);
        settlement = Committed.settlement(address(weth), address(executor));
    }

    function _filled(uint256 amplification, uint256 fee) private returns (address pool) {
        pool = _factory.deploy(address(usdc), address(usdt), amplification, fee);
        _fund(address(usdc), address(this), 5_000_000e6);
        _fund(address(usdt), address(this), 4_000_000e6);
        usdc.approve(pool, 5_000_000e6);
        usdt.approve(pool, 4_000_000e6);
        StablePool(pool).add(5_000_000e6, 4_000_000e6);
    }

    function _stableRoute(address pool, uint24 place) private view returns (Leg[] memory route) {
        route = _route(STABLE, pool, address(usdc), address(usdt));
        route[0].fee = place;
    }

    function testFuzz_aStableLegBringsWhatItsPoolSays(uint256 amount, bool second) public {
        amount = bound(amount, 1e4, 1_000_000e6);
        Swap memory order = _order(address(usdc), address(usdt), amount);
        _prepare(order);
        address pool = second ? _second : _first;
        uint256 quoted = StablePool(pool).get_dy(0, 1, amount);
        order.amountOutMin = quoted;
        VM.prank(owner);
        uint256 amountOut = settlement.swap(order, _stableRoute(pool, second ? 1 : 0));
        assertEq(amountOut, quoted, "output");
        assertEq(usdt.balanceOf(recipient), quoted, "received");
        assertEq(usdc.allowance(address(executor), pool), 0, "no allowance is left");
        _assertHoldsNothing();
    }

    function test_aTokenThatNeedsItsAllowanceResetCanBeSoldTwice() public {
        for (uint256 i = 0; i < 2; ++i) {
            Swap memory order = _order(address(usdt), address(usdc), FUNDED);
            _prepare(order);
            VM.prank(owner);
            settlement.swap(order, _route(STABLE, _first, address(usdt), address(usdc)));
        }
        assertEq(usdt.allowance(address(executor), _first), 0, "no allowance is left");
    }

    function test_aStablePoolThatTheFactoryDoesNotListThereIsRefused() public {
        Swap memory order = _order(address(usdc), address(usdt), FUNDED);
        _prepare(order);
        RogueStablePool fake = new RogueStablePool(FUNDED, false);
        _expectUnknown(order, _stableRoute(address(fake), 0), _first);
        _expectUnknown(order, _stableRoute(_first, 1), _second);
        _expectUnknown(order, _stableRoute(_first, 2), address(0));
    }

    function _expectUnknown(Swap memory order, Leg[] memory route, address expected) private {
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.UnknownPool.selector, 0, route[0].pool, expected));
        VM.prank(owner);
        settlement.swap(order, route);
    }

    /// An executor whose only protocol is the rogue, reserved by this test and funded, with a donation beside.
    function _amongRogues(RogueStablePool rogue) private returns (SwapdExecutor other, Execution memory job) {
        rogue.trade(usdc);
        Protocol[] memory protocols = new Protocol[](1);
        protocols[0] = Protocol({kind: 3, factory: address(rogue), feePips: 0, initCodeHash: 0});
        other = Committed.executor(address(weth), protocols);
        _fund(address(usdc), address(other), FUNDED + DONATED);
        other.reserve();
        job = Execution(owner, recipient, address(usdc), address(weth), FUNDED);
    }

    function _rogueRoute(RogueStablePool rogue) private view returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = Leg(0, address(rogue), address(usdc), address(weth), 0, ALL);
    }

    function testFuzz_aStablePoolCannotDrawMoreThanItsLeg(uint256 extra) public {
        RogueStablePool rogue = new RogueStablePool(FUNDED + bound(extra, 1, DONATED), false);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        VM.expectPartialRevert(bytes4(keccak256("ERC20InsufficientAllowance(address,uint256,uint256)")));
        other.execute(job, _rogueRoute(rogue));
    }

    function testFuzz_aStablePoolThatDrewLessCannotDrawLater(uint256 drawn) public {
        drawn = bound(drawn, 0, FUNDED - 1);
        RogueStablePool rogue = new RogueStablePool(drawn, false);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        (uint256 amountOut, uint256 unsold) = other.execute(job, _rogueRoute(rogue));
        assertEq(amountOut, 0, "nothing bought");
        assertEq(unsold, FUNDED - drawn, "the unsold input");
        assertEq(usdc.balanceOf(owner), FUNDED - drawn, "the unsold input went back");
        VM.expectPartialRevert(bytes4(keccak256("ERC20InsufficientAllowance(address,uint256,uint256)")));
        rogue.draw(usdc, address(other), 1);
        assertEq(usdc.balanceOf(address(other)), DONATED, "the donation stays");
    }

    function test_coinsOfAPoolBelowAreRefused() public {
        RogueStablePool rogue = new RogueStablePool(FUNDED, true);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        VM.expectRevert(abi.encodeWithSelector(SwapdExecutor.UnknownPool.selector, 0, address(rogue), address(0)));
        other.execute(job, _rogueRoute(rogue));
    }
}
