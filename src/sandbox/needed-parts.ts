import { createRequire } from "node:module";
import { findAnvil } from "./anvil-binary.ts";
import { SandboxError } from "./sandbox-error.ts";

/**
 * Packages that only development installs: their licences (GPL-3.0, BUSL-1.1) are not ours to pass on, so neither the
 * package nor the image of swapd has them. The sandbox reads the bytecode of Uniswap's contracts from them.
 */
const UNISWAP = ["@uniswap/v2-core", "@uniswap/v3-core"];
/** Both packages have the version that the sandbox was made for. */
const UNISWAP_VERSION = "1.0.1";

const requireFromHere = createRequire(import.meta.url);

/**
 * A file of one of Uniswap's packages.
 * @throws SandboxError `CONTRACTS_MISSING` when the package is not installed, with what to do
 */
export function findUniswapFile(path: string): string {
  try {
    return requireFromHere.resolve(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND")) throw error;
    const packages = UNISWAP.map((name) => `${name}@${UNISWAP_VERSION}`).join(" ");
    throw new SandboxError(
      "CONTRACTS_MISSING",
      `The sandbox deploys Uniswap's contracts from the npm packages ${UNISWAP.join(" and ")}, which are not installed: ` +
        "their licences (GPL-3.0, BUSL-1.1) keep them out of the package and the image. Run the sandbox in a checkout " +
        `after \`npm ci\`, or install them alongside swapd: \`npm install ${packages}\`.`,
      { cause: error },
    );
  }
}

/**
 * What is not installed here and the sandbox cannot do without, a sentence each with what to do. A fork brings its
 * exchanges along.
 */
export function missingParts(isFork: boolean): readonly string[] {
  const searches = isFork ? [] : UNISWAP.map((name) => () => findUniswapFile(`${name}/package.json`));
  const sentences = [...searches, () => findAnvil()].flatMap((search) => {
    try {
      search();
      return [];
    } catch (error) {
      if (error instanceof SandboxError) return [error.message];
      throw error;
    }
  });
  return [...new Set(sentences)];
}
