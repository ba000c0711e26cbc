// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Asserts, VM} from "../Vm.sol";
import {Siege} from "./Siege.sol";

/// A siege by random sequences of everybody's actions, with every promise of the siege held against it. The campaigns
/// differ in their mix of actions, and in their salt, so that equal seeds of the fuzzer play other games.
abstract contract Campaign {
    struct FuzzSelector {
        address addr;
        bytes4[] selectors;
    }

    Siege internal siege;
    bytes4[] internal actions;

    constructor(uint256 salt) {
        siege = _deploy(salt);
    }

    function targetContracts() external view returns (address[] memory targets) {
        targets = new address[](1);
        targets[0] = address(siege);
    }

    function targetSelectors() external view returns (FuzzSelector[] memory targets) {
        targets = new FuzzSelector[](1);
        targets[0] = FuzzSelector(address(siege), actions);
    }
}

/// Orders are copied, replayed, changed, forged, submitted late and taken elsewhere.
contract ForgersTest is Campaign(1) {
    constructor() {
        actions = [
            siege.sign.selector,
            siege.relay.selector,
            siege.copyPending.selector,
            siege.replay.selector,
            siege.tamper.selector,
            siege.forge.selector,
            siege.submitLate.selector,
            siege.submitElsewhere.selector,
            siege.cancel.selector,
            siege.pass.selector
        ];
    }

    function invariant_everyPromiseHoldsAmongForgers() external view {
        siege.checkAll();
    }
}

/// Relayers that choose the worst routes, hostile tokens, pools and receivers, thieves at the door.
contract HostileCodeTest is Campaign(2) {
    constructor() {
        actions = [
            siege.relay.selector,
            siege.ownSwap.selector,
            siege.donate.selector,
            siege.armHook.selector,
            siege.armHook.selector,
            siege.turn.selector,
            siege.turn.selector,
            siege.raid.selector,
            siege.replay.selector,
            siege.pass.selector
        ];
    }

    function invariant_everyPromiseHoldsAmongHostileCode() external view {
        siege.checkAll();
    }
}

/// Everybody at once, in a market that moves.
contract TrafficTest is Campaign(3) {
    constructor() {
        actions = _everyAction(siege);
    }

    function invariant_everyPromiseHoldsInTraffic() external view {
        siege.checkAll();
    }
}

/// From its artifact: a contract that is compiled into four others is optimised four times.
function _deploy(uint256 salt) returns (Siege) {
    return Siege(payable(VM.deployCode("Siege.sol:Siege", abi.encode(salt))));
}

function _everyAction(Siege siege) pure returns (bytes4[] memory actions) {
    actions = new bytes4[](16);
    actions[0] = siege.sign.selector;
    actions[1] = siege.relay.selector;
    actions[2] = siege.copyPending.selector;
    actions[3] = siege.replay.selector;
    actions[4] = siege.tamper.selector;
    actions[5] = siege.forge.selector;
    actions[6] = siege.submitLate.selector;
    actions[7] = siege.submitElsewhere.selector;
    actions[8] = siege.cancel.selector;
    actions[9] = siege.ownSwap.selector;
    actions[10] = siege.sandwich.selector;
    actions[11] = siege.pass.selector;
    actions[12] = siege.donate.selector;
    actions[13] = siege.armHook.selector;
    actions[14] = siege.turn.selector;
    actions[15] = siege.raid.selector;
}

/// A siege that never gets anywhere would keep every promise too.
contract ReachTest is Asserts {
    function test_theSiegeReachesEverythingThatItIsAbout() external {
        Siege siege = _deploy(0);
        bytes4[] memory actions = _everyAction(siege);
        for (uint256 i = 0; i < 1_200; ++i) {
            (bool done,) = address(siege).call(abi.encodeWithSelector(actions[i % actions.length], i));
            assertTrue(done, "an action never fails");
        }
        string[16] memory things = [
            "fill",
            "own swap",
            "refusal",
            "debt paid",
            "unsold",
            "cancel",
            "copy",
            "replay",
            "replay after cancel",
            "tamper",
            "forgery",
            "late",
            "elsewhere",
            "sandwich",
            "donation",
            "raid"
        ];
        for (uint256 i = 0; i < things.length; ++i) assertTrue(siege.tally(things[i]) > 1, things[i]);
        assertTrue(siege.tally("fill") > 40, "many fills");
        siege.checkHostilityHappened();
        siege.checkAll();
    }
}
