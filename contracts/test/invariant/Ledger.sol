// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution} from "../../src/interfaces/ISwapdExecutor.sol";
import {SwapdSettlement} from "../../src/SwapdSettlement.sol";
import {Leg, NATIVE, Permit, Swap} from "../../src/SwapTypes.sol";
import {told} from "../Told.sol";
import {VM} from "../Vm.sol";
import {Arena} from "./Arena.sol";

/// Keeps account of every swap that went through: what was signed, who submitted it, what moved. What must never happen
/// is counted where it happens, so that it cannot be undone before somebody looks.
abstract contract Ledger is Arena {
    struct Signed {
        Swap order;
        uint256 user;
        address sender;
        bytes signature;
        bool filled;
        bool cancelled;
    }

    /// How a submission differs from what the signer allowed.
    enum Twist {
        None,
        Changed,
        OtherChain,
        OtherContract
    }

    uint256 internal constant BOOK = 8;
    Signed[] internal book;
    uint256 internal nextNonce;

    // Never to rise. One counter a promise.
    uint256 internal replays;
    uint256 internal afterCancel;
    uint256 internal byStrangers;
    uint256 internal afterDeadline;
    uint256 internal onOtherChains;
    uint256 internal onOtherContracts;
    uint256 internal changed;
    uint256 internal withoutAllowance;
    uint256 internal belowMinimum;
    uint256 internal misreported;
    uint256 internal missold;
    uint256 internal overspent;
    uint256 internal feesOff;
    uint256 internal jams;
    uint256 internal hostileSuccesses;

    // What the world looks like if every promise holds.
    uint256[TOKENS + 1][USERS] internal floors; // the least that each user has; native is last
    uint256[TOKENS] internal sold; // by the user whose allowance is counted
    mapping(address account => uint256[TOKENS + 1]) internal earned;
    uint256[TOKENS] internal inExecutor;
    uint256[TOKENS] internal inSettlement;

    // How often each thing was tried or done: a campaign that never gets anywhere proves nothing.
    mapping(string what => uint256) public tally;

    constructor() {
        for (uint256 u = 0; u < USERS; ++u) _observe(u);
    }

    function _observe(uint256 user) internal {
        for (uint256 t = 0; t < TOKENS; ++t) floors[user][t] = IERC20(tokens[t]).balanceOf(users[user]);
        floors[user][TOKENS] = users[user].balance;
    }

    function _indexOf(address asset) internal view returns (uint256) {
        if (asset == NATIVE) return TOKENS;
        for (uint256 t = 0; t < TOKENS; ++t) {
            if (tokens[t] == asset) return t;
        }
        revert NotTrue("a known token");
    }

    function _balance(address asset, address account) internal view returns (uint256) {
        return asset == NATIVE ? account.balance : IERC20(asset).balanceOf(account);
    }

    /// A new order, signed by its user for one of the two relayers, in a place of the book.
    function _sign() internal returns (uint256 place) {
        uint256 user = _pick(USERS);
        Swap memory order = _randomOrder(user);
        order.nonce = nextNonce++;
        order.swapFee = _pick(3) * order.amountIn / 1_000;
        address sender = _pick(2) == 0 ? relayer : greedyRelayer;
        (uint8 v, bytes32 r, bytes32 s) = VM.sign(keys[user], _digest(order, address(settlement), sender));
        place = order.nonce % BOOK;
        if (book.length <= place) book.push();
        book[place] = Signed(order, user, sender, abi.encodePacked(r, s, v), false, false);
    }

    /// What a submission is about to change, seen before.
    struct Before {
        uint256 from;
        uint256 to;
        uint256 caller;
        uint256 affiliate;
        uint256 debt;
        uint256 hooks;
    }

    /// A debt is paid on anybody's call, and a manager that has got everything takes a payment of nothing.
    function _mayAnswer(address target) private view returns (bool) {
        return target == address(debt) || target == address(manager);
    }

    function _before(Swap memory order, address owner_, address caller) private view returns (Before memory) {
        return Before({
            from: _balance(order.fromAsset, owner_),
            to: _balance(order.toAsset, order.recipient),
            caller: _balance(order.fromAsset, caller),
            affiliate: _balance(order.fromAsset, affiliate),
            debt: weth.balanceOf(address(debt)),
            hooks: _mayAnswer(hook.target()) ? 0 : hook.successes()
        });
    }

    /// Somebody submits an order of the book, as signed or twisted.
    function _submitAs(address caller, uint256 place, Swap memory order, Leg[] memory route, Twist twist)
        internal
        returns (bool filled)
    {
        Signed storage signed = book[place];
        address user = users[signed.user];
        Before memory was = _before(order, user, caller);
        SwapdSettlement target = twist == Twist.OtherContract ? twin : settlement;
        // Worthless to every token here; some of them accept it all the same.
        Permit memory permit;
        (permit.value, permit.deadline, permit.v) = (type(uint256).max, type(uint256).max, uint8(_pick(2) * 27));
        VM.recordLogs();
        VM.prank(caller);
        try target.swapWithSignature(user, order, route, signed.signature, permit) returns (uint256 amountOut) {
            filled = true;
            ++tally["fill"];
            if (signed.filled) ++replays;
            if (signed.cancelled) ++afterCancel;
            if (caller != signed.sender) ++byStrangers;
            if (block.timestamp > signed.order.deadline) ++afterDeadline;
            if (twist == Twist.Changed) ++changed;
            if (twist == Twist.OtherChain) ++onOtherChains;
            if (twist == Twist.OtherContract) ++onOtherContracts;
            if (signed.user == UNAPPROVED) ++withoutAllowance;
            signed.filled = true;
            _account(order, signed.user, caller, amountOut, was);
        } catch {
            ++tally["refusal"];
        }
        _probe();
    }

    /// A user's own transaction.
    function _swapAs(uint256 user, Swap memory order, Leg[] memory route) internal returns (bool filled) {
        Before memory was = _before(order, users[user], users[user]);
        VM.recordLogs();
        VM.prank(users[user]);
        try settlement.swap{value: order.fromAsset == NATIVE ? _gross(order) : 0}(order, route) returns (
            uint256 amountOut
        ) {
            filled = true;
            ++tally["own swap"];
            if (user == UNAPPROVED && order.fromAsset != NATIVE) ++withoutAllowance;
            _account(order, user, address(0), amountOut, was);
        } catch {
            ++tally["refusal"];
        }
        _probe();
    }

    function _account(Swap memory order, uint256 user, address caller, uint256 amountOut, Before memory was) private {
        uint256 from = _indexOf(order.fromAsset);
        address owner_ = users[user];
        if (was.from > _balance(order.fromAsset, owner_) + _gross(order)) ++overspent;
        _accountSold(order, owner_, was);
        _accountOutput(order, amountOut, was);
        if (user == COUNTED && from != TOKENS) sold[from] += _gross(order);
        if (caller != address(0)) {
            _accountFee(caller, order.fromAsset, order.swapFee, was.caller);
        }
        _accountFee(affiliate, order.fromAsset, order.affiliateFee, was.affiliate);
        if (!_mayAnswer(hook.target())) hostileSuccesses += hook.successes() - was.hooks;
        _settleFloors(user, order);
    }

    /// What the event says was sold is what the owner lost beside the fees. Of what comes back a tax is kept, too.
    function _accountSold(Swap memory order, address owner_, Before memory was) private {
        uint256 unsold = order.amountIn - told(address(settlement)).amountIn;
        if (unsold != 0) ++tally["unsold"];
        if (order.fromAsset == tokens[TAX]) unsold -= unsold / 100;
        uint256 expected = was.from - _gross(order) + unsold;
        // A debtor may have paid meanwhile.
        if (order.fromAsset == address(weth) && owner_ == users[0]) expected += was.debt - weth.balanceOf(address(debt));
        if (_balance(order.fromAsset, owner_) != expected) ++missold;
    }

    /// What a debtor paid meanwhile is no output of the swap.
    function _accountOutput(Swap memory order, uint256 amountOut, Before memory was) private {
        uint256 received = _balance(order.toAsset, order.recipient) - was.to;
        uint256 paid = was.debt - weth.balanceOf(address(debt));
        if (paid != 0) ++tally["debt paid"];
        uint256 foreign = order.toAsset == address(weth) && order.recipient == users[0] ? paid : 0;
        if (received < order.amountOutMin + foreign) ++belowMinimum;
        if (received != amountOut + foreign) ++misreported;
    }

    function _accountFee(address to, address asset, uint256 fee, uint256 was) private {
        uint256 arrives = asset == tokens[TAX] ? fee - fee / 100 : fee;
        if (_balance(asset, to) != was + arrives) ++feesOff;
        earned[to][_indexOf(asset)] += arrives;
    }

    /// The owner may have lost up to gross of the sold asset, and nothing else. What the swap did not touch is compared
    /// with its floor at the end of the run.
    function _settleFloors(uint256 user, Swap memory order) private {
        uint256 from = _indexOf(order.fromAsset);
        uint256 to = _indexOf(order.toAsset);
        floors[user][from] -= _gross(order);
        uint256[4] memory touched = [from, to, WETH, HOOK];
        for (uint256 i = 0; i < touched.length; ++i) _raiseFloor(user, touched[i]);
        for (uint256 u = 0; u < USERS; ++u) {
            if (users[u] == order.recipient) _raiseFloor(u, to);
        }
        _raiseFloor(0, WETH); // the debtor's creditor
    }

    function _raiseFloor(uint256 user, uint256 token) private {
        uint256 balance = _balance(token == TOKENS ? NATIVE : tokens[token], users[user]);
        if (balance > floors[user][token]) floors[user][token] = balance;
    }

    /// Whatever just happened, anybody may use the executor now, in the same transaction even.
    function _probe() private {
        if (_pick(4) != 0) return;
        try executor.reserve() {
            Execution memory nothing = Execution(thief, thief, address(usdc), address(weth), 0);
            executor.execute(nothing, new Leg[](0));
        } catch {
            ++jams;
        }
    }
}
