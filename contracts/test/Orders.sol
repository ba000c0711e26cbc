// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Leg, Permit, Swap} from "../src/SwapTypes.sol";
import {VM} from "./Vm.sol";
import {World} from "./World.sol";

/// Orders, routes and signatures for the tests. Digests are built here from the typed data as documented, word by
/// word, and not with the contract's own library.
abstract contract Orders is World {
    using SafeERC20 for IERC20;

    uint256 internal constant OWNER_KEY = 0xA11CE;
    uint64 internal constant ALL = 1e18;
    string internal constant PLAIN_TYPE =
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn,uint256 nonce)";
    string internal constant AFFILIATE_TYPE =
        "Swap(address router,address sender,address recipient,address fromAsset,address toAsset,uint256 deadline,uint256 amountOutMin,uint256 swapFee,uint256 amountIn,uint256 nonce,address affiliate,uint256 affiliateFee)";

    address internal owner = VM.addr(OWNER_KEY);
    address internal relayer = address(0x4E1A7E4);
    address internal recipient = address(0x4EC191E47);
    address internal affiliate = address(0xAFF111A7E);

    function _order(address fromAsset, address toAsset, uint256 amountIn) internal view returns (Swap memory) {
        return Swap({
            recipient: recipient,
            fromAsset: fromAsset,
            toAsset: toAsset,
            deadline: block.timestamp + 300,
            amountOutMin: 1,
            swapFee: 0,
            amountIn: amountIn,
            nonce: 0,
            affiliate: address(0),
            affiliateFee: 0
        });
    }

    function _route(uint8 protocol, address pool, address tokenIn, address tokenOut)
        internal
        pure
        returns (Leg[] memory route)
    {
        route = new Leg[](1);
        route[0] = _leg(protocol, pool, tokenIn, tokenOut, ALL);
    }

    function _leg(uint8 protocol, address pool, address tokenIn, address tokenOut, uint64 portion)
        internal
        pure
        returns (Leg memory)
    {
        uint24 fee = protocol == V3 ? 3000 : 0;
        return Leg({protocol: protocol, pool: pool, tokenIn: tokenIn, tokenOut: tokenOut, fee: fee, portion: portion});
    }

    function _gross(Swap memory order) internal pure returns (uint256) {
        return order.amountIn + order.swapFee + order.affiliateFee;
    }

    /// Gives the owner the gross amount and the settlement its allowance.
    function _prepare(Swap memory order) internal {
        _fund(order.fromAsset, owner, _gross(order));
        VM.startPrank(owner);
        IERC20(order.fromAsset).forceApprove(address(settlement), _gross(order));
        VM.stopPrank();
    }

    function _digest(Swap memory order, address router, address sender) internal view returns (bytes32) {
        bytes memory encoded = abi.encode(router, sender, order.recipient, order.fromAsset, order.toAsset);
        encoded = bytes.concat(
            encoded,
            abi.encode(order.deadline, order.amountOutMin, order.swapFee, order.amountIn, order.nonce)
        );
        bytes32 typeHash = keccak256(bytes(PLAIN_TYPE));
        if (order.affiliate != address(0)) {
            typeHash = keccak256(bytes(AFFILIATE_TYPE));
            encoded = bytes.concat(encoded, abi.encode(order.affiliate, order.affiliateFee));
        }
        bytes32 domain = keccak256(
            abi.encode(
                keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
                keccak256("swapd"),
                keccak256("1"),
                block.chainid,
                router
            )
        );
        return keccak256(abi.encodePacked(hex"1901", domain, keccak256(bytes.concat(typeHash, encoded))));
    }

    function _sign(Swap memory order) internal view returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(OWNER_KEY, _digest(order, address(settlement), relayer));
        return abi.encodePacked(r, s, v);
    }

    function _noPermit() internal pure returns (Permit memory permit) {}

    /// An EIP-2612 permit of the owner for the settlement over USDC.
    function _usdcPermit(uint256 value) internal view returns (Permit memory) {
        uint256 deadline = block.timestamp + 300;
        bytes32 structHash = keccak256(
            abi.encode(
                keccak256("Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)"),
                owner,
                address(settlement),
                value,
                usdc.nonces(owner),
                deadline
            )
        );
        bytes32 digest = keccak256(abi.encodePacked(hex"1901", usdc.DOMAIN_SEPARATOR(), structHash));
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(OWNER_KEY, digest);
        return Permit({value: value, deadline: deadline, v: v, r: r, s: s});
    }

    /// The relayer submits what the owner signed.
    function _submit(Swap memory order, Leg[] memory route) internal returns (uint256) {
        bytes memory signature = _sign(order);
        VM.prank(relayer);
        return settlement.swapWithSignature(owner, order, route, signature, _noPermit());
    }

    function _assertHoldsNothing(address token) internal view {
        assertEq(IERC20(token).balanceOf(address(settlement)), 0, "settlement holds no token");
        assertEq(IERC20(token).balanceOf(address(executor)), 0, "executor holds no token");
        assertEq(address(settlement).balance, 0, "settlement holds no native token");
        assertEq(address(executor).balance, 0, "executor holds no native token");
    }

    function _assertHoldsNothing() internal view {
        _assertHoldsNothing(address(weth));
        _assertHoldsNothing(address(usdc));
        _assertHoldsNothing(address(wbtc));
        _assertHoldsNothing(address(usdt));
    }
}
