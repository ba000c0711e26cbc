// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Execution, ISwapdExecutor} from "../../src/interfaces/ISwapdExecutor.sol";
import {PoolKey, SwapParams} from "../../src/interfaces/IUniswapV4.sol";
import {Leg, NATIVE} from "../../src/SwapTypes.sol";
import {ICallback} from "../Fixtures.sol";

interface IUnlocked {
    function unlockCallback(bytes calldata data) external returns (bytes memory);
}

/// A token that answers `false` where others revert, and for as long as it likes moves nothing at all.
contract FalseToken is ERC20("False", "FALSE") {
    bool public refusing;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function refuse(bool refusing_) external {
        refusing = refusing_;
    }

    function transfer(address to, uint256 amount) public override returns (bool) {
        if (refusing || balanceOf(msg.sender) < amount) return false;
        return super.transfer(to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public override returns (bool) {
        bool covered = balanceOf(from) >= amount && allowance(from, msg.sender) >= amount;
        if (refusing || !covered) return false;
        return super.transferFrom(from, to, amount);
    }
}

/// A token whose permit reports success and gives no allowance.
contract LyingPermitToken is ERC20("Liar", "LIAR") {
    uint256 public permits;

    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    function permit(address, address, uint256, uint256, uint8, bytes32, bytes32) external {
        ++permits;
    }
}

/// A factory gone bad, of every kind, with one pool for every pair: itself. It keeps what it is paid, delivers nothing
/// and collects as it is told: zero, one or two times, what it is owed or more. As a manager of Uniswap V4 it promises what
/// it does not pay, sends a part of the native coins that it has, and tries the doors from within.
contract RogueFactory {
    uint256 public callbacks;
    uint256 public excess;
    uint256 public unlocked;
    uint256 public intrusions;
    /// How often native coins came or went.
    uint256 public natives;
    address[] private _coins;

    function know(address[] calldata coins) external {
        _coins = coins;
    }

    function behave(uint256 callbacks_, uint256 excess_) external {
        (callbacks, excess) = (callbacks_, excess_);
    }

    function unlock(bytes calldata) external returns (bytes memory) {
        ++unlocked;
        for (uint256 i = 0; i < callbacks; ++i) {
            IUnlocked(msg.sender).unlockCallback(abi.encode(_coins));
        }
        return "";
    }

    function swap(PoolKey calldata, SwapParams calldata params, bytes calldata) external returns (int256) {
        _intrude();
        int256 owed = params.amountSpecified - int256(excess);
        (int256 delta0, int256 delta1) = params.zeroForOne ? (owed, int256(1e12)) : (int256(1e12), owed);
        return delta0 << 128 | int256(uint256(uint128(int128(delta1))));
    }

    function sync(address) external {
        _intrude();
    }

    function settle() external payable returns (uint256) {
        _intrude();
        if (msg.value != 0) ++natives;
        return msg.value;
    }

    function take(address currency, address to, uint256) external {
        _intrude();
        if (currency != NATIVE) return;
        ++natives;
        (bool done,) = to.call{value: address(this).balance / 2}("");
        require(done, "sent");
    }

    function _intrude() private {
        Execution memory theft = Execution(address(this), address(this), _coins[0], _coins[1], 1);
        bytes[4] memory calls = [
            abi.encodeCall(ISwapdExecutor.reserve, ()),
            abi.encodeCall(ISwapdExecutor.execute, (theft, new Leg[](0))),
            abi.encodeCall(IUnlocked.unlockCallback, ("")),
            abi.encodeCall(ICallback.uniswapV3SwapCallback, (1, -1, ""))
        ];
        for (uint256 i = 0; i < calls.length; ++i) {
            (bool done,) = msg.sender.call(calls[i]);
            if (done) ++intrusions;
        }
    }

    function getPair(address, address) external view returns (address) {
        return address(this);
    }

    function getPool(address, address, uint24) external view returns (address) {
        return address(this);
    }

    function find_pool_for_coins(address, address, uint256) external view returns (address) {
        return address(this);
    }

    function get_coin_indices(address, address from, address) external view returns (int128, int128, bool) {
        uint256 i = 0;
        while (_coins[i] != from) ++i;
        return (int128(int256(i)), 0, false);
    }

    function exchange(int128 i, int128, uint256 amount, uint256) external {
        for (uint256 n = 0; n < callbacks; ++n) {
            IERC20(_coins[uint128(i)]).transferFrom(msg.sender, address(this), amount + excess);
        }
    }

    function getReserves() external pure returns (uint112, uint112, uint32) {
        return (1e24, 1e24, 0);
    }

    function swap(uint256, uint256, address, bytes calldata) external {}

    function swap(address, bool zeroForOne, int256 amount, uint160, bytes calldata) external returns (int256, int256) {
        int256 wanted = amount + int256(excess);
        for (uint256 i = 0; i < callbacks; ++i) {
            (int256 amount0, int256 amount1) = zeroForOne ? (wanted, -wanted) : (-wanted, wanted);
            ICallback(msg.sender).uniswapV3SwapCallback(amount0, amount1, "");
        }
        return (0, 0);
    }
}
