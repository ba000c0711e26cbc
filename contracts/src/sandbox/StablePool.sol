// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";

/// A pool of two coins along the StableSwap invariant, with the interface and the roundings of the plain pools that
/// Curve's factories deploy. Written for sandboxes and tests, where no bytecode of those may be shipped.
contract StablePool {
    using SafeERC20 for IERC20;

    uint256 private constant ONE = 1e18;
    uint256 private constant FEE_ONE = 1e10;
    uint256 private constant A_ONE = 100;
    uint256 private constant ROUNDS = 255;
    /// The part of each fee, in units of 1e10, that leaves the reserves of those who provide them.
    uint256 public constant admin_fee = 5e9;

    address[2] public coins;
    uint256[2] public balances;
    /// In units of 1e10.
    uint256 public immutable fee;
    uint256 public immutable A_precise;
    uint256 private immutable _rate0;
    uint256 private immutable _rate1;

    error NoConvergence();
    error BadCoin(int128 i, int128 j);
    error OutputTooLow(uint256 amount, uint256 minimum);

    /// @param rates_ what makes the smallest unit of each coin comparable: 10^(36 - decimals)
    constructor(address[2] memory coins_, uint256[2] memory rates_, uint256 amplification, uint256 fee_) {
        coins = coins_;
        (_rate0, _rate1) = (rates_[0], rates_[1]);
        A_precise = amplification * A_ONE;
        fee = fee_;
    }

    /// Takes coins for nothing in return: whoever fills a sandbox's pool leaves it there.
    function add(uint256 amount0, uint256 amount1) external {
        IERC20(coins[0]).safeTransferFrom(msg.sender, address(this), amount0);
        IERC20(coins[1]).safeTransferFrom(msg.sender, address(this), amount1);
        balances[0] += amount0;
        balances[1] += amount1;
    }

    function get_dy(int128 i, int128 j, uint256 dx) external view returns (uint256 dy) {
        (dy,) = _output(i, j, dx);
    }

    function exchange(int128 i, int128 j, uint256 dx, uint256 minDy) external returns (uint256 dy) {
        uint256 adminPart;
        (dy, adminPart) = _output(i, j, dx);
        if (dy < minDy) revert OutputTooLow(dy, minDy);
        balances[_index(i)] += dx;
        balances[_index(j)] -= dy + adminPart;
        IERC20(coins[_index(i)]).safeTransferFrom(msg.sender, address(this), dx);
        IERC20(coins[_index(j)]).safeTransfer(msg.sender, dy);
    }

    function _index(int128 coin) private pure returns (uint256) {
        return coin == 0 ? 0 : 1;
    }

    function _output(int128 i, int128 j, uint256 dx) private view returns (uint256 dy, uint256 adminPart) {
        if (i == j || i < 0 || j < 0 || i > 1 || j > 1) revert BadCoin(i, j);
        (uint256 rateIn, uint256 rateOut) = i == 0 ? (_rate0, _rate1) : (_rate1, _rate0);
        uint256 reserveIn = rateIn * balances[_index(i)] / ONE;
        uint256 reserveOut = rateOut * balances[_index(j)] / ONE;
        uint256 left = _reserveAfter(reserveIn + dx * rateIn / ONE, _invariant(reserveIn, reserveOut));
        // One less, in case rounding went against the pool.
        uint256 gross = reserveOut - left - 1;
        uint256 charged = gross * fee / FEE_ONE;
        dy = (gross - charged) * ONE / rateOut;
        adminPart = charged * admin_fee / FEE_ONE * ONE / rateOut;
    }

    /// D of A * n^n * sum(x) + D = A * D * n^n + D^(n+1) / (n^n * prod(x)) for n = 2, by Newton's iteration.
    function _invariant(uint256 x, uint256 y) private view returns (uint256 d) {
        uint256 sum = x + y;
        if (sum == 0) return 0;
        uint256 ann = A_precise * 2;
        d = sum;
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 product = d * d / (x * 2) * d / (y * 2);
            uint256 before = d;
            d = (ann * sum / A_ONE + product * 2) * d / ((ann - A_ONE) * d / A_ONE + 3 * product);
            if (_isClose(d, before)) return d;
        }
        revert NoConvergence();
    }

    /// The other reserve when one is x, on the same invariant.
    function _reserveAfter(uint256 x, uint256 d) private view returns (uint256 y) {
        uint256 ann = A_precise * 2;
        uint256 c = d * d / (x * 2) * d * A_ONE / (ann * 2);
        uint256 b = x + d * A_ONE / ann;
        y = d;
        for (uint256 round = 0; round < ROUNDS; ++round) {
            uint256 before = y;
            y = (y * y + c) / (2 * y + b - d);
            if (_isClose(y, before)) return y;
        }
        revert NoConvergence();
    }

    function _isClose(uint256 a, uint256 b) private pure returns (bool) {
        return a > b ? a - b <= 1 : b - a <= 1;
    }
}
