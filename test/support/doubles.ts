import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Interface, type InterfaceAbi } from "ethers";
import { type Artifact, compileSources } from "../../contracts/compile.ts";
import type { Hex } from "../../src/domain/money/address.ts";
import type { Contract } from "../../src/sandbox/artifacts.ts";

const FOLDER = join(import.meta.dirname, "../../contracts/doubles");
const CACHE = join(import.meta.dirname, "../../node_modules/.cache/doubles");

/** Contracts of others of which no package has the bytecode, written anew for tests, by the file that they are in. */
const DOUBLES: ReadonlyMap<string, string> = new Map([
  ["PancakePoolDeployer", "Pancake.sol"],
  ["PancakePairFactory", "Pancake.sol"],
  ["PancakeHand", "Pancake.sol"],
  ["PancakeRouter", "PancakeRouter.sol"],
  ["V4Hand", "UniswapV4.sol"],
]);

let compiled: ReadonlyMap<string, Contract> | undefined;

/** A double by its name. They are compiled once for each state of their sources. */
export function loadDouble(name: string): Contract {
  compiled ??= new Map(artifacts().map(({ contractName, abi, bytecode }) => [contractName, contractOf(abi, bytecode)]));
  const contract = compiled.get(name);
  if (contract === undefined) throw new Error(`there is no double called ${name}`);
  return contract;
}

function contractOf(abi: readonly unknown[], bytecode: string): Contract {
  return { abi: new Interface(abi as InterfaceAbi), bytecode: bytecode as Hex };
}

function artifacts(): readonly Artifact[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith(".sol"));
  const sources = Object.fromEntries(
    files.map((file) => [file, { content: readFileSync(join(FOLDER, file), "utf8") }]),
  );
  const state = createHash("sha256")
    .update(JSON.stringify([sources, [...DOUBLES]]))
    .digest("hex");
  const kept = join(CACHE, `${state}.json`);
  if (existsSync(kept)) return JSON.parse(readFileSync(kept, "utf8"));
  const made = compileSources(sources, DOUBLES);
  mkdirSync(CACHE, { recursive: true });
  // Test files run beside each other: none must read what another has half written.
  const own = `${kept}.${process.pid}`;
  writeFileSync(own, JSON.stringify(made));
  renameSync(own, kept);
  return made;
}
