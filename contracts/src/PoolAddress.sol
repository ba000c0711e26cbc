// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Create2} from "@openzeppelin/contracts/utils/Create2.sol";

/// Where a factory of Uniswap's creates the pool of two tokens, and nothing else: address and creation code of a pool
/// follow from each other (EIP-1014). Whether it was created is not said.
library PoolAddress {
    function ofPair(address factory, bytes32 initCodeHash, address tokenA, address tokenB)
        internal
        pure
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return Create2.computeAddress(keccak256(abi.encodePacked(token0, token1)), initCodeHash, factory);
    }

    function ofV3(address factory, bytes32 initCodeHash, address tokenA, address tokenB, uint24 fee)
        internal
        pure
        returns (address pool)
    {
        (address token0, address token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
        return Create2.computeAddress(keccak256(abi.encode(token0, token1, fee)), initCodeHash, factory);
    }
}
