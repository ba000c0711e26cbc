// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// A token with every bad habit that the service must recognise, each switched on or off by anybody: for tests.
contract OddToken {
    uint256 private constant ONE = 1e18;

    string public constant name = "Odd";
    string public constant symbol = "ODD";
    uint8 public constant decimals = 18;

    /// In millionths of the amount; a tax goes to nobody.
    struct Habits {
        uint256 taxOnBuying; // out of the marked pool
        uint256 taxOnSelling; // into it
        uint256 taxOnPulling; // by transferFrom
        uint256 surcharge; // taken from the sender beyond the amount
        uint256 rate; // amount of one share, 18 decimals
        address pool;
        address blocked; // nobody can send to it
        bool unsellable; // nothing can be sent into the marked pool
        bool paused;
        bool asksPool; // reads the marked pool's reserves before each transfer
        bool refusesSilently; // moves nothing and answers false
    }

    Habits public habits;
    mapping(address owner => uint256) private _shares;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    error Paused();
    error Blocked(address to);

    constructor() {
        habits.rate = ONE;
    }

    function setHabits(Habits calldata habits_) external {
        habits = habits_;
    }

    function mint(address to, uint256 amount) external {
        _shares[to] += amount * ONE / habits.rate;
    }

    function balanceOf(address owner) public view returns (uint256) {
        return _shares[owner] * habits.rate / ONE;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return _move(msg.sender, to, amount, 0);
    }

    function transferFrom(address from, address to, uint256 amount) external returns (bool) {
        allowance[from][msg.sender] -= amount;
        return _move(from, to, amount, habits.taxOnPulling);
    }

    function _move(address from, address to, uint256 amount, uint256 tax) private returns (bool) {
        if (habits.paused) revert Paused();
        if (to == habits.blocked || (habits.unsellable && to == habits.pool)) revert Blocked(to);
        if (habits.refusesSilently) return false;
        if (habits.asksPool) IPair(habits.pool).getReserves();
        if (from == habits.pool) tax += habits.taxOnBuying;
        if (to == habits.pool) tax += habits.taxOnSelling;
        _shares[from] -= (amount + amount * habits.surcharge / 1e6) * ONE / habits.rate;
        _shares[to] += (amount - amount * tax / 1e6) * ONE / habits.rate;
        return true;
    }
}

interface IPair {
    function getReserves() external view returns (uint112, uint112, uint32);
}
