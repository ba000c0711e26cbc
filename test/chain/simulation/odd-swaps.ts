import { AbiCoder, Interface } from "ethers";
import { compileSources } from "../../../contracts/compile.ts";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { CallRequest } from "../../../src/ports/chain.ts";
import type { TestChain } from "../../service/support/chain.ts";

/** A token that is told how to behave, and a settlement that does what it is told, right or wrong. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract Coin {
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    /// 0 good, 1 taxes a tenth to a collector, 2 emits nothing, 3 emits what it does not do, 4 lets the friend take as much
    /// again and says so, 5 does so in silence, 6 gives half to an account with code, 7 gives half to one without,
    /// 8 approves from zero only
    uint256 public habit;
    address public friend;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);
    error NotFromZero();
    error Short(uint256 has);

    function setHabit(uint256 habit_, address friend_) external { (habit, friend) = (habit_, friend_); }
    function mint(address to, uint256 value) external { balanceOf[to] += value; }

    function approve(address spender, uint256 value) external returns (bool) {
        if (habit == 8 && value != 0 && allowance[msg.sender][spender] != 0) revert NotFromZero();
        allowance[msg.sender][spender] = value;
        if (habit != 2) emit Approval(msg.sender, spender, value);
        return true;
    }
    function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        if (habit == 4 || habit == 5) allowance[from][friend] = value;
        if (habit == 4) emit Approval(from, friend, value);
        return move(from, to, value);
    }
    function move(address from, address to, uint256 value) private returns (bool) {
        if (balanceOf[from] < value) revert Short(balanceOf[from]);
        uint256 given = value;
        if (habit == 1) given -= value / 10;
        if (habit == 6 && to.code.length > 0 || habit == 7 && to.code.length == 0) given /= 2;
        balanceOf[from] -= value;
        balanceOf[to] += given;
        if (habit == 2) return true;
        emit Transfer(from, to, habit == 3 ? value * 2 : given);
        if (given != value) { balanceOf[friend] += value - given; emit Transfer(from, friend, value - given); }
        return true;
    }
}

contract OddSettlement {
    Coin public sold;
    Coin public bought;
    error TooLittle(uint256 got);

    constructor(Coin sold_, Coin bought_) { (sold, bought) = (sold_, bought_); }
    receive() external payable {}

    /// Takes and gives as it is reported; the calls before and after make a difference to what is honest.
    function swap(uint256 taken, uint256 given, address to) external payable {
        if (taken > 0) sold.transferFrom(msg.sender, address(this), taken);
        if (given > 0) bought.transfer(to, given);
    }
    function giveBack(uint256 taken, uint256 back, uint256 given, address to) external {
        this.takeFor(msg.sender, taken);
        sold.transfer(msg.sender, back);
        bought.transfer(to, given);
    }
    function takeFor(address from, uint256 taken) external { sold.transferFrom(from, address(this), taken); }
    function alsoTake(Coin other, address from, uint256 amount, uint256 taken, uint256 given) external {
        other.transferFrom(from, address(this), amount);
        sold.transferFrom(msg.sender, address(this), taken);
        bought.transfer(msg.sender, given);
    }
    /// What it gives inside of a frame that is undone is not given.
    function undo(uint256 taken, uint256 given) external {
        sold.transferFrom(msg.sender, address(this), taken);
        try this.giveAndFail(msg.sender, given) {} catch {}
    }
    function giveAndFail(address to, uint256 given) external {
        bought.transfer(to, given);
        (bool paid,) = to.call{value: given}("");
        revert TooLittle(paid ? given : 0);
    }
    function sellFor(uint256 given) external payable { bought.transfer(msg.sender, given); }
    function buyCoins(uint256 taken, uint256 given, address to) external {
        sold.transferFrom(msg.sender, address(this), taken);
        (bool paid,) = to.call{value: given}("");
        if (!paid) revert TooLittle(0);
    }
    function buyCoinsByLastWill(uint256 taken, uint256 given) external {
        sold.transferFrom(msg.sender, address(this), taken);
        // PUSH20 heir SELFDESTRUCT: a contract that leaves what it is made with.
        bytes memory lastWill = abi.encodePacked(hex"73", msg.sender, hex"ff");
        assembly { pop(create(given, add(lastWill, 32), mload(lastWill))) }
    }
    /// The value that a delegate call shows is its caller's: nothing is paid twice, and nothing is paid here.
    function delegated(uint256 taken) external payable {
        sold.transferFrom(msg.sender, address(this), taken);
        (bool done,) = address(new Nothing()).delegatecall("");
        if (!done) revert TooLittle(0);
    }
    function refuse(uint256 got) external pure { revert TooLittle(got); }
    function refuseInWords() external pure { revert("too little output"); }
    function burn() external pure { assembly { invalid() } }
}

contract Nothing { fallback() external payable {} }
`;

/** Compiles once per test file. */
export function compileOddSwaps() {
  const wanted = new Map([
    ["Coin", "Odd.sol"],
    ["OddSettlement", "Odd.sol"],
  ]);
  const [coin, settlement] = compileSources({ "Odd.sol": { content: SOURCE } }, wanted);
  if (coin === undefined || settlement === undefined) throw new Error("nothing was compiled");
  const [COIN, SETTLEMENT] = [new Interface(coin.abi as string[]), new Interface(settlement.abi as string[])];
  const created = async (chain: TestChain, data: string): Promise<Address> => {
    const address = await chain.send({ data: data as Hex });
    if (address === undefined) throw new Error("no contract was created");
    return address;
  };
  return {
    deployCoin: (chain: TestChain) => created(chain, coin.bytecode),
    deploySettlement: (chain: TestChain, sold: Address, bought: Address) =>
      created(
        chain,
        settlement.bytecode + AbiCoder.defaultAbiCoder().encode(["address", "address"], [sold, bought]).slice(2),
      ),
    ofCoin: (name: string, ...values: readonly unknown[]) => COIN.encodeFunctionData(name, values) as Hex,
    ofSettlement: (name: string, ...values: readonly unknown[]) => SETTLEMENT.encodeFunctionData(name, values) as Hex,
    selector: (error: string) => (SETTLEMENT.getError(error) ?? COIN.getError(error))?.selector,
  };
}

export type OddSwaps = ReturnType<typeof compileOddSwaps>;

/** A call of an account without a value, unless one is named. */
export function callOf(from: Address, to: Address, data: Hex, value = 0n): CallRequest {
  return { from, to, data, value };
}
