// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {MintableToken} from "./MintableToken.sol";

/// ERC-20 with EIP-2612 permits; its signing domain is (name, "1").
contract PermitToken is MintableToken, ERC20Permit {
    constructor(string memory name_, string memory symbol_, uint8 decimals_)
        MintableToken(name_, symbol_, decimals_)
        ERC20Permit(name_)
    {}

    function decimals() public view override(ERC20, MintableToken) returns (uint8) {
        return MintableToken.decimals();
    }
}
