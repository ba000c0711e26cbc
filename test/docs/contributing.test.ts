import { existsSync, readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { runCli } from "../../src/app/cli.ts";
import { CRASH_LABELS } from "../e2e/kill/crash-labels.ts";
import { readMutants } from "../mutants/mutants.ts";
import { CONTRIBUTING_CLAIMS } from "../readme/contributing-claims.ts";
import { readCommands } from "../readme/readme-commands.ts";
import { SUITES } from "../suites.ts";

/** CONTRIBUTING.md, checked against the scripts, flags, labels and files that it names. */

const page = readFileSync("CONTRIBUTING.md", "utf8");
const commands = readCommands(page).map(({ text }) => text);
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

/** What a command says to a script: `npm run test:sim -- --seed 7`. */
interface ScriptCall {
  readonly command: string;
  /** the file that the script runs, where it is one of ours */
  readonly file: string | undefined;
  readonly words: readonly string[];
}

const calls: readonly ScriptCall[] = commands.flatMap((command) => {
  const [, name = "", rest = ""] = /^npm (?:run )?(\S+)(?: -- (.*))?$/.exec(command) ?? [];
  if (name === "" || name === "ci") return [];
  const [, file] = /^node (\S+\.ts)/.exec(scripts[name] ?? "") ?? [];
  return [{ command, file, words: rest.split(" ").filter((word) => word !== "") }];
});

/** What stands behind a flag, wherever the page uses it. */
function valuesOf(flag: string): readonly string[] {
  return calls.flatMap(({ words }) => words.filter((_, index) => words[index - 1] === `--${flag}`));
}

test("it fits on a page, and has the commands that it is there for", () => {
  expect(page.split("\n").length).toBeLessThan(100);
  expect(commands.length).toBeGreaterThan(20);
});

test("each command is checked against a claim, and no claim is about a command that is gone", () => {
  expect(CONTRIBUTING_CLAIMS.map(({ command }) => command).sort()).toEqual([...commands].sort());
  const unsaid = CONTRIBUTING_CLAIMS.filter(({ typed, because }) => typed !== undefined && because === undefined);
  expect(unsaid).toEqual([]);
});

test("each npm script is there", () => {
  const named = [...page.matchAll(/npm run ([\w:-]+)/g)].map(([, name = ""]) => name);
  expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});

test("each flag of a script is one that its file reads", () => {
  const missing = calls.flatMap(({ command, file, words }) => {
    const source = file === undefined ? "" : readFileSync(file, "utf8");
    const flags = words.filter((word) => word.startsWith("--")).map((word) => word.slice(2));
    return flags.filter((flag) => !source.includes(` ${flag}: { type:`)).map((flag) => `${command}: --${flag}`);
  });
  expect(missing).toEqual([]);
});

test("each label, group, mutant, suite and benchmark is one that there is", () => {
  const labels: readonly string[] = Object.values(CRASH_LABELS).flat();
  const mutants = readMutants().map(({ name }) => name);
  expect(valuesOf("label").length * valuesOf("group").length * valuesOf("only").length).toBeGreaterThan(0);
  expect(valuesOf("label").filter((label) => !labels.includes(label))).toEqual([]);
  expect(valuesOf("group").filter((group) => !Object.hasOwn(CRASH_LABELS, group))).toEqual([]);
  expect(valuesOf("only").filter((mutant) => !mutants.includes(mutant))).toEqual([]);
  const lastWords = (script: string) =>
    calls.filter(({ command }) => command.startsWith(script)).map(({ words }) => words.at(-1) ?? "");
  const suites = SUITES.map(({ name }) => name);
  expect(lastWords("npm test").filter((name) => !suites.includes(name))).toEqual([]);
  expect(lastWords("npm run bench").filter((name) => !existsSync(`bench/${name}.ts`))).toEqual([]);
  const long = readFileSync("test/long/main.ts", "utf8");
  expect(lastWords("npm run test:long").filter((name) => !long.includes(`name: "${name}"`))).toEqual([]);
});

test("each file and each title that a command names is there", () => {
  const words = commands.flatMap((command) => command.split(" "));
  const files = words.filter((word) => /^(?:bin|src|test|config|scripts)\//.test(word));
  expect(files.length).toBeGreaterThan(1);
  expect(files.filter((file) => !existsSync(file))).toEqual([]);
  for (const command of commands) {
    const [, file, title] = /^npx vitest run (\S+) -t "([^"]+)"$/.exec(command) ?? [];
    if (file !== undefined) expect(readFileSync(file, "utf8")).toContain(`"${title}`);
  }
});

test("each flag of Node is one that Node knows", () => {
  const flags = commands
    .filter((command) => command.startsWith("npx node "))
    .flatMap((command) => command.slice(0, command.indexOf(" bin/")).split(" "))
    .filter((word) => word.startsWith("--"))
    .map((word) => word.replace(/=.*/, ""));
  expect(flags.length).toBeGreaterThan(0);
  expect(flags.filter((flag) => !process.allowedNodeEnvironmentFlags.has(flag))).toEqual([]);
});

test("each command of swapd is there, with its flags", async () => {
  const typed = commands.flatMap((command) => /(?:npx swapd|bin\/swapd\.js) (\w+)(.*)$/.exec(command)?.slice(1) ?? []);
  expect(typed.length).toBeGreaterThan(10);
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  const terminal = { out: () => undefined, err: () => undefined, isInteractive: false };
  for (let index = 0; index < typed.length; index += 2) {
    const [name = "", rest = ""] = typed.slice(index, index + 2);
    written.length = 0;
    await runCli(["node", "swapd", name, "--help"], terminal);
    expect(written.join(""), name).toContain(`Usage: swapd ${name}`);
    for (const [flag] of rest.matchAll(/--\w+/g)) expect(written.join(""), name).toContain(flag);
  }
  write.mockRestore();
});
