import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { z } from "zod";
import { SUITES, type Suite } from "./suites.ts";

/** A suite that takes so many times its budget hangs, and is ended. A machine that is busy with others is no hang. */
const HANGS_AFTER_BUDGETS = 10;

/** `run.ts [--part 2/3] [SUITE...]`: all suites but the long ones, or those that are named; a part takes each third file. */
const { values, positionals } = parseArgs({ allowPositionals: true, options: { part: { type: "string" } } });

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const VITEST = join(ROOT, "node_modules/vitest/vitest.mjs");

/** Ends what runs at this moment, with all that it started. */
const running = new Set<() => void>();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    for (const end of running) end();
    process.exit(130);
  });
}

interface Result {
  readonly suite: Suite;
  readonly seconds: number;
  readonly passed: number;
  readonly skipped: number;
  /** what failed, a line each: the place, and the first line of the reason */
  readonly failures: readonly string[];
}

const assertion = z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()) });

const report = z.object({
  numPassedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number(),
  testResults: z.array(
    z.object({ name: z.string(), status: z.string(), message: z.string(), assertionResults: z.array(assertion) }),
  ),
});

/** Runs one suite and counts its tests. What ends badly without a failed test counts as one: nothing fails unseen. */
async function runSuite(suite: Suite, directory: string): Promise<Result> {
  const file = join(directory, `${suite.name}.json`);
  const log = suite.alongside === undefined ? undefined : join(directory, `${suite.name}.log`);
  const title = `\n== ${suite.name} (budget ${suite.budgetSeconds} s)`;
  console.log(log === undefined ? title : `${title}, alongside the next ones`);
  const startedMs = performance.now();
  const exitCode = await runVitest(suite, file, log);
  if (log !== undefined) process.stdout.write(`${title}, which ran alongside\n${readFileSync(log, "utf8")}`);
  const seconds = (performance.now() - startedMs) / 1_000;
  const counts = readReport(file);
  const isUnseen = counts.failures.length === 0 && exitCode !== 0;
  const unseen = `${suite.name}: ended with ${exitCode}, though no test failed: its output above says why`;
  return { suite, seconds, ...counts, failures: isUnseen ? [unseen] : counts.failures };
}

/** Runs it with the output of this process, or into a file. @returns its exit code */
async function runVitest(suite: Suite, file: string, log: string | undefined): Promise<number> {
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${file}`];
  const part = values.part === undefined ? [] : [`--shard=${values.part}`];
  const output = log === undefined ? "inherit" : openSync(log, "w");
  const child = spawn(process.execPath, [VITEST, "run", "--project", suite.name, ...part, ...reporters], {
    cwd: ROOT,
    stdio: ["ignore", output, output],
    // A group of its own, so that a suite that hangs ends with everything that it started.
    detached: true,
  });
  const endGroup = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  const limit = setTimeout(
    () => {
      console.error(`${suite.name} has taken ${HANGS_AFTER_BUDGETS} times its budget: it hangs and is ended`);
      endGroup();
    },
    suite.budgetSeconds * HANGS_AFTER_BUDGETS * 1_000,
  );
  running.add(endGroup);
  const code = await new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (exitCode) => resolve(exitCode ?? 1));
  });
  clearTimeout(limit);
  if (typeof output === "number") closeSync(output);
  running.delete(endGroup);
  return code;
}

function readReport(file: string): Pick<Result, "passed" | "skipped" | "failures"> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    console.error(`the suite left no report: ${error instanceof Error ? error.message : String(error)}`);
    return { passed: 0, skipped: 0, failures: [] };
  }
  const counts = report.parse(JSON.parse(text));
  return {
    passed: counts.numPassedTests,
    skipped: counts.numPendingTests + counts.numTodoTests,
    failures: counts.testResults.flatMap(failuresOf),
  };
}

function failuresOf({ name, status, message, assertionResults }: z.infer<typeof report>["testResults"][number]) {
  const place = relative(ROOT, name);
  const line = (test: string, reason = "") => `${place}${test}: ${reason.trim().split("\n")[0]}`;
  // A file that could not even be loaded has no tests to fail, and one whose hook failed after them no failed ones.
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0) return status === "failed" ? [line("", message)] : [];
  return failed.map((test) => line(` > ${test.fullName}`, test.failureMessages[0]));
}

function chosenSuites(names: readonly string[]): readonly Suite[] {
  const unknown = names.filter((name) => !SUITES.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    const known = SUITES.map((suite) => suite.name).join(", ");
    throw new Error(`there is no suite ${unknown.join(", ")}; the suites are ${known}`);
  }
  return SUITES.filter((suite) => (names.length === 0 ? isUsual(suite) : names.includes(suite.name)));
}

/** Whether `npm test` runs it. */
function isUsual({ isLong, isWide }: Suite): boolean {
  return isLong !== true && isWide !== true;
}

const directory = mkdtempSync(join(tmpdir(), "swapd-tests-"));
const startedMs = performance.now();
const results: Result[] = [];
try {
  const rest: Promise<Result>[] = [];
  let together: Promise<Result>[] = [];
  for (const suite of chosenSuites(positionals)) {
    const running = runSuite(suite, directory);
    (suite.alongside === "rest" ? rest : together).push(running);
    if (suite.alongside !== undefined) continue;
    results.push(...(await Promise.all(together)));
    together = [];
  }
  results.push(...(await Promise.all([...together, ...rest])));
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const sum = (count: (result: Result) => number): number => results.reduce((total, result) => total + count(result), 0);
const failures = results.flatMap((result) => result.failures);

console.log("");
for (const { suite, seconds, passed, failures, skipped } of results) {
  const over = seconds > suite.budgetSeconds ? "   OVER ITS BUDGET" : "";
  const counts = `${passed} passed, ${failures.length} failed, ${skipped} skipped`;
  console.log(
    `${suite.name.padEnd(10)} ${seconds.toFixed(0).padStart(4)} s of ${suite.budgetSeconds} s   ${counts}${over}`,
  );
}
console.log(`${"all".padEnd(10)} ${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s`);
for (const [index, failure] of failures.entries()) console.log(`${index === 0 ? "\nFailed:\n" : ""}  ${failure}`);
console.log(
  `\n${sum(({ passed }) => passed)} passed, ${failures.length} failed, ${sum(({ skipped }) => skipped)} skipped`,
);
process.exitCode = failures.length === 0 ? 0 : 1;
