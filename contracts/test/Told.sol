// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {SwapdSettlement} from "../src/SwapdSettlement.sol";
import {RecordedLog, VM} from "./Vm.sol";

/// The amounts that a fill's event tells.
struct Told {
    uint256 amountIn;
    uint256 amountOut;
    uint256 swapFee;
    uint256 affiliateFee;
}

error FillsTold(uint256 count);

/// Of the one fill of this settlement since `VM.recordLogs`, or since it was asked last.
function told(address settlement) returns (Told memory amounts) {
    RecordedLog[] memory logs = VM.getRecordedLogs();
    uint256 count;
    for (uint256 i = 0; i < logs.length; ++i) {
        if (logs[i].emitter != settlement || logs[i].topics[0] != SwapdSettlement.Swapped.selector) continue;
        (,,, amounts.amountIn, amounts.amountOut, amounts.swapFee,, amounts.affiliateFee) =
            abi.decode(logs[i].data, (address, address, address, uint256, uint256, uint256, address, uint256));
        ++count;
    }
    if (count != 1) revert FillsTold(count);
}
