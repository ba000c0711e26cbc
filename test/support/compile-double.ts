import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Interface, type InterfaceAbi } from "ethers";
import type { Hex } from "../../src/domain/money/address.ts";
import type { Contract } from "../../src/sandbox/artifacts.ts";

const CACHE = join(import.meta.dirname, "../../node_modules/.cache/doubles");
const require = createRequire(import.meta.url);

/** The compiled contracts by file and name. */
type Compiled = Record<string, Record<string, { abi: InterfaceAbi; evm: { bytecode: { object: string } } }>>;

interface Output {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Compiled;
}

/**
 * The contracts of a double, by their names. They are compiled once for each state of their sources.
 * @param folder beside this file, with the double's sources
 */
export function loadDouble(folder: string): (name: string) => Contract {
  const compiled = compile(join(import.meta.dirname, folder));
  return (name) => {
    const found = Object.values(compiled).find((file) => file[name] !== undefined)?.[name];
    if (found === undefined) throw new Error(`there is no contract called ${name} in ${folder}`);
    return { abi: new Interface(found.abi), bytecode: `0x${found.evm.bytecode.object}` as Hex };
  };
}

function compile(folder: string): Compiled {
  const files = readdirSync(folder).filter((file) => file.endsWith(".sol"));
  const sources = Object.fromEntries(
    files.map((file) => [file, { content: readFileSync(join(folder, file), "utf8") }]),
  );
  const settings = {
    evmVersion: "cancun",
    optimizer: { enabled: true, runs: 200 },
    metadata: { bytecodeHash: "none" },
    outputSelection: Object.fromEntries(files.map((file) => [file, { "*": ["abi", "evm.bytecode.object"] }])),
  };
  const input = JSON.stringify({ language: "Solidity", sources, settings });
  const kept = join(CACHE, `${createHash("sha256").update(input).digest("hex")}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, "utf8"));
  const made = contractsOf(input);
  mkdirSync(CACHE, { recursive: true });
  // Test files run beside each other: none must read what another has half written.
  const own = `${kept}.${process.pid}`;
  writeFileSync(own, JSON.stringify(made));
  renameSync(own, kept);
  return made;
}

/** @throws Error with the compiler's messages */
function contractsOf(input: string): Compiled {
  const solc: typeof import("solc") = require("solc");
  // The mathematics of Uniswap's curve, in its own sources.
  const readImport = (path: string) => ({ contents: readFileSync(require.resolve(path), "utf8") });
  const { errors = [], contracts } = JSON.parse(solc.compile(input, { import: readImport })) as Output;
  const wrong = errors.filter(({ severity }) => severity === "error");
  if (wrong.length > 0 || contracts === undefined) {
    throw new Error(wrong.map(({ formattedMessage }) => formattedMessage).join("\n"));
  }
  return contracts;
}
