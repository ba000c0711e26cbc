// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Leg, Swap} from "../src/SwapTypes.sol";
import {SwapdSettlement} from "../src/SwapdSettlement.sol";

/// A token that keeps one percent of every transfer.
contract TaxToken is ERC20("Tax", "TAX") {
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function _update(address from, address to, uint256 value) internal override {
        uint256 tax = from == address(0) ? 0 : value / 100;
        super._update(from, to, value - tax);
        if (tax != 0) super._update(from, address(0xDEAD), tax);
    }
}

/// A token that runs foreign code before and after every transfer and remembers whether any of it succeeded.
contract HookToken is ERC20("Hook", "HOOK") {
    address public target;
    bytes[] public calls;
    uint256 public attempts;
    uint256 public successes;
    bool private _busy;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function hook(address target_, bytes[] memory calls_) external {
        (target, calls) = (target_, calls_);
    }

    function _update(address from, address to, uint256 value) internal override {
        _callOut();
        super._update(from, to, value);
        _callOut();
    }

    function _callOut() private {
        if (target == address(0) || _busy) return;
        _busy = true;
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool done,) = target.call(calls[i]);
            ++attempts;
            if (done) ++successes;
        }
        _busy = false;
    }
}

/// Owes a token to somebody and pays it out on anybody's call.
contract Debt {
    function pay(IERC20 token, address creditor) external {
        token.transfer(creditor, token.balanceOf(address(this)));
    }
}

/// Owes much, and pays a little of it on anybody's call.
contract SlowDebt {
    function pay(IERC20 token, address creditor, uint256 amount) external {
        token.transfer(creditor, amount);
    }
}

/// A V2 pool gone bad, vouched for by its factory, which it is itself: it delivers what somebody else owes.
contract OthersMoneyPool {
    bytes private _payment;
    address private immutable _debtor;

    constructor(address debtor, bytes memory payment) {
        (_debtor, _payment) = (debtor, payment);
    }

    function getPair(address, address) external view returns (address) {
        return address(this);
    }

    function getReserves() external pure returns (uint112, uint112, uint32) {
        return (1e24, 1e24, 0);
    }

    function swap(uint256, uint256, address, bytes calldata) external {
        (bool done,) = _debtor.call(_payment);
        require(done, "paying");
    }
}

/// A contract that claims to be a pool of either kind: it wants to be paid and delivers nothing.
contract FakePool {
    address public token0;
    address public token1;

    constructor(address tokenA, address tokenB) {
        (token0, token1) = tokenA < tokenB ? (tokenA, tokenB) : (tokenB, tokenA);
    }

    function getReserves() external pure returns (uint112, uint112, uint32) {
        return (1e24, 1e24, 0);
    }

    function swap(uint256, uint256, address, bytes calldata) external {}

    function swap(address, bool zeroForOne, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        (int256 amount0, int256 amount1) = zeroForOne ? (amount, -amount) : (-amount, amount);
        ICallback(msg.sender).uniswapV3SwapCallback(amount0, amount1, "");
        return (amount0, amount1);
    }
}

interface ICallback {
    function uniswapV3SwapCallback(int256 amount0Delta, int256 amount1Delta, bytes calldata payload) external;
}

/// Tries to enter the settlement again whenever it is paid native tokens.
contract ReenteringReceiver {
    SwapdSettlement private immutable _settlement;
    bool public entered;
    uint256 public attempts;

    constructor(SwapdSettlement settlement) {
        _settlement = settlement;
    }

    receive() external payable {
        ++attempts;
        Swap memory order;
        order.deadline = block.timestamp;
        try _settlement.swap{value: msg.value}(order, new Leg[](0)) {
            entered = true;
        } catch {}
        try _settlement.cancelNonce(attempts) {
            entered = true;
        } catch {}
    }
}

/// Passes native tokens on the moment they arrive.
contract Forwarder {
    address payable private immutable _to;

    constructor(address payable to) {
        _to = to;
    }

    receive() external payable {
        (bool sent,) = _to.call{value: msg.value}("");
        require(sent, "forwarding");
    }
}

/// Takes no native tokens.
contract Refuser {}

/// A V3 pool gone bad, vouched for by its factory, which it is itself: it calls back as often and for as much as it
/// likes, or only later.
contract RoguePool {
    uint256 public immutable callbacks;
    int256 public immutable extra;

    constructor(uint256 callbacks_, int256 extra_) {
        (callbacks, extra) = (callbacks_, extra_);
    }

    function getPool(address, address, uint24) external view returns (address) {
        return address(this);
    }

    function swap(address, bool zeroForOne, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        for (uint256 i = 0; i < callbacks; ++i) {
            collect(ICallback(msg.sender), zeroForOne, amount + extra);
        }
        return (0, 0);
    }

    function collect(ICallback payer, bool zeroForOne, int256 amount) public {
        (int256 amount0, int256 amount1) = zeroForOne ? (amount, -amount) : (-amount, amount);
        payer.uniswapV3SwapCallback(amount0, amount1, "");
    }
}
