import { vi } from "vitest";
import { runCli } from "../../../src/app/cli.ts";

/** What is no command of ours, and may be named: the machine's own. */
const OF_THE_MACHINE = /^(?:timedatectl|chmod|df|fuser|docker|systemctl|journalctl|cp|mv|ls) /;

/** Commands that have others below them, and are something by themselves. */
const BOTH: ReadonlySet<string> = new Set(["login", "allowances"]);

/** Whether a command can be typed: that it is there, with each of its options. Nothing of it is carried out. */
export async function isThereCommand(command: string): Promise<boolean> {
  if (OF_THE_MACHINE.test(command)) return true;
  const [program, ...words] = command.split(/\s+/);
  if (program !== "swapd") return false;
  const last = words.findIndex((word) => !/^[a-z-]+$/.test(word) || word.startsWith("-"));
  const names = last < 0 ? words : words.slice(0, last);
  // Options of the command above count for those below it.
  const helps: string[] = [];
  for (let depth = 1; depth <= names.length; depth += 1) helps.push(await helpOf(names.slice(0, depth)));
  const [usage = ""] = helps.at(-1)?.split("\n") ?? [];
  const isOwn =
    usage.startsWith(`Usage: swapd ${names[0]}`) && (BOTH.has(words[0] ?? "") || !usage.includes("[command]"));
  const options = words.filter((word) => word.startsWith("--"));
  return isOwn && options.every((option) => helps.some((help) => help.includes(option)));
}

async function helpOf(names: readonly string[]): Promise<string> {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const terminal = { out: () => undefined, err: () => undefined, isInteractive: false };
  await runCli(["node", "swapd", ...names, "--help"], terminal);
  write.mockRestore();
  return written.join("");
}
