import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { makeFolder } from "../e2e/support/swapd.ts";
import { writeWallet } from "./wallet-files.ts";

/** The mainnet example below a root as one has it before going live: with a keystore, in dry-run, and its own database. */
export function readDryExample(root: string): string {
  return readFileSync(join(root, "config/mainnet.example.yaml"), "utf8")
    .replace(/^mode: paper/m, "mode: dry-run")
    .replace(
      "main: { paper: { USDC: 5000 } }",
      "main: { keystore: { file: /run/secrets/wallet.json }, password: { file: /run/secrets/wallet.pass } }",
    );
}

/** The same in a folder of the test's own, of any mode, with a wallet that opens and nodes of which none answers. */
export function makeExampleHome(): { folder: string; file: string; write(mode: "dry-run" | "paper" | "live"): void } {
  const { path: folder, remove } = makeFolder();
  onTestFinished(remove);
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder, "config/mine.yaml");
  writeWallet(join(folder, "config"));
  const example = readDryExample(folder)
    .replaceAll("/run/secrets/", "")
    .replaceAll("/data/", `${folder}/`)
    .replace("/identity", join(folder, "identity"));
  const write = (mode: string): void => writeFileSync(file, example.replace("mode: dry-run", `mode: ${mode}`));
  return { folder, file, write };
}
