import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { z } from "zod";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");

/** The forge that npm installed for this platform, if there is one. */
function forgeBinary(): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve("@foundry-rs/forge-linux-amd64/package.json");
    const path = join(dirname(manifest), "bin", "forge");
    return existsSync(path) ? path : undefined;
  } catch (error) {
    // An optional package: npm leaves it out on other platforms.
    if (error instanceof Error && "code" in error && error.code === "MODULE_NOT_FOUND") return undefined;
    throw error;
  }
}

interface ForgeRun {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

function runForge(binary: string, args: string[]): Promise<ForgeRun> {
  // The compiler's wrapper runs on the Node that runs this test.
  const path = `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ""}`;
  const env = {
    ...process.env,
    PATH: path,
    FOUNDRY_CONFIG: join("contracts", "foundry.toml"),
    FOUNDRY_FUZZ_RUNS: String(FUZZ_RUNS),
    FOUNDRY_INVARIANT_RUNS: String(INVARIANT_RUNS),
    // its advice belongs to anyone who writes contracts
    FOUNDRY_LINT_LINT_ON_BUILD: "false",
  };
  const child = spawn(binary, args, { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
  });
}

/** Random arguments for each test that takes some. */
const FUZZ_RUNS = 256;

/**
 * Random games in each campaign: those of `.ci/run`. `npm run contracts:test` plays eight times as many,
 * `npm run contracts:siege` for half an hour.
 */
const INVARIANT_RUNS = 32;

/** Of a campaign of random actions: how many sequences, actions in all, and actions that reverted. */
const campaign = z.object({ runs: z.number(), calls: z.number(), reverts: z.number() });
const result = z.object({
  status: z.string(),
  reason: z.string().nullish(),
  kind: z.object({ Invariant: campaign.optional() }),
});
const suites = z.record(z.string(), z.object({ test_results: z.record(z.string(), result) }));

const binary = forgeBinary();
if (binary === undefined) {
  console.warn(
    `forge is not packaged for ${process.platform}-${process.arch}: the contracts' fuzz tests do not run here`,
  );
}

test.skipIf(binary === undefined)(
  "the contracts hold against forged, hostile and random orders (forge)",
  {
    timeout: 600_000,
  },
  async () => {
    const run = await runForge(binary ?? "", ["test", "--json"]);
    expect(run.exitCode, `${run.stderr}\n${run.stdout.slice(0, 20_000)}`).toBe(0);
    const results = Object.values(suites.parse(JSON.parse(run.stdout))).flatMap((s) => Object.entries(s.test_results));
    expect(results.filter(([, result]) => result.status !== "Success")).toEqual([]);
    expect(results.length).toBeGreaterThan(0);
    const campaigns = results.filter(([name]) => name.startsWith("invariant_"));
    expect(campaigns.length).toBeGreaterThan(0);
    // an action that reverts tries nothing
    for (const [name, { kind }] of campaigns) {
      expect(kind.Invariant, name).toMatchObject({ runs: INVARIANT_RUNS, calls: INVARIANT_RUNS * 128, reverts: 0 });
    }
  },
);
