import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** A compiled contract, as it is stored in `artifacts/<contractName>.json`. Byte strings are 0x-prefixed hex. */
export interface Artifact {
  contractName: string;
  abi: unknown[];
  bytecode: string;
  deployedBytecode: string;
}

/** Contracts whose artifacts are committed: those that are deployed, called or lent. */
const CONTRACTS: ReadonlyMap<string, string> = new Map([
  ["SwapdExecutor", "SwapdExecutor.sol"],
  ["SwapdSettlement", "SwapdSettlement.sol"],
  ["DaiPermitToken", "sandbox/DaiPermitToken.sol"],
  ["GuardedToken", "sandbox/GuardedToken.sol"],
  ["HostileToken", "sandbox/HostileToken.sol"],
  ["OddToken", "sandbox/OddToken.sol"],
  ["PermitToken", "sandbox/PermitToken.sol"],
  ["PoolMinter", "sandbox/PoolMinter.sol"],
  ["PriceFeed", "sandbox/PriceFeed.sol"],
  ["StablePool", "sandbox/StablePool.sol"],
  ["StablePoolFactory", "sandbox/StablePoolFactory.sol"],
  ["TokenProxy", "sandbox/TokenProxy.sol"],
  ["UsdtLikeToken", "sandbox/UsdtLikeToken.sol"],
  ["WrappedNative", "sandbox/WrappedNative.sol"],
  ["TrialProbe", "trial/TrialProbe.sol"],
  ["TrialSubject", "trial/TrialSubject.sol"],
]);

/**
 * Without the metadata hash, which covers comments and paths, equal code gives equal bytes everywhere. The fuzz tests
 * deploy what is committed, whatever they are compiled with themselves.
 */
const SETTINGS = {
  evmVersion: "cancun",
  viaIR: false,
  optimizer: { enabled: true, runs: 10_000 },
  metadata: { bytecodeHash: "none" },
  outputSelection: { "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] } },
};

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

/** Where the compiled contracts are kept. */
export const ARTIFACTS_DIRECTORY = join(here, "artifacts");

const compiledContract = z.object({
  abi: z.array(z.unknown()),
  evm: z.object({ bytecode: z.object({ object: z.string() }), deployedBytecode: z.object({ object: z.string() }) }),
});
const compilerProblems = z.object({
  errors: z
    .array(
      z.object({
        severity: z.string(),
        formattedMessage: z.string(),
        sourceLocation: z.object({ file: z.string() }).optional(),
      }),
    )
    .default([]),
});
const compilerContracts = z.object({ contracts: z.record(z.string(), z.record(z.string(), compiledContract)) });

/** Sources by the path under which they import each other. */
type Sources = Readonly<Record<string, { readonly content: string }>>;

function readSources(): Sources {
  const root = join(here, "src");
  const paths = readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".sol"))
    .map((path) => path.replaceAll("\\", "/"))
    .sort();
  return Object.fromEntries(paths.map((path) => [path, { content: readFileSync(join(root, path), "utf8") }]));
}

function readImport(path: string): { contents: string } | { error: string } {
  if (!path.startsWith("@openzeppelin/"))
    return { error: `only @openzeppelin/ is imported from packages, not ${path}` };
  return { contents: readFileSync(require.resolve(path), "utf8") };
}

/**
 * Compiles the contracts of `src/` with the compiler from npm.
 * @throws Error with the compiler's own messages when the sources do not compile, or warn
 */
export function compileContracts(): Artifact[] {
  return compileSources(readSources(), CONTRACTS);
}

/** The same of other sources. @param wanted contracts by their names, each with the path of its source */
export function compileSources(sources: Sources, wanted: ReadonlyMap<string, string>): Artifact[] {
  const solc: typeof import("solc") = require("solc");
  const input = JSON.stringify({ language: "Solidity", sources, settings: SETTINGS });
  const output: unknown = JSON.parse(solc.compile(input, { import: readImport }));
  // Warnings about a package's own sources are its authors' business; ours must have none.
  const problems = compilerProblems
    .parse(output)
    .errors.filter(
      ({ severity, sourceLocation }) => severity === "error" || !sourceLocation?.file.startsWith("@openzeppelin/"),
    );
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join("\n"));
  const { contracts } = compilerContracts.parse(output);
  return [...wanted].map(([contractName, source]) => {
    const contract = contracts[source]?.[contractName];
    if (contract === undefined) throw new Error(`${source} does not define ${contractName}`);
    return {
      contractName,
      abi: contract.abi,
      bytecode: `0x${contract.evm.bytecode.object}`,
      deployedBytecode: `0x${contract.evm.deployedBytecode.object}`,
    };
  });
}

/** The text of an artifact file: stable, so that a change of the file is a change of the contract. */
export function artifactText(artifact: Artifact): string {
  return `${JSON.stringify(artifact, null, 2)}\n`;
}

/** Code that nobody deploys: the chain client lends it to addresses for the length of one question. */
const LENT: ReadonlyMap<string, string> = new Map([
  ["TrialProbe", "PROBE_CODE"],
  ["TrialSubject", "SUBJECT_CODE"],
]);

/** The file of the chain client that carries it: it reads no files while it runs. */
export const LENT_CODE_FILE = join(here, "..", "src", "chain", "try-out", "lent-code.ts");

/** The text of that file. */
export function lentCodeText(artifacts: readonly Artifact[]): string {
  const constants = [...LENT].map(([contract, constant]) => {
    const artifact = artifacts.find(({ contractName }) => contractName === contract);
    if (artifact === undefined) throw new Error(`${contract} was not compiled`);
    const source = `contracts/src/${CONTRACTS.get(contract)}`;
    return `\n/** ${source}, compiled. */\nexport const ${constant}: Hex =\n  "${artifact.deployedBytecode}";\n`;
  });
  return `import type { Hex } from "../../domain/money/address.ts";\n\n// Written by \`npm run contracts\`.\n${constants.join("")}`;
}
