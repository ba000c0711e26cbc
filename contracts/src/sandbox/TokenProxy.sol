// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Passes every call on to an implementation whose address lies where ERC-1967 puts it; nobody can change it. For tests.
contract TokenProxy {
    /// keccak256("eip1967.proxy.implementation") - 1
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;

    constructor(address implementation) {
        assembly {
            sstore(SLOT, implementation)
        }
    }

    fallback() external {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) { revert(0, returndatasize()) }
            return(0, returndatasize())
        }
    }
}
