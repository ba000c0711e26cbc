// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {BalanceLedger} from "./BalanceLedger.sol";
import {IStablePool, IStablePoolFactory} from "./interfaces/IStablePools.sol";
import {Execution, ISwapdExecutor} from "./interfaces/ISwapdExecutor.sol";
import {IUniswapV2Factory, IUniswapV2Pair, IUniswapV3Factory, IUniswapV3Pool} from "./interfaces/IUniswapPools.sol";
import {NativeCoin} from "./NativeCoin.sol";
import {PoolAddress} from "./PoolAddress.sol";
import {HIGHEST_PRICE_LIMIT, LOWEST_PRICE_LIMIT} from "./PriceLimits.sol";
import {ProtocolList} from "./ProtocolList.sol";
import {Leg, NATIVE, Protocol} from "./SwapTypes.sol";
import {UniswapV4Legs} from "./UniswapV4Legs.sol";

/// Performs routes over authenticated pools with tokens that it was sent a moment ago.
///
/// It has no owner and, between transactions, no approvals and nothing of anybody's. Hence anyone may call it: there is
/// nothing to take. Within a transaction the tokens of a swap are safe because the caller reserves the executor
/// before it sends them, and until that reservation is used up every other caller is refused. A reservation that is
/// never used lapses with its transaction.
contract SwapdExecutor is ISwapdExecutor, ProtocolList, UniswapV4Legs {
    using BalanceLedger for BalanceLedger.Ledger;
    using SafeERC20 for IERC20;

    uint8 public constant KIND_UNISWAP_V2 = 1;
    uint8 public constant KIND_UNISWAP_V3 = 2;
    uint8 public constant KIND_STABLE = 3;
    uint8 public constant KIND_UNISWAP_V4 = 4;
    uint256 public constant MAX_LEGS = 32;
    uint256 public constant PORTION_ALL = 1e18;
    uint256 private constant PIPS = 1e6;

    // The caller that may execute; this contract itself while an execution runs.
    address private transient _holder;
    // The V3 swap in flight: the only contract that may call back, once, for at most this amount of this token.
    address private transient _payingPool;
    address private transient _payingToken;
    uint256 private transient _payingAmount;
    // Whom that swap pays, in which token, and what he had of it last: nobody where it pays this contract.
    address private transient _payee;
    address private transient _boughtToken;
    uint256 private transient _payeeBalance;

    error BadProtocol(uint256 index, uint8 kind, address factory, uint24 feePips);
    error AlreadyReserved(address holder);
    error NotReservedBy(address caller, address holder);
    error TooManyLegs(uint256 count, uint256 maximum);
    error UnknownProtocol(uint256 leg, uint8 protocol);
    error UnknownPool(uint256 leg, address pool, address expected);
    error BadPortion(uint256 leg, uint64 portion);
    error LegWithoutInput(uint256 leg, address tokenIn);

    constructor(address wrappedNative_, Protocol[] memory protocols_)
        NativeCoin(wrappedNative_)
        ProtocolList(protocols_)
    {
        for (uint256 i = 0; i < protocols_.length; ++i) {
            Protocol memory p = protocols_[i];
            bool wellFormed = (p.kind == KIND_UNISWAP_V2 && p.feePips < PIPS)
                || (p.kind == KIND_UNISWAP_V3 && p.feePips == 0)
                || ((p.kind == KIND_STABLE || p.kind == KIND_UNISWAP_V4) && p.feePips == 0 && p.initCodeHash == 0);
            if (!wellFormed || p.factory.code.length == 0) revert BadProtocol(i, p.kind, p.factory, p.feePips);
        }
    }

    function wrappedNative() external view returns (address) {
        return _wrappedNative;
    }

    /// Shuts out every other caller for the rest of the transaction, or until the caller's `execute` is done.
    /// To be called before tokens are sent here: their transfer hooks could otherwise come in between.
    function reserve() external {
        if (_holder != address(0)) revert AlreadyReserved(_holder);
        _holder = msg.sender;
    }

    /// Trades job.amountIn, which the holder has just sent here, along the route; sweeps what is left of the tokens on
    /// the way to the owner; delivers all that was bought to the recipient.
    /// @return amountOut what arrived at the recipient (ERC-20: by its balance; native: what was sent successfully).
    /// The caller holds it against its minimum.
    /// @return unsold what of the sold token was sent back to the owner; more than job.amountIn where a route came round
    /// to that token with a profit
    function execute(Execution calldata job, Leg[] calldata route)
        external
        returns (uint256 amountOut, uint256 unsold)
    {
        if (msg.sender != _holder) revert NotReservedBy(msg.sender, _holder);
        if (route.length > MAX_LEGS) revert TooManyLegs(route.length, MAX_LEGS);
        _holder = address(this);
        address toToken = _tokenOf(job.toAsset);
        address payee = _payeeOf(job, route);
        BalanceLedger.Ledger memory ledger = BalanceLedger.create(1 + route.length);
        ledger.track(_tokenOf(job.fromAsset), job.amountIn);
        for (uint256 i = 0; i < route.length; ++i) {
            amountOut += _performLeg(i, route[i], ledger, route[i].tokenOut == toToken ? payee : address(0));
        }
        unsold = _sweep(job, toToken, ledger);
        // Last, with nothing of a foreign hand between the two balances but the bought token's own transfer.
        amountOut += _deliver(job, ledger.held(toToken));
        _holder = address(0);
    }

    /// Uniswap V3's callback: pays the pool of the leg in flight from this contract's own balance.
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata) external {
        if (msg.sender != _payingPool) revert UnexpectedCallback(msg.sender, _payingPool);
        // Cleared before paying: a pool is paid once for a leg.
        _payingPool = address(0);
        uint256 owed = SafeCast.toUint256(amount0Delta > 0 ? amount0Delta : amount1Delta);
        if (owed > _payingAmount) revert CallbackOverdrawn(owed, _payingAmount);
        // The pool has paid, and the sold token has not moved yet: its hooks could make others pay the payee as well.
        address payee = _payee;
        if (payee != address(0)) _payeeBalance = IERC20(_boughtToken).balanceOf(payee);
        IERC20(_payingToken).safeTransfer(msg.sender, owed);
    }

    function _tokenOf(address asset) private view returns (address) {
        return asset == NATIVE ? _wrappedNative : asset;
    }

    /// Whom legs that buy the token may pay: the recipient himself, unless he gets native tokens, or a leg of the route
    /// sells what another one bought.
    function _payeeOf(Execution calldata job, Leg[] calldata route) private pure returns (address) {
        if (job.toAsset == NATIVE) return address(0);
        for (uint256 i = 0; i < route.length; ++i) {
            if (route[i].tokenIn == job.toAsset) return address(0);
        }
        return job.recipient;
    }

    /// @param payee who may be paid by the pool itself; the zero address: only this contract
    /// @return arrived what the payee got, by his balance
    function _performLeg(uint256 index, Leg calldata leg, BalanceLedger.Ledger memory ledger, address payee)
        private
        returns (uint256 arrived)
    {
        (uint8 kind, address factory, uint24 feePips, bytes32 initCodeHash) = _protocolAt(leg.protocol);
        if (kind == 0) revert UnknownProtocol(index, leg.protocol);
        // What a pool of unknown code does between two balances is not known either.
        if (!_isComputed(kind, factory, initCodeHash, leg)) {
            _checkPool(index, kind, factory, leg);
            payee = address(0);
        }
        if (leg.portion == 0 || leg.portion > PORTION_ALL) revert BadPortion(index, leg.portion);
        uint256 amount = ledger.held(leg.tokenIn) * leg.portion / PORTION_ALL;
        if (amount == 0) revert LegWithoutInput(index, leg.tokenIn);
        if (payee == address(0)) ledger.track(leg.tokenOut, 0);
        if (kind == KIND_UNISWAP_V2) return _swapV2(leg, amount, feePips, payee);
        if (kind == KIND_UNISWAP_V3) return _swapV3(leg, amount, payee);
        if (kind == KIND_UNISWAP_V4) _swapV4(leg, amount);
        else _swapStable(index, factory, leg, amount);
    }

    /// Whether the pool is where the factory creates the one of the leg's tokens, by the code that is known: nobody can
    /// have put another one there.
    function _isComputed(uint8 kind, address factory, bytes32 initCodeHash, Leg calldata leg)
        private
        pure
        returns (bool)
    {
        if (initCodeHash == 0) return false;
        if (kind == KIND_UNISWAP_V2) {
            return leg.pool == PoolAddress.ofPair(factory, initCodeHash, leg.tokenIn, leg.tokenOut);
        }
        return leg.pool == PoolAddress.ofV3(factory, initCodeHash, leg.tokenIn, leg.tokenOut, leg.fee);
    }

    /// What the factory itself says about the leg's tokens: nobody can slip in a pool of his own.
    function _checkPool(uint256 index, uint8 kind, address factory, Leg calldata leg) private view {
        address pool;
        if (kind == KIND_UNISWAP_V4) {
            // All pools lie in it, and those without hooks run no code but its own.
            pool = factory;
        } else if (kind == KIND_UNISWAP_V2) {
            pool = IUniswapV2Factory(factory).getPair(leg.tokenIn, leg.tokenOut);
        } else if (kind == KIND_UNISWAP_V3) {
            pool = IUniswapV3Factory(factory).getPool(leg.tokenIn, leg.tokenOut, leg.fee);
        } else {
            pool = IStablePoolFactory(factory).find_pool_for_coins(leg.tokenIn, leg.tokenOut, leg.fee);
        }
        if (pool == address(0) || pool != leg.pool) revert UnknownPool(index, leg.pool, pool);
    }

    function _swapV2(Leg calldata leg, uint256 amount, uint24 feePips, address payee)
        private
        returns (uint256 arrived)
    {
        IUniswapV2Pair pair = IUniswapV2Pair(leg.pool);
        bool zeroForOne = leg.tokenIn < leg.tokenOut;
        uint256 amountOut = _payV2(pair, IERC20(leg.tokenIn), zeroForOne, amount, feePips);
        (uint256 out0, uint256 out1) = zeroForOne ? (uint256(0), amountOut) : (amountOut, uint256(0));
        if (payee == address(0)) {
            pair.swap(out0, out1, address(this), "");
            return 0;
        }
        // The sold token has moved already, and a pair calls nothing but the bought one's transfer.
        uint256 before = IERC20(leg.tokenOut).balanceOf(payee);
        pair.swap(out0, out1, payee, "");
        return IERC20(leg.tokenOut).balanceOf(payee) - before;
    }

    /// @return amountOut what the pair owes for what has reached it
    function _payV2(IUniswapV2Pair pair, IERC20 tokenIn, bool zeroForOne, uint256 amount, uint24 feePips)
        private
        returns (uint256 amountOut)
    {
        // Only what arrives is traded, so that a token that taxes transfers does not break the pool's invariant.
        uint256 before = tokenIn.balanceOf(address(pair));
        tokenIn.safeTransfer(address(pair), amount);
        uint256 received = tokenIn.balanceOf(address(pair)) - before;
        (uint256 reserve0, uint256 reserve1,) = pair.getReserves();
        (uint256 reserveIn, uint256 reserveOut) = zeroForOne ? (reserve0, reserve1) : (reserve1, reserve0);
        // Constant product after the fee, rounded down as the pair's own check demands.
        uint256 receivedAfterFee = received * (PIPS - feePips);
        return receivedAfterFee * reserveOut / (reserveIn * PIPS + receivedAfterFee);
    }

    function _swapV3(Leg calldata leg, uint256 amount, address payee) private returns (uint256 arrived) {
        _payingPool = leg.pool;
        _payingToken = leg.tokenIn;
        _payingAmount = amount;
        uint256 before;
        if (payee != address(0)) {
            before = IERC20(leg.tokenOut).balanceOf(payee);
            (_payee, _boughtToken, _payeeBalance) = (payee, leg.tokenOut, before);
        }
        bool zeroForOne = leg.tokenIn < leg.tokenOut;
        uint160 limit = zeroForOne ? LOWEST_PRICE_LIMIT : HIGHEST_PRICE_LIMIT;
        address to = payee == address(0) ? address(this) : payee;
        IUniswapV3Pool(leg.pool).swap(to, zeroForOne, SafeCast.toInt256(amount), limit, "");
        _payingPool = address(0);
        if (payee == address(0)) return 0;
        _payee = address(0);
        return _payeeBalance - before;
    }

    /// A stable pool draws its input itself, so it is allowed exactly that for the time of the call.
    function _swapStable(uint256 index, address factory, Leg calldata leg, uint256 amount) private {
        (int128 i, int128 j, bool underlying) =
            IStablePoolFactory(factory).get_coin_indices(leg.pool, leg.tokenIn, leg.tokenOut);
        if (underlying) revert UnknownPool(index, leg.pool, address(0));
        IERC20 token = IERC20(leg.tokenIn);
        token.forceApprove(leg.pool, amount);
        IStablePool(leg.pool).exchange(i, j, amount, 0);
        // A pool that drew less keeps no claim on what comes later.
        if (token.allowance(address(this), leg.pool) != 0) token.forceApprove(leg.pool, 0);
    }

    /// @return unsold the leftover of the sold token, which is the ledger's first
    function _sweep(Execution calldata job, address toToken, BalanceLedger.Ledger memory ledger)
        private
        returns (uint256 unsold)
    {
        for (uint256 i = 0; i < ledger.count; ++i) {
            address token = ledger.tokens[i];
            if (token == toToken) continue;
            uint256 leftover = ledger.heldAt(i);
            if (leftover == 0) continue;
            if (i == 0) unsold = leftover;
            if (i == 0 && job.fromAsset == NATIVE) _sendNative(job.owner, leftover);
            else IERC20(token).safeTransfer(job.owner, leftover);
        }
    }

    function _deliver(Execution calldata job, uint256 amount) private returns (uint256) {
        if (amount == 0) return 0;
        if (job.toAsset == NATIVE) {
            // A recipient may pass native tokens on at once, so its balance proves nothing; a successful call does.
            _sendNative(job.recipient, amount);
            return amount;
        }
        IERC20 token = IERC20(job.toAsset);
        uint256 before = token.balanceOf(job.recipient);
        token.safeTransfer(job.recipient, amount);
        return token.balanceOf(job.recipient) - before;
    }
}
