import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, workedExample } from "./support/worked-example.ts";

const { page, blocks, build } = workedExample("docs/WRITING-A-KIND.md");

const written = blocks.filter(({ language }) => language !== "diff");

/** Loads the example's YAML as the daemon does and decides with it: once fresh, once after a fill. */
const DECIDE = `
import { loadConfiguration } from "./src/app/load-configuration.ts";
import { jsonSchemas } from "./src/app/load-configuration.ts";
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
const reported = (memory) => {
  const { outcome: { kind, swaps, detail } } = decideStrategy(spec, view, memory);
  return { kind, detail, swaps: swaps.map(({ sell, buy, amount }) => [sell.symbol, buy.symbol, String(amount.raw)]) };
};
const first = initialStrategyMemory(spec);
const swap = { position: 0, sell: token, buy: spec.buy[0], sold: 50_000_000n, bought: 1n, reason: undefined };
const { memory } = strategyRunEnded(spec, first, { slotMs: 0, nowMs: 0, filled: true, swaps: [swap] });
const known = JSON.stringify(jsonSchemas()["strategies/strategy.schema.json"]).includes('"const":"take-turns"');
process.stdout.write(JSON.stringify({ id: spec.id, known, first: reported(first), next: reported(JSON.parse(JSON.stringify(memory))) }));
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

test("the example's strategy is loaded and decides, and a broken file is reported as the page shows it", () => {
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
  expect(page).toContain(`\`\`\`text\n${refused.output}\`\`\`\n`);
});
