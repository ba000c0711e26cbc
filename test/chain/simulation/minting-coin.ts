import { Interface } from "ethers";
import { compileSources } from "../../../contracts/compile.ts";
import type { Hex } from "../../../src/domain/money/address.ts";
import type { Contract } from "../../../src/sandbox/artifacts.ts";

/** Wraps native coins like everybody's, and says so by transfers from and to the zero address. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

contract MintingCoin {
    mapping(address owner => uint256) public balanceOf;
    mapping(address owner => mapping(address spender => uint256)) public allowance;
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    receive() external payable { deposit(); }
    function deposit() public payable {
        balanceOf[msg.sender] += msg.value;
        emit Transfer(address(0), msg.sender, msg.value);
    }
    function withdraw(uint256 value) external {
        balanceOf[msg.sender] -= value;
        emit Transfer(msg.sender, address(0), value);
        (bool done,) = msg.sender.call{value: value}("");
        require(done);
    }
    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }
    function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }
    function move(address from, address to, uint256 value) private returns (bool) {
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
        return true;
    }
}
`;

/** Compiles once per test file. */
export function compiledMintingCoin(): Contract {
  const [coin] = compileSources({ "Minting.sol": { content: SOURCE } }, new Map([["MintingCoin", "Minting.sol"]]));
  if (coin === undefined) throw new Error("nothing was compiled");
  return { abi: new Interface(coin.abi as string[]), bytecode: coin.bytecode as Hex };
}
