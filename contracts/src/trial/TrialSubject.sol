// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A known program, lent to an address for one question: an endpoint that shows all of what it does, and nothing else, can
/// try transactions out. It is on no chain. Lent with it: 10 in the first word of storage, 1 in the second, 4 in the third.
contract TrialSubject {
    address private constant STRANGER = 0x73776170642070726F626520737472616E676572;

    uint256 private _held;
    uint256 private _cleared;
    uint256 private _kept;
    uint256 private _allowed;

    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    error Undone();

    function balanceOf(address) external view returns (uint256) {
        return _held;
    }

    function allowance(address, address) external view returns (uint256) {
        return _allowed;
    }

    /// Moves 7, allows 5, passes one wei on, and leaves no trace of what is undone.
    function first() external payable {
        _held -= 7;
        _cleared = 0;
        _allowed = 5;
        emit Transfer(msg.sender, address(this), 7);
        emit Approval(msg.sender, address(this), 5);
        try this.undone() {} catch {}
        _pass();
    }

    /// Moves 2 where it finds what the first step left, and 1 elsewhere.
    function second() external {
        bool isCarriedOn = _held == 3 && _cleared == 0 && _kept == 4 && _allowed == 5;
        uint256 amount = isCarriedOn ? 2 : 1;
        _held -= amount;
        emit Transfer(msg.sender, address(this), amount);
    }

    /// What succeeds inside of it is undone with it.
    function undone() external {
        this.moved();
        revert Undone();
    }

    function moved() external {
        _held -= 1;
        _allowed = 9;
        emit Transfer(tx.origin, address(this), 1);
        emit Approval(tx.origin, address(this), 9);
        _pass();
    }

    function _pass() private {
        (bool passed,) = STRANGER.call{value: 1}("");
        if (!passed) revert Undone();
    }
}
