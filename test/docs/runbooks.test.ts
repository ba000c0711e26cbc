import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { ALERT_COMMANDS } from "../../src/app/doctor/alert-commands.ts";
import { ALERT_CODES } from "../../src/domain/run/alert-codes.ts";
import { isThereCommand } from "./support/commands.ts";

/** docs/RUNBOOKS.md, and every command that a page for operators tells a reader to type. */

const page = readFileSync("docs/RUNBOOKS.md", "utf8");
const sections = new Map(
  page
    .split("\n## ")
    .slice(1)
    .map((part) => [part.split("\n")[0] ?? "", part] as const),
);
/** Those of many codes together. */
const TOGETHER = ["A denial", "A strategy's own end"];

test("each alert that swapd sends by itself has a runbook, and nothing else has", () => {
  expect([...sections.keys()].filter((title) => !TOGETHER.includes(title))).toEqual([...ALERT_CODES]);
});

test.each([...sections])(
  "%s says what it means, what happens if nothing is done, and what to type first",
  (title, text) => {
    expect(text).toMatch(/\n\n\*\*Means\.\*\* .+\n\n\*\*If nothing is done\.\*\* .+\n\n1\. /);
    const [, first = ""] = /\n1\. `([^`]+)`/.exec(text) ?? [];
    const known: Readonly<Record<string, string>> = ALERT_COMMANDS;
    if (!TOGETHER.includes(title)) expect(first).toBe(known[title]);
  },
);

/** What stands in backticks, or on a line of a block, and is typed as a command of ours. */
function commandsIn(text: string): readonly string[] {
  const prose = text.replaceAll(/```[\s\S]*?```/g, "");
  const inline = [...prose.matchAll(/`(?:npx )?(swapd [a-z][^`\n]*)`/g)].map(([, command = ""]) => command);
  const blocks = [...text.matchAll(/```(\w*)\n([\s\S]*?)\n```/g)]
    .filter(([, language = ""]) => ["", "sh"].includes(language))
    .flatMap(([, , block = ""]) => block.split("\n"));
  const lines = blocks
    .flatMap((line) => line.split(" && "))
    .filter((line) => /^swapd (?!started )[a-z]/.test(line.trim()));
  return [...inline, ...lines].map((command) => command.replace(/\s*#.*$/, "").trim());
}

test("every command that RUNBOOKS, OPERATIONS, MONITORING and their neighbours tell a reader to type is there", async () => {
  const pages = ["RUNBOOKS", "OPERATIONS", "SERVICE", "MONITORING", "KUBERNETES", "SECURITY", "PAPER", "BOOKS"];
  const commands = pages.flatMap((name) => commandsIn(readFileSync(`docs/${name}.md`, "utf8")));
  const missing: string[] = [];
  for (const command of new Set(commands)) if (!(await isThereCommand(command))) missing.push(command);
  expect(missing).toEqual([]);
  expect(new Set(commands).size).toBeGreaterThan(60);
});

test("who rotates the log is said wherever swapd is started by a file of ours", () => {
  const compose = readFileSync("compose.yaml", "utf8");
  const services = compose.split("\nvolumes:")[0]?.match(/^ {4}image: /gm) ?? [];
  expect(compose.match(/^ {4}logging:/gm)).toHaveLength(services.length);
  expect(readFileSync("deploy/swapd.service", "utf8")).toMatch(/journald, which rotates it/);
  expect(globSync("deploy/*").length).toBeGreaterThan(1);
});

test("the unit's head lets the configuration write only where the unit may write, and compose can build each image of ours", () => {
  const unit = readFileSync("deploy/swapd.service", "utf8");
  const [, folders = ""] = /^StateDirectory=(.*)$/m.exec(unit) ?? [];
  const writable = folders.split(" ").map((folder) => `/var/lib/${folder}`);
  const keys = [...unit.matchAll(/^# {3}(database|identity|serve): (?:\{ database: )?(\S+)/gm)];
  expect(keys.map(([, key]) => key)).toEqual(["database", "identity", "serve"]);
  expect(keys.filter(([, , path = ""]) => !writable.some((folder) => `${path}/`.startsWith(`${folder}/`)))).toEqual([]);
  const { services } = parse(readFileSync("compose.yaml", "utf8")) as {
    services: Record<string, { image: string; build?: string }>;
  };
  const ours = Object.values(services).filter(({ image }) => image.startsWith("swapd:"));
  expect(ours.map(({ build }) => build)).toEqual([".", "."]);
});
