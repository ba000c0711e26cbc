// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ICallback} from "../Fixtures.sol";

/// A token that answers `false` where others revert, and for as long as it likes moves nothing at all.
contract FalseToken is ERC20("False", "FALSE") {
    bool public refusing;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function refuse(bool refusing_) external {
        refusing = refusing_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (refusing || balanceOf(msg.sender) < amount) return false;
        return super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        bool covered = balanceOf(from) >= amount && allowance(from, msg.sender) >= amount;
        if (refusing || !covered) return false;
        return super.transferFrom(from, to, amount);
    }
}

/// A token whose permit reports success and gives no allowance.
contract LyingPermitToken is ERC20("Liar", "LIAR") {
    uint256 public permits;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external {
        ++permits;
    }
}

/// A factory gone bad, of every kind, with one pool for every pair: itself. It keeps what it is paid, delivers nothing
/// and collects as it is told: zero, one or two times, what it is owed or more.
contract RogueFactory {
    uint256 public callbacks;
    uint256 public excess;
    address[] private _coins;

    function know(address[] calldata coins) external {
        _coins = coins;
    }

    function behave(uint256 callbacks_, uint256 excess_) external {
        (callbacks, excess) = (callbacks_, excess_);
    }

    function getPair(address, address) external view returns (address) {
        return address(this);
    }

    function getPool(address, address, uint24) external view returns (address) {
        return address(this);
    }

    function find_pool_for_coins(address, address, uint256) external view returns (address) {
        return address(this);
    }

    function get_coin_indices(address, address from, address) external view returns (int128, int128, bool) {
        uint256 i = 0;
        while (_coins[i] != from) ++i;
        return (int128(int256(i)), 0, false);
    }

    function exchange(int128 i, int128, uint256 amount, uint256) external {
        for (uint256 n = 0; n < callbacks; ++n) {
            IERC20(_coins[uint128(i)]).transferFrom(msg.sender, address(this), amount + excess);
        }
    }

    function getReserves() external pure returns (uint112, uint112, uint32) {
        return (1e24, 1e24, 0);
    }

    function swap(uint256, uint256, address, bytes calldata) external {}

    function swap(address, bool zeroForOne, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        int256 wanted = amount + int256(excess);
        for (uint256 i = 0; i < callbacks; ++i) {
            (int256 amount0, int256 amount1) = zeroForOne ? (wanted, -wanted) : (-wanted, wanted);
            ICallback(msg.sender).uniswapV3SwapCallback(amount0, amount1, "");
        }
        return (0, 0);
    }
}
