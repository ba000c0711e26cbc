// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";

/// A token that, as those of issuers do, asks before each transfer whether it is paused and whether anybody who takes
/// part is blocked. Made to run behind a {TokenProxy}: what it is called needs no storage. For tests.
contract GuardedToken is ERC20, ERC20Permit {
    bool public paused;
    mapping(address account => bool) public isBlocked;

    error Paused();
    error Blocked(address account);

    constructor() ERC20("", "") ERC20Permit("Guarded") {}

    function name() public pure override returns (string memory) {
        return "Guarded";
    }

    function symbol() public pure override returns (string memory) {
        return "GRD";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    /// By anybody, as much as he likes.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 amount) internal override {
        if (paused) revert Paused();
        _checkAllowed(msg.sender);
        _checkAllowed(from);
        _checkAllowed(to);
        super._update(from, to, amount);
    }

    function _checkAllowed(address account) private view {
        if (isBlocked[account]) revert Blocked(account);
    }
}
