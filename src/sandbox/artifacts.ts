import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { AbiCoder, Interface, type InterfaceAbi } from "ethers";
import { z } from "zod";
import type { Hex } from "../domain/money/address.ts";
import { findUniswapFile } from "./needed-parts.ts";
import { SandboxError } from "./sandbox-error.ts";

/** A compiled contract: how to talk to it, and what to deploy. */
export interface Contract {
  readonly abi: Interface;
  readonly bytecode: Hex;
}

/** The contracts of this project that a sandbox deploys. */
type OwnContract =
  | "SwapdSettlement"
  | "SwapdExecutor"
  | "WrappedNative"
  | "HostileToken"
  | "PermitToken"
  | "DaiPermitToken"
  | "UsdtLikeToken"
  | "OddToken"
  | "GuardedToken"
  | "TokenProxy"
  | "PriceFeed"
  | "PoolMinter"
  | "StablePoolFactory"
  | "StablePool";

const runtimeSchema = z.object({ deployedBytecode: z.string().regex(/^0x[0-9a-fA-F]+$/) });
const artifactSchema = z.object({ abi: z.array(z.unknown()), bytecode: z.string().regex(/^(0x)?[0-9a-fA-F]+$/) });

/** Contracts read so far, by path: parsing Uniswap's artifacts takes longer than deploying them. */
const known = new Map<string, Contract>();

/** @throws SandboxError `CONTRACTS_MISSING` when the artifact is not there */
export function loadContract(name: OwnContract): Contract {
  return readArtifact(join(artifactFolder(), `${name}.json`));
}

/** The code of one of our contracts as it lies on a chain, with zeros where its immutables are. */
export function loadRuntimeCode(name: "SwapdSettlement" | "SwapdExecutor"): Hex {
  const path = join(artifactFolder(), `${name}.json`);
  const { deployedBytecode } = runtimeSchema.parse(JSON.parse(readText(path)));
  return deployedBytecode as Hex;
}

/**
 * Uniswap's own bytecode, from its npm packages.
 * @throws SandboxError `CONTRACTS_MISSING` when they are not installed
 */
export function loadUniswap(
  name: "UniswapV2Factory" | "UniswapV2Pair" | "UniswapV3Factory" | "UniswapV3Pool",
): Contract {
  const path = name.startsWith("UniswapV2")
    ? `@uniswap/v2-core/build/${name}.json`
    : `@uniswap/v3-core/artifacts/contracts/${name}.sol/${name}.json`;
  return readArtifact(findUniswapFile(path));
}

/** Bytecode with its constructor's arguments behind it, ready to be sent. */
export function deployData(contract: Contract, values: readonly unknown[] = []): Hex {
  const encoded = AbiCoder.defaultAbiCoder().encode(contract.abi.deploy.inputs, values);
  return `${contract.bytecode}${encoded.slice(2)}` as Hex;
}

function readArtifact(path: string): Contract {
  const contract = known.get(path) ?? parseArtifact(path);
  known.set(path, contract);
  return contract;
}

function parseArtifact(path: string): Contract {
  const { abi, bytecode } = artifactSchema.parse(JSON.parse(readText(path)));
  const prefixed = bytecode.startsWith("0x") ? bytecode : `0x${bytecode}`;
  return { abi: new Interface(abi as InterfaceAbi), bytecode: prefixed as Hex };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const message = `The compiled contract ${path} cannot be read. Run \`npm run contracts\` to compile it.`;
    throw new SandboxError("CONTRACTS_MISSING", message, { cause: error });
  }
}

/** The source runs from `src/`, the image from `dist/`: both lie next to `contracts/`. */
function artifactFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, "contracts", "artifacts");
}
