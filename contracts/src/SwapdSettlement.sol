// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/IERC20Permit.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {Execution, ISwapdExecutor} from "./interfaces/ISwapdExecutor.sol";
import {IWrappedNative} from "./interfaces/IWrappedNative.sol";
import {Leg, NATIVE, Permit, Swap} from "./SwapTypes.sol";
import {SwapTypedData} from "./SwapTypedData.sol";

/// Holds the owners' approvals and does nothing with them but move tokens of an order's owner, who is the caller or
/// the signer, to the executor and to the receivers of the order's fees. The trading itself is the executor's.
///
/// There is no owner, no proxy and no pause, and nothing to rescue: the contract holds no tokens, and a newer version
/// is a new address that owners approve anew. The signed minimum is what protects an owner; any route may serve it.
/// Signatures are those of externally owned accounts.
contract SwapdSettlement is EIP712, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// The most an affiliate may take, in basis points of the gross amount.
    uint256 public constant MAX_AFFILIATE_FEE_BPS = 300;
    uint256 private constant BPS = 10_000;

    address public immutable wrappedNative;
    address public immutable executor;

    // Unordered nonces, 256 to a word, so that open orders of one owner do not block each other.
    mapping(address owner => mapping(uint256 word => uint256 bits)) private _usedNonces;

    /// A fill. `amountIn` is what was sold: the order's less what of it the route left over, which the executor sent back
    /// to the owner. With both fees, which are the order's, it is what the swap cost the owner.
    event Swapped(
        address indexed owner,
        uint256 indexed nonce,
        address indexed sender,
        address recipient,
        address fromAsset,
        address toAsset,
        uint256 amountIn,
        uint256 amountOut,
        uint256 swapFee,
        address affiliate,
        uint256 affiliateFee
    );
    event NonceCancelled(address indexed owner, uint256 indexed nonce);

    error WrongExecutor(address executor);
    error DeadlinePassed(uint256 deadline, uint256 timestamp);
    error AmountInZero();
    error AmountOutMinZero();
    error SameAsset(address fromAsset, address toAsset);
    error BadRecipient(address recipient);
    error BadAffiliate(address affiliate, uint256 affiliateFee);
    error AffiliateFeeTooHigh(uint256 affiliateFee, uint256 maximum);
    error SwapFeeNotZero(uint256 swapFee);
    error NonceNotZero(uint256 nonce);
    error WrongNativeValue(uint256 value, uint256 expected);
    error NativeNeedsOwnTransaction();
    error MalformedSignature();
    error WrongSigner(address signer, address owner);
    error NonceUsed(address owner, uint256 nonce);
    error AllowanceTooLow(uint256 allowance, uint256 needed);
    error OutputBelowMinimum(uint256 amountOut, uint256 amountOutMin);
    error NativeTransferFailed(address to, uint256 amount);

    constructor(address wrappedNative_, address executor_) EIP712("swapd", "1") {
        // Both must mean the same token by "wrapped native", or native orders would strand on the way.
        if (executor_.code.length == 0 || ISwapdExecutor(executor_).wrappedNative() != wrappedNative_) {
            revert WrongExecutor(executor_);
        }
        wrappedNative = wrappedNative_;
        executor = executor_;
    }

    /// Swaps for the caller, who pays the gas: no swap fee, and no nonce, since the transaction itself has one.
    /// A native fromAsset comes as msg.value, which must be the gross amount exactly.
    /// @return amountOut what the recipient received
    function swap(Swap calldata order, Leg[] calldata route)
        external
        payable
        nonReentrant
        returns (uint256 amountOut)
    {
        if (order.swapFee != 0) revert SwapFeeNotZero(order.swapFee);
        if (order.nonce != 0) revert NonceNotZero(order.nonce);
        uint256 gross = _checkedGross(order);
        uint256 value = order.fromAsset == NATIVE ? gross : 0;
        if (msg.value != value) revert WrongNativeValue(msg.value, value);
        return _settle(msg.sender, order, route, gross);
    }

    /// Swaps for an owner who signed the order for this caller. The caller chooses the route and earns the swap fee;
    /// a copied transaction is worthless to anybody else, because the signature binds msg.sender.
    /// @param permit used if it is there; may already have been used by anyone, and may fail: the allowance decides
    /// @return amountOut what the recipient received
    function swapWithSignature(
        address owner,
        Swap calldata order,
        Leg[] calldata route,
        bytes calldata signature,
        Permit calldata permit
    ) external nonReentrant returns (uint256 amountOut) {
        if (order.fromAsset == NATIVE) revert NativeNeedsOwnTransaction();
        uint256 gross = _checkedGross(order);
        _checkSignature(owner, order, signature);
        _useNonce(owner, order.nonce);
        if (permit.v != 0) _tryPermit(owner, order.fromAsset, permit);
        return _settle(owner, order, route, gross);
    }

    /// Makes signed orders with this nonce worthless. Reverts if the nonce is used, so success means: not filled.
    function cancelNonce(uint256 nonce) external nonReentrant {
        _useNonce(msg.sender, nonce);
        emit NonceCancelled(msg.sender, nonce);
    }

    /// Whether the nonce was filled or cancelled. A fill has a Swapped event, a cancellation a NonceCancelled event.
    function isNonceUsed(address owner, uint256 nonce) external view returns (bool) {
        return _usedNonces[owner][nonce >> 8] & (1 << (nonce & 0xff)) != 0;
    }

    // solhint-disable-next-line func-name-mixedcase
    function DOMAIN_SEPARATOR() external view returns (bytes32) {
        return _domainSeparatorV4();
    }

    function _checkedGross(Swap calldata order) private view returns (uint256 gross) {
        if (block.timestamp > order.deadline) revert DeadlinePassed(order.deadline, block.timestamp);
        if (order.amountIn == 0) revert AmountInZero();
        if (order.amountOutMin == 0) revert AmountOutMinZero();
        if (_tokenOf(order.fromAsset) == _tokenOf(order.toAsset)) revert SameAsset(order.fromAsset, order.toAsset);
        if (!_mayReceive(order.recipient, order)) revert BadRecipient(order.recipient);
        gross = order.amountIn + order.swapFee + order.affiliateFee;
        if (order.affiliate == address(0) && order.affiliateFee == 0) return gross;
        if (order.affiliateFee == 0 || !_mayReceive(order.affiliate, order)) {
            revert BadAffiliate(order.affiliate, order.affiliateFee);
        }
        uint256 maximum = gross * MAX_AFFILIATE_FEE_BPS / BPS;
        if (order.affiliateFee > maximum) revert AffiliateFeeTooHigh(order.affiliateFee, maximum);
    }

    /// Tokens sent to one of these would be lost, or would be taken for the executor's own.
    function _mayReceive(address account, Swap calldata order) private view returns (bool) {
        return account != address(0) && account != address(this) && account != executor && account != wrappedNative
            && account != order.fromAsset && account != order.toAsset;
    }

    function _checkSignature(address owner, Swap calldata order, bytes calldata signature) private view {
        bytes32 digest = _hashTypedDataV4(SwapTypedData.structHash(order, address(this), msg.sender));
        (address signer, ECDSA.RecoverError problem,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (problem != ECDSA.RecoverError.NoError) revert MalformedSignature();
        if (signer != owner) revert WrongSigner(signer, owner);
    }

    function _useNonce(address owner, uint256 nonce) private {
        uint256 bit = 1 << (nonce & 0xff);
        uint256 bits = _usedNonces[owner][nonce >> 8];
        if (bits & bit != 0) revert NonceUsed(owner, nonce);
        _usedNonces[owner][nonce >> 8] = bits | bit;
    }

    function _tryPermit(address owner, address token, Permit calldata permit) private {
        // A call to an address without code would revert outside the try.
        if (token.code.length == 0) return;
        try IERC20Permit(token).permit(
            owner, address(this), permit.value, permit.deadline, permit.v, permit.r, permit.s
        ) {} catch {
            // Anyone may have submitted the permit first. Neither failure nor success proves anything (some tokens
            // accept any call): the allowance is checked before the transfer.
        }
    }

    function _settle(address owner, Swap calldata order, Leg[] calldata route, uint256 gross)
        private
        returns (uint256 amountOut)
    {
        // From here on nobody else can use the executor, whatever hooks the tokens and receivers have.
        ISwapdExecutor(executor).reserve();
        uint256 received =
            order.fromAsset == NATIVE ? _collectNative(order) : _collectTokens(owner, order, gross);
        uint256 unsold;
        (amountOut, unsold) = ISwapdExecutor(executor).execute(
            Execution({
                owner: owner,
                recipient: order.recipient,
                fromAsset: order.fromAsset,
                toAsset: order.toAsset,
                amountIn: received
            }),
            route
        );
        if (amountOut < order.amountOutMin) revert OutputBelowMinimum(amountOut, order.amountOutMin);
        // Where more came back than was taken, nothing was sold.
        _emitSwapped(owner, order, unsold < order.amountIn ? order.amountIn - unsold : 0, amountOut);
    }

    function _emitSwapped(address owner, Swap calldata order, uint256 sold, uint256 amountOut) private {
        emit Swapped(
            owner,
            order.nonce,
            msg.sender,
            order.recipient,
            order.fromAsset,
            order.toAsset,
            sold,
            amountOut,
            order.swapFee,
            order.affiliate,
            order.affiliateFee
        );
    }

    /// Fees first, the executor last.
    /// @return received what arrived at the executor: less than amountIn for a token that taxes transfers
    function _collectTokens(address owner, Swap calldata order, uint256 gross) private returns (uint256 received) {
        IERC20 token = IERC20(order.fromAsset);
        uint256 allowance = token.allowance(owner, address(this));
        if (allowance < gross) revert AllowanceTooLow(allowance, gross);
        if (order.swapFee != 0) token.safeTransferFrom(owner, msg.sender, order.swapFee);
        if (order.affiliateFee != 0) token.safeTransferFrom(owner, order.affiliate, order.affiliateFee);
        uint256 before = token.balanceOf(executor);
        token.safeTransferFrom(owner, executor, order.amountIn);
        return token.balanceOf(executor) - before;
    }

    function _collectNative(Swap calldata order) private returns (uint256 received) {
        if (order.affiliateFee != 0) {
            (bool sent,) = order.affiliate.call{value: order.affiliateFee}("");
            if (!sent) revert NativeTransferFailed(order.affiliate, order.affiliateFee);
        }
        IWrappedNative(wrappedNative).deposit{value: order.amountIn}();
        IERC20(wrappedNative).safeTransfer(executor, order.amountIn);
        return order.amountIn;
    }

    function _tokenOf(address asset) private view returns (address) {
        return asset == NATIVE ? wrappedNative : asset;
    }
}
