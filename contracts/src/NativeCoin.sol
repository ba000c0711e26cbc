// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IWrappedNative} from "./interfaces/IWrappedNative.sol";

/// Holds native coins for moments only, between their wrapped form and somebody who gets or gives them.
abstract contract NativeCoin {
    address internal immutable _wrappedNative;

    // Who is asked for native coins at this moment, besides the wrapped token.
    address private transient _nativeSender;

    error NotAContract(address account);
    error UnexpectedNativeTransfer(address sender);
    error NativeTransferFailed(address to, uint256 amount);

    constructor(address wrappedNative_) {
        if (wrappedNative_.code.length == 0) revert NotAContract(wrappedNative_);
        _wrappedNative = wrappedNative_;
    }

    receive() external payable {
        if (msg.sender != _wrappedNative && msg.sender != _nativeSender) revert UnexpectedNativeTransfer(msg.sender);
    }

    function _expectNativeFrom(address sender) internal {
        _nativeSender = sender;
    }

    function _sendNative(address to, uint256 amount) internal {
        IWrappedNative(_wrappedNative).withdraw(amount);
        (bool sent,) = to.call{value: amount}("");
        if (!sent) revert NativeTransferFailed(to, amount);
    }
}
