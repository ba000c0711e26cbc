import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";
import { ROOT } from "./support/repository.ts";

const BIOME = join(ROOT, "node_modules/@biomejs/biome/bin/biome");

const PORT = `export interface Port {
  ask(): Promise<boolean>;
}
`;

/** The port is in a file of its own: that a call returns a promise shows by its type alone. */
function lint(body: string): readonly string[] {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, "src"));
  copyFileSync(join(ROOT, "biome.json"), join(directory, "biome.json"));
  writeFileSync(join(directory, "src/port.ts"), PORT);
  const head = 'import type { Port } from "./port.ts";\n\nexport async function use(port: Port): Promise<void> {\n';
  writeFileSync(join(directory, "src/use.ts"), `${head}  ${body}\n}\n`);
  const run = spawnSync(process.execPath, [BIOME, "lint", "--vcs-enabled=false", "--reporter=github", "src"], {
    cwd: directory,
    encoding: "utf8",
  });
  return [...run.stdout.matchAll(/title=lint\/(\w+\/\w+)/g)].map(([, rule]) => rule ?? "");
}

test.each([
  ["awaited", "await port.ask();", []],
  ["left alone", "port.ask();", ["nursery/noFloatingPromises"]],
  ["taken for its answer", "if (port.ask()) return;", ["nursery/noMisusedPromises"]],
  ["given where nobody waits", "[1].forEach(async () => void (await port.ask()));", ["nursery/noMisusedPromises"]],
])("a promise that is %s is found as such by the linter", (_, body, rules) => {
  expect(lint(body)).toEqual(rules);
});
