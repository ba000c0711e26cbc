import { createHash } from "node:crypto";
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

/** Which sources the artifacts were compiled from: {@link compiledFrom}, as it was then. */
export const COMPILED_FROM = join(here, "compiled-from.json");

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

/** Programs in Yul, of `lent/`: out of the folder of which forge compiles everything by its own settings. */
const PROGRAMS = ["BatchReader", "TransferProbe", "Hand"] as const;

/** Their code runs by the "paris" rules, so that older networks run it too. */
const PROGRAM_SETTINGS = {
  evmVersion: "paris",
  optimizer: { enabled: true, runs: 10_000 },
  outputSelection: { "*": { "*": ["evm.bytecode.object"] } },
};

const compiledProgram = z.object({ evm: z.object({ bytecode: z.object({ object: z.string().min(1) }) }) });
const compilerPrograms = z.object({ contracts: z.record(z.string(), z.record(z.string(), compiledProgram)) });

/** Code that is lent to an address for the length of one question. */
interface LentCode {
  readonly name: string;
  /** path of its source below `contracts/` */
  readonly source: string;
  readonly code: string;
}

/** @throws Error with the compiler's own messages */
function compileProgram(name: string): LentCode {
  const solc: typeof import("solc") = require("solc");
  const source = `lent/${name}.yul`;
  const sources = { [source]: { content: readFileSync(join(here, source), "utf8") } };
  const output: unknown = JSON.parse(
    solc.compile(JSON.stringify({ language: "Yul", sources, settings: PROGRAM_SETTINGS })),
  );
  const problems = compilerProblems.parse(output).errors.filter(({ severity }) => severity === "error");
  if (problems.length > 0) throw new Error(problems.map((problem) => problem.formattedMessage).join("\n"));
  const program = compilerPrograms.parse(output).contracts[source]?.[name];
  if (program === undefined) throw new Error(`${source} does not define ${name}`);
  return { name, source, code: `0x${program.evm.bytecode.object}` };
}

/**
 * The SHA-256 of each source, by its path below `contracts/`, and the versions of the packages that are compiled with and
 * imported. Reading them takes milliseconds: whoever changed a source hears without a compiler that he has to compile it.
 */
export function compiledFrom(): Readonly<Record<string, string>> {
  const packages = ["solc", "@openzeppelin/contracts"].map((name) => {
    const manifest = z.object({ version: z.string() }).parse(require(`${name}/package.json`));
    return [name, manifest.version];
  });
  const contracts = Object.entries(readSources()).map(([path, { content }]) => [`src/${path}`, content] as const);
  const programs = PROGRAMS.map((name) => [`lent/${name}.yul`, readFileSync(join(here, `lent/${name}.yul`), "utf8")]);
  const digests = [...contracts, ...programs].map(([path = "", content = ""]) => {
    return [path, createHash("sha256").update(content).digest("hex")];
  });
  return Object.fromEntries([...packages, ...digests]);
}

/** Code that nobody deploys, by the file of `src/` that carries it and its name there: no file is read while it runs. */
const LENT: ReadonlyMap<string, ReadonlyMap<string, string>> = new Map([
  [
    "chain/simulation/injected-code.ts",
    new Map([
      ["TrialProbe", "PROBE_CODE"],
      ["TrialSubject", "SUBJECT_CODE"],
    ]),
  ],
  ["chain/at-block/reader-code.ts", new Map([["BatchReader", "READER_CODE"]])],
  [
    "service/tokens/probe-code.ts",
    new Map([
      ["TransferProbe", "PROBE_CODE"],
      ["Hand", "HAND_CODE"],
    ]),
  ],
]);

/** The files of `src/` that carry lent code. */
export function lentCodeFiles(
  artifacts: readonly Artifact[],
): readonly { readonly path: string; readonly text: string }[] {
  const contracts = artifacts.map(({ contractName: name, deployedBytecode: code }) => {
    return { name, source: `src/${CONTRACTS.get(name)}`, code };
  });
  const all: readonly LentCode[] = [...contracts, ...PROGRAMS.map(compileProgram)];
  return [...LENT].map(([file, constants]) => {
    const texts = [...constants].map(([name, constant]) => {
      const lent = all.find((one) => one.name === name);
      if (lent === undefined) throw new Error(`${name} was not compiled`);
      return `\n/** contracts/${lent.source}, compiled. */\nexport const ${constant}: Hex =\n  "${lent.code}";\n`;
    });
    const head = 'import type { Hex } from "../../domain/money/address.ts";\n\n// Written by `npm run contracts`.\n';
    return { path: join(here, "..", "src", file), text: `${head}${texts.join("")}` };
  });
}
