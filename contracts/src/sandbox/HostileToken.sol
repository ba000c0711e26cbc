// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {PermitToken} from "./PermitToken.sol";

/// A token whose owner works against whoever sends its transfers: it can be frozen, it lets one sender of transactions
/// pay for storage that nobody needs, and it can use up all gas of his transactions and of none that is only tried out.
contract HostileToken is PermitToken {
    bool private _frozen;
    address private _payer;
    address private _burnt;
    uint256 private _words;
    uint256 private _written;
    mapping(uint256 place => uint256) private _waste;

    error Frozen();

    constructor(string memory name_, string memory symbol_, uint8 decimals_) PermitToken(name_, symbol_, decimals_) {}

    function freeze(bool frozen) external {
        if (msg.sender != minter) revert NotMinter(msg.sender);
        _frozen = frozen;
    }

    /// From now on each transfer in a transaction of `payer` writes so many fresh words.
    function wasteGasOf(address payer, uint256 words) external {
        if (msg.sender != minter) revert NotMinter(msg.sender);
        (_payer, _words) = (payer, words);
    }

    /// From now on a transfer uses up all gas of a transaction of `payer`. Who only tries it out names no price of gas.
    function burnGasOf(address payer) external {
        if (msg.sender != minter) revert NotMinter(msg.sender);
        _burnt = payer;
    }

    function _update(address from, address to, uint256 value) internal override(ERC20) {
        if (_frozen) revert Frozen();
        if (_payer != address(0) && tx.origin == _payer) {
            for (uint256 word = 0; word < _words; ++word) _waste[++_written] = 1;
        }
        if (_burnt != address(0) && tx.origin == _burnt && tx.gasprice != 0) {
            assembly {
                invalid()
            }
        }
        super._update(from, to, value);
    }
}
