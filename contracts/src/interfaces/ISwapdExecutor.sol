// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Leg} from "../SwapTypes.sol";

/// One funded swap: what the executor was given, and for whom it trades.
struct Execution {
    address owner; // receives what is left over of everything but toAsset
    address recipient; // receives toAsset
    address fromAsset; // zero address = native, held by the executor as wrapped native
    address toAsset; // zero address = native, unwrapped on delivery
    uint256 amountIn; // what the executor really received, in the smallest unit of fromAsset
}

interface ISwapdExecutor {
    function wrappedNative() external view returns (address);

    function reserve() external;

    function execute(Execution calldata job, Leg[] calldata route)
        external
        returns (uint256 amountOut, uint256 unsold);
}
