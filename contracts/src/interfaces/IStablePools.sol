// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A factory of Curve-style stable pools, by the names that those deployed use.
interface IStablePoolFactory {
    /// The pool at a place in the list of those that trade the two coins; the zero address beyond its end.
    function find_pool_for_coins(address from, address to, uint256 place) external view returns (address pool);

    /// The places of two coins in the pool's list. `underlying` tells that they are coins of a pool below it.
    function get_coin_indices(address pool, address from, address to)
        external
        view
        returns (int128 i, int128 j, bool underlying);
}

interface IStablePool {
    /// Draws `dx` of coin `i` from the caller's allowance and pays coin `j` to the caller. Older pools return nothing.
    function exchange(int128 i, int128 j, uint256 dx, uint256 minDy) external;
}
