import { createRequire } from "node:module";
import type { Hex } from "../../../src/domain/money/address.ts";

/** The part of Multicall3's published interface that is read with, written for tests: no bytecode of it is shipped. */
const SOURCE = `// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;
contract Multicall3 {
    struct Call3 { address target; bool allowFailure; bytes callData; }
    struct Result { bool success; bytes returnData; }
    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory results) {
        results = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; ++i) {
            (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
            require(calls[i].allowFailure || results[i].success, "Multicall3: call failed");
        }
    }
    function getBlockNumber() external view returns (uint256) { return block.number; }
    function getLastBlockHash() external view returns (bytes32) { return blockhash(block.number - 1); }
    function getCurrentBlockTimestamp() external view returns (uint256) { return block.timestamp; }
}`;

/** Its code, to be put where networks have the original. */
export function multicall3Code(): Hex {
  const solc = createRequire(import.meta.url)("solc");
  const settings = { outputSelection: { "*": { "*": ["evm.deployedBytecode.object"] } } };
  const input = { language: "Solidity", sources: { "Multicall3.sol": { content: SOURCE } }, settings };
  const { contracts } = JSON.parse(solc.compile(JSON.stringify(input)));
  return `0x${contracts["Multicall3.sol"].Multicall3.evm.deployedBytecode.object}`;
}
