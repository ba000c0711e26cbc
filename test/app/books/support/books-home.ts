import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";
import { runCli } from "../../../../src/app/cli.ts";
import type { Address } from "../../../../src/domain/money/address.ts";
import { makeFolder } from "../../../e2e/support/swapd.ts";
import type { Life, Outside } from "../../../support/engine-life.ts";
import { readDryExample } from "../../../support/example-file.ts";
import { live } from "../../../support/old-runs.ts";

/** The database of a life with fills, a configuration on it, and the commands that act on both. */
export interface BooksHome {
  readonly life: Life;
  readonly outside: Outside;
  readonly file: string;
  swapd(...words: string[]): Promise<{ code: number; out: string; err: string }>;
}

/** Lives for some fills. The configuration names the wallet by this address. */
export async function booksHome(wallet: Address | string): Promise<BooksHome> {
  const { life, outside } = await live({ gasless: "never" }, undefined, { seconds: 160 });
  const folder = makeFolder();
  onTestFinished(() => folder.remove());
  for (const name of ["RPC_1", "RPC_2"]) vi.stubEnv(name, "http://127.0.0.1:1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(folder.path, "config/mine.yaml");
  const own = `main: { address: "${wallet}",`;
  writeFileSync(file, readDryExample(folder.path).replace("main: {", own).replace("/data/swapd.db", life.file));
  return { life, outside, file, swapd: async (...words) => await typed([...words, "--config", file]) };
}

async function typed(words: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    isInteractive: false,
  };
  const code = await runCli(["node", "swapd", ...words], terminal);
  return { code, out: out.join("\n"), err: err.join("\n") };
}
