import { accessSync, constants, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { SandboxError } from "./sandbox-error.ts";

/** npm's package of the binary, by `process.platform` and `process.arch`. */
const PACKAGE_BY_PLATFORM: Readonly<Record<string, string>> = { "linux x64": "@foundry-rs/anvil-linux-amd64" };

/** The version that the lock file pins, for those who install it by hand. */
const PACKAGE_VERSION = "1.7.1";

const packageSchema = z.object({ bin: z.record(z.string(), z.string()) });

/**
 * Finds the anvil binary: `SWAPD_ANVIL`, then npm's package, then `anvil` on the PATH.
 * @returns an absolute path, or the bare path that `SWAPD_ANVIL` names
 * @throws SandboxError `ANVIL_MISSING` when there is none, with what to do
 */
export function findAnvil(
  environment: Readonly<Record<string, string | undefined>> = process.env,
  platform = `${process.platform} ${process.arch}`,
): string {
  const named = environment.SWAPD_ANVIL;
  if (named !== undefined && named !== "") {
    if (isExecutable(named)) return named;
    throw new SandboxError("ANVIL_MISSING", `SWAPD_ANVIL names ${JSON.stringify(named)}, which is no executable file.`);
  }
  const packaged = packagedAnvil(platform);
  if (packaged !== undefined) return packaged;
  for (const folder of (environment.PATH ?? "").split(delimiter)) {
    const candidate = join(folder, "anvil");
    if (folder !== "" && isExecutable(candidate)) return candidate;
  }
  throw new SandboxError("ANVIL_MISSING", `The sandbox needs the EVM node anvil, and ${whatToInstall(platform)}`);
}

function whatToInstall(platform: string): string {
  const byHand =
    "nstall Foundry 1.7 or later (https://getfoundry.sh), so that anvil is on the PATH, or name the binary in SWAPD_ANVIL.";
  const name = PACKAGE_BY_PLATFORM[platform];
  if (name === undefined) return `npm carries no binary of it for ${platform}. I${byHand}`;
  const command = `npm install ${name}@${PACKAGE_VERSION}`;
  return (
    `npm's binary of it for ${platform} is not installed. In a checkout run \`npm ci\` without leaving optional ` +
    `packages out, elsewhere install it alongside swapd: \`${command}\`. Or i${byHand}`
  );
}

function packagedAnvil(platform: string): string | undefined {
  const name = PACKAGE_BY_PLATFORM[platform];
  if (name === undefined) return undefined;
  let manifestPath: string;
  try {
    manifestPath = createRequire(import.meta.url).resolve(`${name}/package.json`);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
  const manifest = packageSchema.parse(JSON.parse(readFileSync(manifestPath, "utf8")));
  const binary = manifest.bin.anvil;
  if (binary === undefined) return undefined;
  const path = join(dirname(manifestPath), binary);
  return isExecutable(path) ? path : undefined;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Absent or not executable: for a search both mean "go on".
    return false;
  }
}
