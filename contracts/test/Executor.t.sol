// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {UniswapV4Legs} from "../src/UniswapV4Legs.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {ProtocolList} from "../src/ProtocolList.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {Leg, Protocol} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {HookToken, ICallback, OthersMoneyPool, RoguePool, SlowDebt} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

/// The second line of defence: what holds even if a listed factory vouches for a pool gone bad, or a holder misbehaves.
contract ExecutorTest is Orders {
    uint256 private constant FUNDED = 10e6;
    uint256 private constant DONATED = 90e6;

    /// An executor whose only protocol is the rogue, reserved by this test and funded, with a donation beside.
    function _amongRogues(RoguePool rogue) private returns (SwapdExecutor other, Execution memory job) {
        Protocol[] memory protocols = new Protocol[](1);
        protocols[0] = Protocol({kind: 2, factory: address(rogue), feePips: 0, initCodeHash: 0});
        other = Committed.executor(address(weth), protocols);
        _fund(address(usdc), address(other), FUNDED + DONATED);
        other.reserve();
        job = Execution(owner, recipient, address(usdc), address(weth), FUNDED);
    }

    function _rogueRoute(RoguePool rogue) private view returns (Leg[] memory route) {
        route = new Leg[](1);
        route[0] = Leg(0, address(rogue), address(usdc), address(weth), 3000, ALL);
    }

    function test_aPoolThatCallsBackTwiceIsPaidOnce() public {
        RoguePool rogue = new RoguePool(2, 0);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        bytes4 code = UniswapV4Legs.UnexpectedCallback.selector;
        VM.expectRevert(abi.encodeWithSelector(code, address(rogue), address(0)));
        other.execute(job, _rogueRoute(rogue));
    }

    function testFuzz_aPoolCannotOverdrawItsLeg(uint256 extra) public {
        extra = bound(extra, 1, DONATED);
        RoguePool rogue = new RoguePool(1, int256(extra));
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        bytes4 code = UniswapV4Legs.CallbackOverdrawn.selector;
        VM.expectRevert(abi.encodeWithSelector(code, FUNDED + extra, FUNDED));
        other.execute(job, _rogueRoute(rogue));
    }

    function test_aPoolThatDidNotCollectInItsLegCannotCollectLater() public {
        RoguePool rogue = new RoguePool(0, 0);
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        (uint256 amountOut, uint256 unsold) = other.execute(job, _rogueRoute(rogue));
        assertEq(amountOut, 0, "nothing bought");
        assertEq(unsold, FUNDED, "nothing sold");
        assertEq(usdc.balanceOf(owner), FUNDED, "the unsold input went back");
        bool zeroForOne = address(usdc) < address(weth);
        VM.expectRevert(
            abi.encodeWithSelector(UniswapV4Legs.UnexpectedCallback.selector, address(rogue), address(0))
        );
        rogue.collect(ICallback(address(other)), zeroForOne, int256(FUNDED));
        assertEq(usdc.balanceOf(address(other)), DONATED, "the donation stays");
    }

    /// A pool of unknown code pays this contract alone: what reaches the recipient meanwhile is no output.
    function test_aPoolOfUnknownCodeCannotPassOffOthersMoney() public {
        SlowDebt debt = new SlowDebt();
        _fund(address(weth), address(debt), 1 ether);
        bytes memory payment = abi.encodeCall(debt.pay, (IERC20(address(weth)), recipient, 1 ether));
        OthersMoneyPool pool = new OthersMoneyPool(address(debt), payment);
        Protocol[] memory protocols = new Protocol[](1);
        // The hash is right for honest pairs, and this is none.
        protocols[0] = Protocol({kind: 1, factory: address(pool), feePips: 3000, initCodeHash: PAIR_HASH});
        SwapdExecutor other = Committed.executor(address(weth), protocols);
        _fund(address(usdc), address(other), FUNDED);
        other.reserve();
        Execution memory job = Execution(owner, recipient, address(usdc), address(weth), FUNDED);
        Leg[] memory route = new Leg[](1);
        route[0] = Leg(0, address(pool), address(usdc), address(weth), 0, ALL);
        (uint256 amountOut,) = other.execute(job, route);
        assertEq(weth.balanceOf(recipient), 1 ether, "the debtor paid");
        assertEq(amountOut, 0, "and that is no output");
    }

    /// By another hash than the factory's own no pool is found where it is computed: then the factory has the word.
    function test_aWrongHashCostsGasAndNothingElse() public {
        Protocol[] memory protocols = _protocols();
        protocols[V2].initCodeHash = POOL_HASH;
        protocols[V3].initCodeHash = 0;
        SwapdExecutor other = Committed.executor(address(weth), protocols);
        for (uint8 kind = V2; kind <= V3; ++kind) {
            _fund(address(usdc), address(other), FUNDED);
            other.reserve();
            Execution memory job = Execution(owner, recipient, address(usdc), address(weth), FUNDED);
            address pool = kind == V2 ? wethUsdcV2 : wethUsdcV3;
            uint256 before = weth.balanceOf(recipient);
            (uint256 amountOut,) = other.execute(job, _route(kind, pool, address(usdc), address(weth)));
            assertTrue(amountOut > 0, "sold");
            assertEq(weth.balanceOf(recipient) - before, amountOut, "and delivered");
        }
    }

    function test_aPoolThatWasNeverCreatedIsNotTraded() public {
        bytes32 salt = keccak256(abi.encodePacked(address(usdc), address(wbtc)));
        if (address(usdc) > address(wbtc)) salt = keccak256(abi.encodePacked(address(wbtc), address(usdc)));
        bytes32 place = keccak256(abi.encodePacked(hex"ff", v2Factory, salt, PAIR_HASH));
        _fund(address(usdc), address(executor), FUNDED);
        executor.reserve();
        Execution memory job = Execution(owner, recipient, address(usdc), address(wbtc), FUNDED);
        Leg[] memory route = _route(V2, address(uint160(uint256(place))), address(usdc), address(wbtc));
        (bool done,) = address(executor).call(abi.encodeCall(executor.execute, (job, route)));
        assertTrue(!done, "refused");
        assertEq(usdc.balanceOf(address(executor)), FUNDED, "nothing moved");
    }

    /// What a service compares with what it knows of the network.
    function test_theListSaysWhatItWasCreatedWith() public view {
        assertEq(executor.protocolCount(), 2, "the number");
        (uint8 kind, address factory, uint24 feePips) = executor.protocols(V2);
        assertTrue(kind == 1 && factory == v2Factory && feePips == 3000, "the first entry");
        assertTrue(executor.initCodeHashes(V2) == PAIR_HASH, "its hash");
        (kind, factory, feePips) = executor.protocols(V3);
        assertTrue(kind == 2 && factory == v3Factory && feePips == 0, "the second entry");
        assertTrue(executor.initCodeHashes(V3) == POOL_HASH, "its hash");
        (kind, factory, feePips) = executor.protocols(2);
        assertTrue(kind == 0 && factory == address(0) && executor.initCodeHashes(2) == 0, "nothing beyond its end");
    }

    function testFuzz_aListHasEightEntriesAtMost(uint256 count) public {
        count = bound(count, 1, 20);
        Protocol[] memory protocols = new Protocol[](count);
        for (uint256 i = 0; i < count; ++i) {
            uint24 fee = uint24(i);
            protocols[i] = Protocol({kind: 1, factory: v2Factory, feePips: fee, initCodeHash: bytes32(i + 1)});
        }
        if (count > 8) {
            VM.expectRevert(abi.encodeWithSelector(ProtocolList.TooManyProtocols.selector, count, 8));
            Committed.executor(address(weth), protocols);
            return;
        }
        SwapdExecutor other = Committed.executor(address(weth), protocols);
        for (uint256 i = 0; i < count; ++i) {
            (, address factory, uint24 feePips) = other.protocols(i);
            assertTrue(factory == v2Factory && feePips == i, "each entry is its own");
            assertTrue(other.initCodeHashes(i) == bytes32(i + 1), "with its own hash");
        }
    }

    /// What the hostile token calls below.
    function enterAgain(bool reserving) external {
        if (reserving) executor.reserve();
        else executor.execute(Execution(relayer, relayer, address(usdc), address(weth), 0), new Leg[](0));
    }

    function test_theHolderItselfCannotEnterAgainWhileItsExecutionRuns() public {
        HookToken evil = new HookToken();
        evil.mint(address(executor), 1 ether);
        executor.reserve();
        bytes[] memory calls = new bytes[](2);
        (calls[0], calls[1]) = (abi.encodeCall(this.enterAgain, (true)), abi.encodeCall(this.enterAgain, (false)));
        evil.hook(address(this), calls);
        executor.execute(Execution(owner, recipient, address(evil), address(weth), 1 ether), new Leg[](0));
        assertTrue(evil.attempts() > 0, "the hook was called");
        assertEq(evil.successes(), 0, "and got nowhere");
    }
}
