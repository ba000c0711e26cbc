import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import ts from "typescript";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/temporary-directory.ts";

/** The worked example of docs/WRITING-A-KIND.md, built from nothing but the page, in a copy of the project. */

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readFileSync(join(ROOT, "docs/WRITING-A-KIND.md"), "utf8");

/** A file's name in bold, and the block of code that follows it. */
const FILE = /^\*\*([\w./-]+)\*\*\n\n(`{3,})(\w+)\n([\s\S]*?)^\2$/gm;

interface Block {
  readonly path: string;
  readonly language: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...PAGE.matchAll(FILE)].map(
  ([, path = "", , language = "", text = ""]): Block => ({ path, language, text }),
);
const written = blocks.filter(({ language }) => language !== "diff");
const code = blocks.map(({ path }) => path).filter((path) => path.endsWith(".ts"));
const kindTests = code.filter((path) => path.endsWith(".test.ts"));

/** Files of the project that name the type of all kinds: one that asks which kind it is would have to know the new one. */
const KNOW_KINDS = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" })
  .map((name) => `src/${name}`)
  .filter((path) => path.endsWith(".ts") && /\bStrategySpec\b/.test(readFileSync(join(ROOT, path), "utf8")));

/** Adds the lines of a hunk behind those that it shows of the file; they must stand there, once. */
function patched(path: string, text: string, diff: string): string {
  return diff
    .split("@@\n")
    .filter((hunk) => hunk !== "")
    .reduce((patching, hunk) => {
      const lines = hunk.trimEnd().split("\n");
      const shown = lines.filter((line) => line.startsWith(" ")).map((line) => `${line.slice(1)}\n`);
      const places = patching.split(shown.join("")).length - 1;
      if (places !== 1) throw new Error(`${path} holds ${places} times what the page shows of it:\n${shown.join("")}`);
      return patching.replace(shown.join(""), () => lines.map((line) => `${line.slice(1)}\n`).join(""));
    }, text);
}

/** A copy of the project with the example in it, as a reader of the page would end up with. */
function build(): string {
  const folder = temporaryDirectory();
  for (const name of ["src", "test", "docs", "config", "package.json", "tsconfig.json", "biome.json", ".gitignore"]) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const { path, language, text } of blocks) {
    const target = join(folder, path);
    if (language === "diff") {
      writeFileSync(target, patched(path, readFileSync(target, "utf8"), text));
    } else {
      if (existsSync(target)) throw new Error(`${path} is part of the project: the example needs a name of its own`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
  }
  return folder;
}

/** Runs a script of a package in the copy. @returns its exit code and all that it printed */
function run(folder: string, script: string, ...args: readonly string[]): { status: number | null; output: string } {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    encoding: "utf8",
    env,
  });
  return { status, output: stdout + stderr };
}

/** A compiler beside other tests on two cores: it takes six seconds when it is alone. */
const LONG = { timeout: 90_000 };
const BIOME = "node_modules/@biomejs/biome/bin/biome";

/** Compiles in the copy, under the project's own settings, the example and all files that know of kinds. */
function compile(folder: string, before?: ts.Program): ts.Program {
  const { config } = ts.readConfigFile(join(folder, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, folder);
  const roots = [...new Set([...code, ...KNOW_KINDS])].map((path) => join(folder, path));
  return ts.createProgram(roots, options, undefined, before);
}

/** What is wrong with the types of these files; what they import is checked by `npm run check`, and parsed only. */
function problemsOf(program: ts.Program): readonly string[] {
  return program.getRootFileNames().flatMap((name) => {
    const file = program.getSourceFile(name);
    if (file === undefined) throw new Error(`${name} is not part of the program`);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ messageText }) => `${basename(name)}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`,
    );
  });
}

/** Loads the example's YAML as the daemon does and decides with it: once fresh, once after a fill. */
const DECIDE = `
import { loadConfiguration } from "./src/config/load-configuration.ts";
import { jsonSchemas } from "./src/config/json-schemas.ts";
import { formatProblems } from "./src/config/problem.ts";
import { decideStrategy, initialStrategyMemory, strategyRunEnded } from "./src/domain/strategy/strategy.ts";

const outcome = loadConfiguration("main.yaml", {});
if (!outcome.ok) {
  process.stdout.write(formatProblems(outcome.problems, process.cwd()));
  process.exit(1);
}
const [{ spec }] = outcome.configuration.strategies;
const { token } = spec.sell;
const nothing = new Map();
const view = {
  slotMs: 0, slots: 1, nowMs: 0, instants: 1,
  free: new Map([[token.address, 60_000_000n]]), balances: nothing, prices: nothing,
  spent: nothing, bought: nothing, outside: nothing, bars: nothing,
};
const told = (memory) => {
  const { outcome: { kind, swaps, detail } } = decideStrategy(spec, view, memory);
  return { kind, detail, swaps: swaps.map(({ sell, buy, amount }) => [sell.symbol, buy.symbol, String(amount.raw)]) };
};
const first = initialStrategyMemory(spec);
const swap = { position: 0, sell: token, buy: spec.buy[0], sold: 50_000_000n, bought: 1n, reason: undefined };
const { memory } = strategyRunEnded(spec, first, { slotMs: 0, nowMs: 0, filled: true, swaps: [swap] });
const known = JSON.stringify(jsonSchemas()["strategies/strategy.schema.json"]).includes('"const":"take-turns"');
process.stdout.write(JSON.stringify({ id: spec.id, known, first: told(first), next: told(JSON.parse(JSON.stringify(memory))) }));
`;

const MAIN = `version: 1
network: { name: base, rpc: [{ env: RPC_1 }] }
service: { profile: swapd, url: embedded, settlement: "0x1111111111111111111111111111111111111111" }
wallets:
  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }
tokens:
  USDC: { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, feed: preset }
  WETH: { address: "0x4200000000000000000000000000000000000006", decimals: 18, feed: preset }
  WBTC:
    address: "0x3333333333333333333333333333333333333333"
    decimals: 8
    feed: { address: "0x4444444444444444444444444444444444444444", heartbeat: 1h }
policy: policy.yaml
strategies: strategies/sandbox
`;

function writeProject(folder: string): void {
  const policy = readFileSync(join(folder, "config/policy.example.yaml"), "utf8");
  writeFileSync(join(folder, "policy.yaml"), policy.replace(/^tokens: .*$/m, "tokens: [USDC, WETH, WBTC]"));
  writeFileSync(join(folder, "decide.ts"), DECIDE);
  writeFileSync(join(folder, "main.yaml"), MAIN);
  writeFileSync(join(folder, "wallet.json"), JSON.stringify({ version: 3, address: "70".repeat(20), crypto: {} }));
}

test("the page shows each file of a kind, and changes none but the lists and the entry page", () => {
  expect(written.map(({ path }) => path)).toEqual([
    "strategies/sandbox/even-split.yaml",
    "src/domain/strategy/take-turns.ts",
    "src/config/strategy/take-turns.ts",
    "docs/strategies/take-turns.md",
    "test/domain/strategy/take-turns.test.ts",
    "test/config/take-turns-file.test.ts",
  ]);
  expect(blocks.filter(({ language }) => language === "diff").map(({ path }) => path)).toEqual([
    "src/domain/strategy/spec.ts",
    "src/domain/strategy/strategy.ts",
    "src/config/strategy/kinds.ts",
    "docs/STRATEGIES.md",
  ]);
});

test("the example has the project's types and format, and a changed interface is noticed here first", LONG, () => {
  const folder = build();
  const biome = run(folder, BIOME, "ci", "--colors=off", "--vcs-enabled=false", ...code);
  expect(biome, biome.output).toMatchObject({ status: 0 });
  const program = compile(folder);
  expect(problemsOf(program)).toEqual([]);

  const file = join(folder, "src/domain/strategy/kind.ts");
  writeFileSync(file, readFileSync(file, "utf8").replace("  needs(", "  wants("));
  expect(problemsOf(compile(folder, program))).toContainEqual(
    expect.stringMatching(/^take-turns.ts: .*'needs' does not/),
  );
});

test("the example's own tests pass, and hold each of its numbered rules", () => {
  const folder = build();
  const vitest = run(folder, "node_modules/vitest/vitest.mjs", "run", ...kindTests, "test/docs/strategies.test.ts");
  expect(vitest, vitest.output).toMatchObject({ status: 0 });
  expect(vitest.output).toMatch(/Test Files.*3 passed/);
});

test("the example's strategy is loaded and decides, and a broken file is told as the page shows it", () => {
  const folder = build();
  writeProject(folder);
  const decided = run(folder, "decide.ts");
  expect(decided, decided.output).toMatchObject({ status: 0 });
  expect(JSON.parse(decided.output)).toEqual({
    id: "even-split",
    known: true,
    first: { kind: "swap", detail: "WETH was paid least for: 0 USDC", swaps: [["USDC", "WETH", "50000000"]] },
    next: { kind: "swap", detail: "WBTC was paid least for: 0 USDC", swaps: [["USDC", "WBTC", "50000000"]] },
  });

  const file = join(folder, "strategies/sandbox/even-split.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace("[WETH, WBTC]", "[WETH, WETH]"));
  const refused = run(folder, "decide.ts");
  expect(refused).toMatchObject({ status: 1 });
  expect(PAGE).toContain(`\`\`\`text\n${refused.output}\`\`\`\n`);
});
