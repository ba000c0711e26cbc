// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Protocol} from "./SwapTypes.sol";

/// What a contract trades on: written into its code when it is created, so that reading an entry costs no storage, and
/// nothing can change it.
abstract contract ProtocolList {
    uint256 public constant MAX_PROTOCOLS = 8;
    uint256 private constant FEE_PLACE = 160;
    uint256 private constant KIND_PLACE = 184;

    uint256 public immutable protocolCount;
    // Factory, fee and kind in one word; zero where the list has ended.
    uint256 private immutable _facts0;
    uint256 private immutable _facts1;
    uint256 private immutable _facts2;
    uint256 private immutable _facts3;
    uint256 private immutable _facts4;
    uint256 private immutable _facts5;
    uint256 private immutable _facts6;
    uint256 private immutable _facts7;
    bytes32 private immutable _hash0;
    bytes32 private immutable _hash1;
    bytes32 private immutable _hash2;
    bytes32 private immutable _hash3;
    bytes32 private immutable _hash4;
    bytes32 private immutable _hash5;
    bytes32 private immutable _hash6;
    bytes32 private immutable _hash7;

    error TooManyProtocols(uint256 count, uint256 maximum);

    constructor(Protocol[] memory list) {
        if (list.length > MAX_PROTOCOLS) revert TooManyProtocols(list.length, MAX_PROTOCOLS);
        protocolCount = list.length;
        (_facts0, _hash0) = _packed(list, 0);
        (_facts1, _hash1) = _packed(list, 1);
        (_facts2, _hash2) = _packed(list, 2);
        (_facts3, _hash3) = _packed(list, 3);
        (_facts4, _hash4) = _packed(list, 4);
        (_facts5, _hash5) = _packed(list, 5);
        (_facts6, _hash6) = _packed(list, 6);
        (_facts7, _hash7) = _packed(list, 7);
    }

    /// An entry of the list; all zero beyond its end.
    function protocols(uint256 index) external view returns (uint8 kind, address factory, uint24 feePips) {
        (kind, factory, feePips,) = _protocolAt(index);
    }

    /// By what code a factory of the list creates its pools: see {Protocol}.
    function initCodeHashes(uint256 index) external view returns (bytes32 initCodeHash) {
        (,,, initCodeHash) = _protocolAt(index);
    }

    function _protocolAt(uint256 index)
        internal
        view
        returns (uint8 kind, address factory, uint24 feePips, bytes32 initCodeHash)
    {
        uint256 facts;
        (facts, initCodeHash) = _entryAt(index);
        (kind, feePips, factory) =
            (uint8(facts >> KIND_PLACE), uint24(facts >> FEE_PLACE), address(uint160(facts)));
    }

    function _entryAt(uint256 index) private view returns (uint256 facts, bytes32 initCodeHash) {
        if (index == 0) return (_facts0, _hash0);
        if (index == 1) return (_facts1, _hash1);
        if (index == 2) return (_facts2, _hash2);
        if (index == 3) return (_facts3, _hash3);
        if (index == 4) return (_facts4, _hash4);
        if (index == 5) return (_facts5, _hash5);
        if (index == 6) return (_facts6, _hash6);
        if (index == 7) return (_facts7, _hash7);
    }

    function _packed(Protocol[] memory list, uint256 index) private pure returns (uint256 facts, bytes32 hash) {
        if (index >= list.length) return (0, 0);
        Protocol memory p = list[index];
        facts = uint256(p.kind) << KIND_PLACE | uint256(p.feePips) << FEE_PLACE | uint160(p.factory);
        return (facts, p.initCodeHash);
    }
}
