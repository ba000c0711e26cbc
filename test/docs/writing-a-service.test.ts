import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build, page } = workedExample("docs/WRITING-A-SERVICE.md", [".dependency-cruiser.cjs"]);
const FOLDER = "src/adapters/swap-service/desk";

/** Loads a configuration that names the example's service, as the daemon does. */
const LOAD = `
import { jsonSchemas, loadConfiguration } from "./src/app/load-configuration.ts";
import { formatProblems } from "./src/config/problem.ts";

const outcome = loadConfiguration("main.yaml", {});
if (!outcome.ok) {
  process.stdout.write(formatProblems(outcome.problems, process.cwd()));
  process.exit(1);
}
const { service, policy } = outcome.configuration;
const schemas = jsonSchemas();
const known = Object.keys(schemas).filter((path) => JSON.stringify(schemas[path]).includes('"desk"'));
process.stdout.write(JSON.stringify({ contracts: service.contracts, spenders: policy.spenders.length, known }));
`;

const [VAULT, DESK, BOOK] = ["a1", "a2", "a3"].map((byte) => `0x${byte.repeat(20)}`);
const SERVICE = `service:
  profile: desk
  url: "https://desk.example"
  apiKey: { env: DESK_KEY }
  spender: "${VAULT}"
  target: "${DESK}"
  verifyingContract: "${BOOK}"
`;
const MAIN = `version: 1
mode: live
network: { name: base, rpc: [{ env: RPC_1 }] }
${SERVICE}wallets:
  main: { keystore: { file: wallet.json }, password: { file: wallet.pass } }
tokens:
  USDC: { address: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
`;

const STRATEGY = `kind: dca
wallet: main
sell: "1 USDC"
buy: ETH
schedule: { every: 6h }
`;

function load(folder: string, main: string): { status: number | null; output: string } {
  const policy = readFileSync(join(folder, "config/policy.example.yaml"), "utf8");
  writeFileSync(join(folder, "policy.yaml"), policy.replace(/^tokens: .*$/m, ""));
  mkdirSync(join(folder, "strategies"), { recursive: true });
  writeFileSync(join(folder, "strategies/hold.yaml"), STRATEGY);
  writeFileSync(join(folder, "load.ts"), LOAD);
  writeFileSync(join(folder, "main.yaml"), main);
  writeFileSync(join(folder, "wallet.json"), JSON.stringify({ version: 3, address: "70".repeat(20), crypto: {} }));
  return run(folder, "load.ts");
}

test("the page shows each file of a service's folder, and changes one line of the project and its import", () => {
  const written = blocks.filter(({ language }) => language !== "diff").map(({ path }) => path);
  expect(written).toEqual([
    ...["service", "order", "calldata", "fills", "client"].map((name) => `${FOLDER}/${name}.ts`),
    "test/adapters/swap-service/desk/desk.test.ts",
  ]);
  const [edit, ...others] = blocks.filter(({ language }) => language === "diff");
  expect([edit?.path, others]).toEqual(["src/adapters/swap-service/services.ts", []]);
  expect(edit?.text.split("\n").filter((line) => line.startsWith("+"))).toHaveLength(2);
});

test("a configuration names the example's service and its three contracts as the page shows them", () => {
  const shown = /^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "";
  const keys = (text: string) => [...text.matchAll(/^ *(\w+):/gm)].map(([, key]) => key);
  expect(keys(shown)).toEqual(keys(SERVICE));
  const folder = build();
  const loaded = load(folder, MAIN);
  expect(loaded, loaded.output).toMatchObject({ status: 0 });
  expect(JSON.parse(loaded.output)).toEqual({
    contracts: { spender: VAULT, target: DESK, verifyingContract: BOOK },
    spenders: 3,
    known: ["config/swapd.schema.json", "config/policy.schema.json"],
  });
  const unnamed = load(folder, MAIN.replace(/^ {2}target: .*\n/m, ""));
  expect(unnamed).toMatchObject({ status: 1, output: expect.stringContaining("no target is known on base") });
});
