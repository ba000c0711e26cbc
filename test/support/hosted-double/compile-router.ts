import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** The compiled router of the double. */
export interface RouterArtifact {
  readonly contractName: "HostedRouter";
  readonly abi: readonly object[];
  readonly bytecode: string;
}

const ARTIFACT = new URL("./contracts/HostedRouter.json", import.meta.url);
const SOURCE = new URL("./contracts/HostedRouter.sol", import.meta.url);

/** Reads the committed artifact. */
export function readRouterArtifact(): RouterArtifact {
  return JSON.parse(readFileSync(ARTIFACT, "utf8")) as RouterArtifact;
}

/** Compiles the router from its source. @throws Error with the compiler's messages */
export function compileRouter(): RouterArtifact {
  const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
  const input = {
    language: "Solidity",
    sources: { "HostedRouter.sol": { content: readFileSync(SOURCE, "utf8") } },
    settings: {
      evmVersion: "cancun",
      optimizer: { enabled: true, runs: 200 },
      metadata: { bytecodeHash: "none" },
      outputSelection: { "*": { HostedRouter: ["abi", "evm.bytecode.object"] } },
    },
  };
  const output = JSON.parse(solc.compile(JSON.stringify(input))) as {
    errors?: { severity: string; formattedMessage: string }[];
    contracts?: Record<string, Record<string, { abi: object[]; evm: { bytecode: { object: string } } }>>;
  };
  const errors = (output.errors ?? []).filter((error) => error.severity === "error");
  const contract = output.contracts?.["HostedRouter.sol"]?.HostedRouter;
  if (errors.length > 0 || contract === undefined) {
    throw new Error(`the router does not compile:\n${errors.map((error) => error.formattedMessage).join("\n")}`);
  }
  return { contractName: "HostedRouter", abi: contract.abi, bytecode: `0x${contract.evm.bytecode.object}` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(ARTIFACT, `${JSON.stringify(compileRouter(), undefined, 1)}\n`);
}
