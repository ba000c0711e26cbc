import { runCli } from "../../../src/app/cli.ts";
import type { Ended } from "./swapd.ts";

/**
 * Runs a command of `swapd` in this process, as its own process would run it: to load the program takes longer than most
 * commands. Only for those that end by themselves, one at a time: the process has one folder and one environment.
 */
export async function runHere(
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const before = { cwd: process.cwd(), env: { ...process.env } };
  const said = { out: "", err: "" };
  const { write } = process.stderr;
  // What is wrong with the arguments is written there by the package that reads them.
  process.stderr.write = (text) => {
    said.err += String(text);
    return true;
  };
  process.chdir(cwd);
  Object.assign(process.env, { SWAPD_CONFIG: "" }, env);
  try {
    const code = await runCli(["node", "swapd", ...args], {
      out: (text) => {
        said.out += `${text}\n`;
      },
      err: (text) => {
        said.err += `${text}\n`;
      },
      isInteractive: false,
    });
    return { code, ...said };
  } finally {
    process.stderr.write = write;
    process.chdir(before.cwd);
    for (const name of Object.keys(process.env)) if (!(name in before.env)) delete process.env[name];
    Object.assign(process.env, before.env);
  }
}
