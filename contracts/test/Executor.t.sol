// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Execution} from "../src/interfaces/ISwapdExecutor.sol";
import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {Leg, Protocol} from "../src/SwapTypes.sol";
import {Committed} from "./Committed.sol";
import {HookToken, ICallback, RoguePool} from "./Fixtures.sol";
import {Orders} from "./Orders.sol";
import {VM} from "./Vm.sol";

/// The second line of defence: what holds even if a listed factory vouches for a pool gone bad, or a holder misbehaves.
contract ExecutorTest is Orders {
    uint256 private constant FUNDED = 10e6;
    uint256 private constant DONATED = 90e6;

    /// An executor whose only protocol is the rogue, reserved by this test and funded, with a donation beside.
    function _amongRogues(RoguePool rogue) private returns (SwapdExecutor other, Execution memory job) {
        Protocol[] memory protocols = new Protocol[](1);
        protocols[0] = Protocol({kind: 2, factory: address(rogue), feePips: 0});
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
        bytes4 code = SwapdExecutor.UnexpectedCallback.selector;
        VM.expectRevert(abi.encodeWithSelector(code, address(rogue), address(0)));
        other.execute(job, _rogueRoute(rogue));
    }

    function testFuzz_aPoolCannotOverdrawItsLeg(uint256 extra) public {
        extra = bound(extra, 1, DONATED);
        RoguePool rogue = new RoguePool(1, int256(extra));
        (SwapdExecutor other, Execution memory job) = _amongRogues(rogue);
        bytes4 code = SwapdExecutor.CallbackOverdrawn.selector;
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
            abi.encodeWithSelector(SwapdExecutor.UnexpectedCallback.selector, address(rogue), address(0))
        );
        rogue.collect(ICallback(address(other)), zeroForOne, int256(FUNDED));
        assertEq(usdc.balanceOf(address(other)), DONATED, "the donation stays");
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
