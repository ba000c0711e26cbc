// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";
import {MintableToken} from "./MintableToken.sol";

/// ERC-20 with the permit that Dai had before EIP-2612: all or nothing (`allowed`), and an expiry of zero never
/// expires. It shares `nonces` and `DOMAIN_SEPARATOR` with EIP-2612, so those two views prove nothing.
contract DaiPermitToken is MintableToken {
    string public constant version = "1";
    bytes32 public constant PERMIT_TYPEHASH =
        keccak256("Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)");
    bytes32 private constant DOMAIN_TYPEHASH =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");

    mapping(address holder => uint256) public nonces;

    error PermitExpired(uint256 expiry, uint256 timestamp);
    error WrongNonce(uint256 nonce, uint256 expected);
    error WrongSigner(address signer, address holder);

    constructor(string memory name_, string memory symbol_, uint8 decimals_)
        MintableToken(name_, symbol_, decimals_)
    {}

    function permit(
        address holder,
        address spender,
        uint256 nonce,
        uint256 expiry,
        bool allowed,
        uint8 v,
        bytes32 r,
        bytes32 s
    ) external {
        if (expiry != 0 && block.timestamp > expiry) revert PermitExpired(expiry, block.timestamp);
        if (nonce != nonces[holder]) revert WrongNonce(nonce, nonces[holder]);
        bytes32 structHash = keccak256(abi.encode(PERMIT_TYPEHASH, holder, spender, nonce, expiry, allowed));
        address signer = ECDSA.recover(MessageHashUtils.toTypedDataHash(DOMAIN_SEPARATOR(), structHash), v, r, s);
        if (signer != holder) revert WrongSigner(signer, holder);
        nonces[holder] = nonce + 1;
        _approve(holder, spender, allowed ? type(uint256).max : 0);
    }

    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() public view returns (bytes32) {
        return keccak256(
            abi.encode(
                DOMAIN_TYPEHASH, keccak256(bytes(name())), keccak256(bytes(version)), block.chainid, address(this)
            )
        );
    }
}
