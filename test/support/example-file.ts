import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The mainnet example below a root as one has it before going live: with a keystore, in dry-run, and its own database. */
export function readDryExample(root: string): string {
  return readFileSync(join(root, "config/mainnet.example.yaml"), "utf8")
    .replace(/^mode: paper/m, "mode: dry-run")
    .replace(
      "main: { paper: { USDC: 5000 } }",
      "main: { keystore: { file: /run/secrets/wallet.json }, password: { file: /run/secrets/wallet.pass } }",
    );
}
