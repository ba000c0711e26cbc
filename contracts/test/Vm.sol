// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// What forge says of the last call.
struct CallGas {
    uint64 gasLimit;
    uint64 gasTotalUsed;
    uint64 gasMemoryUsed;
    int64 gasRefunded;
    uint64 gasRemaining;
}

/// A log as forge remembers it.
struct RecordedLog {
    bytes32[] topics;
    bytes data;
    address emitter;
}

/// The cheat codes of forge that these tests use.
interface Vm {
    function addr(uint256 privateKey) external pure returns (address);
    function assume(bool condition) external pure;
    function chainId(uint256 id) external;
    function deal(address account, uint256 balance) external;
    function deployCode(string calldata artifact, bytes calldata arguments) external returns (address deployed);
    function expectEmit(address emitter) external;
    function expectPartialRevert(bytes4 selector) external;
    function expectRevert(bytes calldata reason) external;
    function expectRevert(bytes4 selector) external;
    function getRecordedLogs() external returns (RecordedLog[] memory logs);
    function lastCallGas() external view returns (CallGas memory gas);
    function parseBytes(string calldata text) external pure returns (bytes memory);
    function parseJsonString(string calldata json, string calldata key) external pure returns (string memory);
    function prank(address sender) external;
    function readFile(string calldata path) external view returns (string memory);
    function recordLogs() external;
    function revertToState(uint256 snapshot) external returns (bool done);
    function sign(uint256 privateKey, bytes32 digest) external pure returns (uint8 v, bytes32 r, bytes32 s);
    function snapshotState() external returns (uint256 snapshot);
    function startPrank(address sender) external;
    function stopPrank() external;
    function warp(uint256 timestamp) external;
}

// Where forge answers cheat codes.
Vm constant VM = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

abstract contract Asserts {
    error NotEqual(string what, uint256 actual, uint256 expected);
    error NotTrue(string what);

    function assertEq(uint256 actual, uint256 expected, string memory what) internal pure {
        if (actual != expected) revert NotEqual(what, actual, expected);
    }

    function assertTrue(bool condition, string memory what) internal pure {
        if (!condition) revert NotTrue(what);
    }

    function bound(uint256 value, uint256 lowest, uint256 highest) internal pure returns (uint256) {
        uint256 size = highest - lowest + 1;
        return size == 0 ? value : lowest + value % size;
    }
}
