// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// Wrapped native token that behaves as WETH9 does: anything it does not know is a deposit, the allowance 2^256-1
/// never falls, and withdrawals forward no more than the transfer stipend.
contract WrappedNative {
    string public constant name = "Wrapped Ether";
    string public constant symbol = "WETH";
    uint8 public constant decimals = 18;

    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;

    event Approval(address indexed src, address indexed guy, uint256 wad);
    event Transfer(address indexed src, address indexed dst, uint256 wad);
    event Deposit(address indexed dst, uint256 wad);
    event Withdrawal(address indexed src, uint256 wad);

    error BalanceTooLow(uint256 balance, uint256 amount);
    error AllowanceTooLow(uint256 allowance, uint256 amount);
    error WithdrawalRefused(address to, uint256 amount);

    receive() external payable {
        deposit();
    }

    fallback() external payable {
        deposit();
    }

    function deposit() public payable {
        balanceOf[msg.sender] += msg.value;
        emit Deposit(msg.sender, msg.value);
    }

    function withdraw(uint256 amount) external {
        _debit(msg.sender, amount);
        // The receiver gets 2300 gas, as the original gives; a call with value carries that much by itself.
        (bool sent,) = msg.sender.call{value: amount, gas: amount == 0 ? 2300 : 0}("");
        if (!sent) revert WithdrawalRefused(msg.sender, amount);
        emit Withdrawal(msg.sender, amount);
    }

    function totalSupply() external view returns (uint256) {
        return address(this).balance;
    }

    function approve(address spender, uint256 amount) external returns (bool) {
        allowance[msg.sender][spender] = amount;
        emit Approval(msg.sender, spender, amount);
        return true;
    }

    function transfer(address to, uint256 amount) external returns (bool) {
        return transferFrom(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) public returns (bool) {
        if (from != msg.sender && allowance[from][msg.sender] != type(uint256).max) {
            uint256 allowed = allowance[from][msg.sender];
            if (allowed < amount) revert AllowanceTooLow(allowed, amount);
            allowance[from][msg.sender] = allowed - amount;
        }
        _debit(from, amount);
        balanceOf[to] += amount;
        emit Transfer(from, to, amount);
        return true;
    }

    function _debit(address from, uint256 amount) private {
        uint256 balance = balanceOf[from];
        if (balance < amount) revert BalanceTooLow(balance, amount);
        balanceOf[from] = balance - amount;
    }
}
