import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { InterfaceAbi } from "ethers";

/** A contract as it is deployed. */
export interface Compiled {
  readonly abi: InterfaceAbi;
  readonly bytecode: string;
}

const FILE = "Desk.sol";

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Record<string, Record<string, { abi: object[]; evm: { bytecode: { object: string } } }>>;
}

/** Compiles the double's contracts. @throws Error with the compiler's messages */
export function compileDesk(): (name: "Vault" | "Desk" | "Book") => Compiled {
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const input = {
    language: "Solidity",
    sources: { [FILE]: { content: readFileSync(new URL(FILE, import.meta.url), "utf8") } },
    settings: {
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const { errors = [], contracts } = JSON.parse(solc.compile(JSON.stringify(input))) as Output;
  return (name) => {
    const contract = contracts?.[FILE]?.[name];
    if (contract === undefined) {
      throw new Error(`${name} does not compile:\n${errors.map((error) => error.formattedMessage).join("\n")}`);
    }
    return { abi: contract.abi as InterfaceAbi, bytecode: `0x${contract.evm.bytecode.object}` };
  };
}
