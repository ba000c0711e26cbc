// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// Remembers what this contract held of each token before a swap, so that a swap can spend and sweep only what it
/// brought. Tokens that somebody sent here stay out of every swap: they can neither break one nor pay for one.
library BalanceLedger {
    struct Ledger {
        address[] tokens;
        uint256[] baselines;
        uint256 count;
    }

    error NotFunded(address token, uint256 balance, uint256 amount);

    function create(uint256 capacity) internal pure returns (Ledger memory ledger) {
        ledger.tokens = new address[](capacity);
        ledger.baselines = new uint256[](capacity);
    }

    /// Notes a token on its first appearance; `funded` of its balance belongs to the swap, the rest does not.
    function track(Ledger memory ledger, address token, uint256 funded) internal view {
        for (uint256 i = 0; i < ledger.count; ++i) {
            if (ledger.tokens[i] == token) return;
        }
        uint256 balance = IERC20(token).balanceOf(address(this));
        if (balance < funded) revert NotFunded(token, balance, funded);
        ledger.tokens[ledger.count] = token;
        ledger.baselines[ledger.count] = balance - funded;
        ++ledger.count;
    }

    /// What the swap holds of the token at this index now. A balance that shrank below its baseline counts as zero.
    function heldAt(Ledger memory ledger, uint256 index) internal view returns (uint256) {
        uint256 balance = IERC20(ledger.tokens[index]).balanceOf(address(this));
        uint256 baseline = ledger.baselines[index];
        return balance > baseline ? balance - baseline : 0;
    }

    /// What the swap holds of a tracked token now; zero for a token that is not tracked.
    function held(Ledger memory ledger, address token) internal view returns (uint256) {
        for (uint256 i = 0; i < ledger.count; ++i) {
            if (ledger.tokens[i] == token) return heldAt(ledger, i);
        }
        return 0;
    }
}
