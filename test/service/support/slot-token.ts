import { createRequire } from "node:module";
import { AbiCoder, Interface } from "ethers";
import type { Address, Hex } from "../../../src/domain/money/address.ts";
import type { TestChain } from "./chain.ts";
import type { Exchange } from "./exchange.ts";

/** Where a token may keep its balances and allowances. */
const KEEPINGS = [
  // OpenZeppelin 5: the namespace of ERC-7201
  "namespaced",
  // variables 3 and 4 of a Vyper contract
  "vyper",
  // variables that no list of usual places has
  "far",
  // in a contract alongside the token
  "remote",
  // with the flag of a blocked account in the highest bit
  "flagged",
  // each amount doubled, so that no word is what the view says
  "doubled",
  // as usual tokens do, with far more gas for a transfer than is counted of any
  "costly",
] as const;
export type Keeping = (typeof KEEPINGS)[number];

/** An ordinary token but for where it keeps what; written for tests, in a few words. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;
contract Words {
    mapping(bytes32 => uint256) public word;
    function set(bytes32 key, uint256 value) external { word[key] = value; }
}
contract SlotToken {
    uint8 public constant decimals = 18;
    uint256 private constant FLAG = 1 << 255;
    bytes32 private constant ROOT = 0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00;
    uint256 private immutable keeping;
    Words private immutable words = new Words();
    constructor(uint256 keeping_) { keeping = keeping_; }
    function place(uint256 base, address account) private view returns (bytes32) {
        return keeping == 1 ? keccak256(abi.encode(base, account)) : keccak256(abi.encode(account, base));
    }
    function base(uint256 nth) private view returns (uint256) {
        if (keeping == 0) return uint256(ROOT) + nth;
        return keeping == 2 ? 7000 + nth : 3 + nth;
    }
    function allowancePlace(address owner, address spender) private view returns (bytes32) {
        return place(uint256(place(base(1), owner)), spender);
    }
    function load(bytes32 key) private view returns (uint256 value) {
        if (keeping == 3) return words.word(key);
        assembly { value := sload(key) }
    }
    function store(bytes32 key, uint256 value) private {
        if (keeping == 3) return words.set(key, value);
        assembly { sstore(key, value) }
    }
    function amount(bytes32 key) private view returns (uint256) {
        uint256 value = load(key) & ~FLAG;
        return keeping == 5 ? value / 2 : value;
    }
    function setAmount(bytes32 key, uint256 value) private {
        store(key, (load(key) & FLAG) | (keeping == 5 ? value * 2 : value));
    }
    function balanceOf(address owner) public view returns (uint256) { return amount(place(base(0), owner)); }
    function allowance(address owner, address spender) public view returns (uint256) {
        return amount(allowancePlace(owner, spender));
    }
    function mint(address to, uint256 value) external { setAmount(place(base(0), to), balanceOf(to) + value); }
    function setBlocked(address account) external {
        bytes32 key = place(base(0), account);
        store(key, load(key) | FLAG);
    }
    function approve(address spender, uint256 value) external returns (bool) {
        setAmount(allowancePlace(msg.sender, spender), value);
        return true;
    }
    function transfer(address to, uint256 value) external returns (bool) { return move(msg.sender, to, value); }
    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        setAmount(allowancePlace(from, msg.sender), allowance(from, msg.sender) - value);
        return move(from, to, value);
    }
    function move(address from, address to, uint256 value) private returns (bool) {
        // Anyone who is blocked gets nearly half a megabyte of reasons.
        if (load(place(base(0), from)) & FLAG != 0) assembly { revert(0, 400000) }
        if (keeping == 6) for (uint256 end = gasleft() - 500000; gasleft() > end;) {}
        setAmount(place(base(0), from), balanceOf(from) - value);
        setAmount(place(base(0), to), balanceOf(to) + value);
        return true;
    }
}
contract Proxy {
    // ERC-1967's own place
    bytes32 private constant SLOT = 0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc;
    constructor(address implementation) { assembly { sstore(SLOT, implementation) } }
    fallback() external payable {
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(SLOT), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            switch done case 0 { revert(0, returndatasize()) } default { return(0, returndatasize()) }
        }
    }
}`;

const TOKEN = new Interface([
  "function mint(address to, uint256 value)",
  "function setBlocked(address account)",
  "function approve(address spender, uint256 value)",
]);

/** Compiles once per test file. */
export function compileSlotTokens() {
  const solc = createRequire(import.meta.url)("solc");
  const settings = { evmVersion: "cancun", outputSelection: { "*": { "*": ["evm.bytecode.object"] } } };
  const input = { language: "Solidity", sources: { "SlotToken.sol": { content: SOURCE } }, settings };
  const { contracts, errors } = JSON.parse(solc.compile(JSON.stringify(input)));
  const problems = (errors ?? []).filter((error: { severity: string }) => error.severity === "error");
  if (problems.length > 0) throw new Error(JSON.stringify(problems));
  const code = (name: string): string => contracts["SlotToken.sol"][name].evm.bytecode.object;
  const coder = AbiCoder.defaultAbiCoder();
  return {
    /** A token with plenty of it at the deployer, allowed to the minter and the settlement. */
    async deploy(chain: TestChain, exchange: Exchange, keeping: Keeping, isProxy = false): Promise<Address> {
      const values = coder.encode(["uint256"], [KEEPINGS.indexOf(keeping)]).slice(2);
      let token = await created(chain, `0x${code("SlotToken")}${values}`);
      if (isProxy) token = await created(chain, `0x${code("Proxy")}${coder.encode(["address"], [token]).slice(2)}`);
      await chain.send({ to: token, data: encode("mint", [chain.deployer, 10n ** 30n]) });
      for (const spender of [exchange.minter, exchange.settlement]) {
        await chain.send({ to: token, data: encode("approve", [spender, 10n ** 40n]) });
      }
      return token;
    },
    async block(chain: TestChain, token: Address, account: Address): Promise<void> {
      await chain.send({ to: token, data: encode("setBlocked", [account]) });
    },
  };
}

async function created(chain: TestChain, data: Hex): Promise<Address> {
  const address = await chain.send({ data });
  if (address === undefined) throw new Error("no contract was created");
  return address;
}

function encode(method: string, values: readonly unknown[]): Hex {
  return TOKEN.encodeFunctionData(method, values) as Hex;
}
