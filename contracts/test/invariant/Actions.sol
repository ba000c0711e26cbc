// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {IUniswapV2Pair} from "../../src/interfaces/IUniswapPools.sol";
import {Execution} from "../../src/interfaces/ISwapdExecutor.sol";
import {Leg, NATIVE, Swap} from "../../src/SwapTypes.sol";
import {VM} from "../Vm.sol";
import {Ledger} from "./Ledger.sol";

/// What anybody can do, each as one transaction that a fuzzer chooses.
abstract contract Actions is Ledger {
    uint256 private constant CURVE_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    /// A user signs and nobody submits yet.
    function sign(uint256 seed) external seeded(seed) {
        _sign();
    }

    /// The named relayer submits a fresh order, by a route as good or as bad as it likes.
    function relay(uint256 seed) external seeded(seed) {
        _relay(_sign());
    }

    function _relay(uint256 place) private returns (bool) {
        Swap memory order = book[place].order;
        return _submitAs(book[place].sender, place, order, _randomRoute(order), Twist.None);
    }

    function _anyPlace() private returns (uint256) {
        if (book.length == 0) _sign();
        return _pick(book.length);
    }

    /// Somebody copies a transaction that waits in the public pool, with the same route or a better one.
    function copyPending(uint256 seed) external seeded(seed) {
        uint256 place = _anyPlace();
        Swap memory order = book[place].order;
        address other = book[place].sender == relayer ? greedyRelayer : relayer;
        address caller = _pick(3) == 0 ? other : _outsider();
        if (_pick(4) == 0) caller = users[book[place].user];
        ++tally["copy"];
        _submitAs(caller, place, order, _randomRoute(order), Twist.None);
    }

    /// The relayer submits what it has submitted before, or what was cancelled meanwhile.
    function replay(uint256 seed) external seeded(seed) {
        uint256 place = _anyPlace();
        bool cancelled = _pick(2) == 0;
        for (uint256 i = 0; i < book.length; ++i) {
            if (cancelled ? book[place].cancelled && !book[place].filled : book[place].filled) {
                ++tally[cancelled ? "replay after cancel" : "replay"];
                _relay(place);
                return;
            }
            place = (place + 1) % book.length;
        }
    }

    /// The relayer changes a field that would pay it or its friends.
    function tamper(uint256 seed) external seeded(seed) {
        uint256 place = _anyPlace();
        Swap memory order = _tampered(book[place].order);
        ++tally["tamper"];
        _submitAs(book[place].sender, place, order, _randomRoute(order), Twist.Changed);
    }

    function _tampered(Swap memory order) private returns (Swap memory) {
        uint256 field = _pick(9);
        if (field == 0) order.recipient = greedyRelayer;
        else if (field == 1) order.amountOutMin = order.amountOutMin / 2 + 1;
        else if (field == 2) order.swapFee += 1 + order.amountIn / 2;
        else if (field == 3) order.amountIn *= 2;
        else if (field == 4) order.nonce = nextNonce + 1e6;
        else if (field == 5) order.deadline += 1e6;
        else if (field == 6) (order.affiliate, order.affiliateFee) = (greedyRelayer, order.amountIn / 100 + 7);
        else if (field == 7) order.fromAsset = tokens[order.fromAsset == tokens[USDC] ? USDT : USDC];
        else order.toAsset = tokens[order.toAsset == tokens[LIAR] ? USDT : LIAR];
        return order;
    }

    /// An outsider signs for a user with its own key, or with the mirror image of the user's signature.
    function forge(uint256 seed) external seeded(seed) {
        uint256 place = _sign();
        Signed storage signed = book[place];
        (address sender, bytes memory signature) = (signed.sender, signed.signature);
        bytes32 digest = _digest(signed.order, address(settlement), sender);
        if (_pick(2) == 0) {
            (uint8 v, bytes32 r, bytes32 s) = VM.sign(0xBAD, digest);
            signed.signature = abi.encodePacked(r, s, v);
        } else {
            (uint8 v, bytes32 r, bytes32 s) = VM.sign(keys[signed.user], digest);
            signed.signature = abi.encodePacked(r, bytes32(CURVE_ORDER - uint256(s)), v == 27 ? uint8(28) : uint8(27));
        }
        Swap memory order = signed.order;
        ++tally["forgery"];
        _submitAs(sender, place, order, _randomRoute(order), Twist.Changed);
        signed.signature = signature;
    }

    /// The relayer is late.
    function submitLate(uint256 seed) external seeded(seed) {
        uint256 place = _sign();
        uint256 timestamp = block.timestamp;
        VM.warp(book[place].order.deadline + 1 + _pick(1e6));
        ++tally["late"];
        _relay(place);
        VM.warp(timestamp);
    }

    /// The chain splits, or a second settlement is up.
    function submitElsewhere(uint256 seed) external seeded(seed) {
        uint256 place = _sign();
        Swap memory order = book[place].order;
        bool split = _pick(2) == 0;
        uint256 home = block.chainid;
        if (split) VM.chainId(home + 1 + _pick(1_000));
        ++tally["elsewhere"];
        Twist twist = split ? Twist.OtherChain : Twist.OtherContract;
        _submitAs(book[place].sender, place, order, _randomRoute(order), twist);
        VM.chainId(home);
    }

    /// The owner cancels, or somebody else does so for the same number.
    function cancel(uint256 seed) external seeded(seed) {
        uint256 place = _anyPlace();
        bool owns = _pick(2) == 0;
        VM.prank(owns ? users[book[place].user] : _outsider());
        try settlement.cancelNonce(book[place].order.nonce) {
            ++tally["cancel"];
            if (owns && book[place].filled) ++replays;
            if (owns) book[place].cancelled = true;
        } catch {
            ++tally["refusal"];
        }
    }

    /// A user trades by a transaction of its own, with tokens or with native.
    function ownSwap(uint256 seed) external seeded(seed) {
        uint256 user = _pick(USERS);
        Swap memory order = _randomOrder(user);
        if (order.fromAsset == address(weth) && _pick(2) == 0) {
            order.fromAsset = NATIVE;
            if (_pick(4) == 0) (order.affiliate, order.affiliateFee) = (address(0), 0);
        }
        _swapAs(user, order, _randomRoute(order));
    }

    /// Buys before the order and sells after it, in the pool that the order trades in.
    function sandwich(uint256 seed) external seeded(seed) {
        uint256 place = _sign();
        bool zeroForOne = IUniswapV2Pair(wethUsdcV2).token0() == address(usdc);
        ++tally["sandwich"];
        VM.prank(frontRunner);
        uint256 bought = minter.swapV2(wethUsdcV2, zeroForOne, 1e6 * (1 + _pick(1e6)));
        _relay(place);
        VM.prank(frontRunner);
        minter.swapV2(wethUsdcV2, !zeroForOne, bought);
    }

    /// Time passes.
    function pass(uint256 seed) external seeded(seed) {
        VM.warp(block.timestamp + _pick(300));
    }

    /// Somebody sends tokens to the contracts, by mistake or to confuse them.
    function donate(uint256 seed) external seeded(seed) {
        uint256 t = _pick(TOKENS);
        if (t == HOOK || t == FALSE) return;
        bool toExecutor = _pick(2) == 0;
        address to = toExecutor ? address(executor) : address(settlement);
        uint256 was = IERC20(tokens[t]).balanceOf(to);
        _fund(tokens[t], to, units[t] * (1 + _pick(100)));
        uint256 arrived = IERC20(tokens[t]).balanceOf(to) - was;
        if (toExecutor) inExecutor[t] += arrived;
        else inSettlement[t] += arrived;
        ++tally["donation"];
    }

    /// What the hostile token does at its next transfers, whoever moves it.
    function armHook(uint256 seed) external seeded(seed) {
        uint256 place = _anyPlace();
        Swap memory order = book[place].order;
        Leg[] memory route = _randomRoute(order);
        Execution memory theft = Execution(address(hook), address(hook), order.fromAsset, order.toAsset, order.amountIn);
        bytes[] memory calls = new bytes[](1);
        uint256 kind = _pick(10);
        address target = kind < 3 ? address(executor) : address(settlement);
        if (kind == 0) calls[0] = abi.encodeCall(executor.reserve, ());
        if (kind == 1) calls[0] = abi.encodeCall(executor.uniswapV3SwapCallback, (int256(1), int256(-1), ""));
        if (kind == 2) calls[0] = abi.encodeCall(executor.execute, (theft, route));
        if (kind == 3) calls[0] = abi.encodeCall(settlement.cancelNonce, (order.nonce));
        if (kind == 4) calls[0] = _again(place, order, route);
        // Through the twin the way in is open, and must end at the executor. (Anybody may cancel numbers of its own.)
        if (kind == 5) (target, calls[0]) = (address(twin), abi.encodeCall(twin.swap, (order, route)));
        if (kind == 6 || kind == 9) {
            (target, calls[0]) = (address(debt), abi.encodeCall(debt.pay, (IERC20(address(weth)), users[0], 1e12)));
        }
        if (kind == 7) (target, calls[0]) = (address(executor), abi.encodeCall(executor.unlockCallback, ("")));
        if (kind == 8) (target, calls[0]) = (address(manager), abi.encodeCall(manager.settle, ()));
        hook.hook(target, calls);
        ++tally["hook armed"];
    }

    function _again(uint256 place, Swap memory order, Leg[] memory route) private view returns (bytes memory) {
        address user = users[book[place].user];
        bytes memory signature = book[place].signature;
        return abi.encodeCall(settlement.swapWithSignature, (user, order, route, signature, _noPermit()));
    }

    /// The other hostile contracts change their ways.
    function turn(uint256 seed) external seeded(seed) {
        if (_pick(2) == 0) falseToken.refuse(_pick(3) == 0);
        else rogue.behave(_pick(3), _pick(2) * _pick(1 ether));
    }

    /// A thief without a signature or a token of its own goes at the contracts directly.
    function raid(uint256 seed) external seeded(seed) {
        uint256 t = _pick(TOKENS);
        Swap memory order = _randomOrder(_pick(USERS));
        order.recipient = thief;
        Execution memory job = Execution(thief, thief, tokens[t], order.toAsset, inExecutor[t] + 1);
        Leg[] memory route = _randomRoute(order);
        VM.startPrank(_pick(2) == 0 ? thief : address(rogue));
        ++tally["raid"];
        // What a pool was allowed once must be gone: a donation would pay for it.
        if (inExecutor[t] != 0) _take(tokens[t], inExecutor[t]);
        try executor.uniswapV3SwapCallback(int256(order.amountIn), -1, "") {
            ++hostileSuccesses;
        } catch {}
        try executor.unlockCallback("") {
            ++hostileSuccesses;
        } catch {}
        try settlement.swap(order, route) {
            ++hostileSuccesses;
        } catch {}
        try executor.execute(job, route) {
            ++hostileSuccesses;
        } catch {}
        executor.reserve();
        try executor.execute(job, route) {
            ++hostileSuccesses;
        } catch {}
        executor.execute(Execution(thief, thief, address(usdc), address(weth), 0), new Leg[](0));
        VM.stopPrank();
    }

    function _take(address token, uint256 amount) private {
        (bool done, bytes memory answer) =
            token.call(abi.encodeCall(IERC20.transferFrom, (address(executor), thief, amount)));
        if (done && (answer.length == 0 || abi.decode(answer, (bool)))) ++hostileSuccesses;
    }
}
