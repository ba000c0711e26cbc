import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { type Mutant, mutated, readMutants } from "./mutants.ts";

/** Puts known bugs back, one at a time, each in a copy of the tree, and runs the tests that must notice: `main.ts [--only NAME]... [--every N]`. Ends with 1 when one is missed. */
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true },
    /** each n-th mutant alone, from a start that moves from day to day */
    every: { type: "string", default: "1" },
  },
});

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const COPIES = 2;
const TIMEOUT_MS = 240_000;
const LEFT_OUT = new Set([".git", "node_modules", "dist", "release", "coverage", ".swapd"]);

const report = z.object({ numFailedTests: z.number(), numPassedTests: z.number() });

type Verdict = "caught" | "missed" | "no test ran";

function copyOfTree(): string {
  const copy = mkdtempSync(join(tmpdir(), "swapd-mutant-"));
  for (const entry of readdirSync(ROOT)) {
    if (!LEFT_OUT.has(entry)) cpSync(join(ROOT, entry), join(copy, entry), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  return copy;
}

async function judge(copy: string, mutant: Mutant): Promise<Verdict> {
  const file = join(copy, mutant.file);
  const text = readFileSync(file, "utf8");
  const output = join(copy, "mutant-report.json");
  rmSync(output, { force: true });
  writeFileSync(file, mutated(text, mutant));
  try {
    await runTests(copy, mutant.tests, output);
  } finally {
    writeFileSync(file, text);
  }
  return verdictOf(output);
}

/** A file that the bug keeps from loading shows nothing of its tests: only a test that failed counts. */
function verdictOf(output: string): Verdict {
  let counts: z.infer<typeof report>;
  try {
    counts = report.parse(JSON.parse(readFileSync(output, "utf8")));
  } catch (error) {
    console.error(`no report: ${error instanceof Error ? error.message : String(error)}`);
    return "no test ran";
  }
  if (counts.numFailedTests > 0) return "caught";
  return counts.numPassedTests > 0 ? "missed" : "no test ran";
}

function runTests(copy: string, tests: readonly string[], output: string): Promise<void> {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = ["run", ...tests, "--bail=1", "--reporter=json", `--outputFile=${output}`];
  const child = spawn(process.execPath, [vitest, ...args], { cwd: copy, stdio: "ignore", detached: true });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGKILL");
  };
  const limit = setTimeout(end, TIMEOUT_MS);
  process.once("exit", end);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(limit);
      process.off("exit", end);
      resolve();
    });
  });
}

function chosen(): Mutant[] {
  const all = readMutants();
  if (values.only !== undefined) return all.filter(({ name }) => values.only?.includes(name));
  const every = Number(values.every);
  const today = Math.floor(Date.now() / 86_400_000);
  return all.filter((_, index) => (index + today) % every === 0);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));

const waiting = chosen();
const count = waiting.length;
const missed: string[] = [];

async function work(): Promise<void> {
  const copy = copyOfTree();
  try {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const startedMs = performance.now();
      const verdict = await judge(copy, mutant);
      const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
      console.log(`${verdict.padEnd(11)} ${mutant.name} (${seconds} s): ${mutant.bug}`);
      if (verdict !== "caught") missed.push(mutant.name);
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

await Promise.all(Array.from({ length: COPIES }, () => work()));
console.log(`${count - missed.length} of ${count} mutants caught`);
if (missed.length > 0) {
  console.error(`missed: ${missed.join(", ")}`);
  process.exitCode = 1;
}
