// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SwapdExecutor} from "../src/SwapdExecutor.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {Protocol} from "../src/SwapTypes.sol";
import {VM} from "./Vm.sol";

/// Deploys the bytecode that is committed, which is what people trust with money: however the tests themselves are
/// compiled, they try that code and measure its gas.
library Committed {
    function executor(address weth, Protocol[] memory protocols) internal returns (SwapdExecutor) {
        return SwapdExecutor(payable(deploy("SwapdExecutor", abi.encode(weth, protocols))));
    }

    function settlement(address weth, address executor_) internal returns (SwapdSettlement) {
        return SwapdSettlement(payable(deploy("SwapdSettlement", abi.encode(weth, executor_))));
    }

    function deploy(string memory name, bytes memory arguments) internal returns (address created) {
        string memory json = VM.readFile(string.concat("contracts/artifacts/", name, ".json"));
        bytes memory code = abi.encodePacked(VM.parseBytes(VM.parseJsonString(json, ".bytecode")), arguments);
        assembly {
            created := create(0, add(code, 0x20), mload(code))
            if iszero(created) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }
}
