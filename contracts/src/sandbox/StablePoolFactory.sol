// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20Metadata} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Metadata.sol";
import {StablePool} from "./StablePool.sol";

/// Deploys stable pools and knows them by their coins, through the interface of Curve's factories. For sandboxes and
/// tests.
contract StablePoolFactory {
    mapping(address one => mapping(address other => address[])) private _pools;

    event PoolDeployed(address pool);

    error UnknownPool(address pool);

    function deploy(address coin0, address coin1, uint256 amplification, uint256 fee) external returns (address pool) {
        uint256[2] memory rates = [_rate(coin0), _rate(coin1)];
        pool = address(new StablePool([coin0, coin1], rates, amplification, fee));
        _pools[coin0][coin1].push(pool);
        _pools[coin1][coin0].push(pool);
        emit PoolDeployed(pool);
    }

    function find_pool_for_coins(address from, address to, uint256 place) external view returns (address) {
        return place < _pools[from][to].length ? _pools[from][to][place] : address(0);
    }

    function get_coin_indices(address pool, address from, address to) external view returns (int128, int128, bool) {
        (address coin0, address coin1) = (StablePool(pool).coins(0), StablePool(pool).coins(1));
        if (from == coin0 && to == coin1) return (0, 1, false);
        if (from == coin1 && to == coin0) return (1, 0, false);
        revert UnknownPool(pool);
    }

    function _rate(address coin) private view returns (uint256) {
        return 10 ** (36 - IERC20Metadata(coin).decimals());
    }
}
