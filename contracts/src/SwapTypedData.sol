// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Swap} from "./SwapTypes.sol";

/// EIP-712 struct hashes of a swap. The affiliate's fields belong to the type only when there is an affiliate,
/// so a wallet shows an owner no empty fields.
library SwapTypedData {
    bytes32 internal constant SWAP_TYPEHASH = keccak256(
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn,uint256 nonce)"
    );
    bytes32 internal constant SWAP_WITH_AFFILIATE_TYPEHASH = keccak256(
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn,uint256 nonce,address affiliate,uint256 affiliateFee)"
    );

    /// `router` is the settlement, `sender` the only account that may submit the order.
    function structHash(Swap calldata order, address router, address sender) internal pure returns (bytes32) {
        bool hasAffiliate = order.affiliate != address(0);
        bytes memory encoded = abi.encode(
            hasAffiliate ? SWAP_WITH_AFFILIATE_TYPEHASH : SWAP_TYPEHASH,
            router,
            sender,
            order.recipient,
            order.fromAsset,
            order.toAsset,
            order.deadline,
            order.amountOutMin,
            order.swapFee,
            order.amountIn,
            order.nonce
        );
        if (hasAffiliate) encoded = bytes.concat(encoded, abi.encode(order.affiliate, order.affiliateFee));
        return keccak256(encoded);
    }
}
