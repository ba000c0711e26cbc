import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startReceiver } from "../support/alert-receiver.ts";
import { run, workedExample } from "./support/worked-example.ts";

const { blocks, build, page } = workedExample("docs/WRITING-A-CHANNEL.md", [".dependency-cruiser.cjs"]);
const shown = /^```yaml\n([\s\S]*?)^```/m.exec(page)?.[1] ?? "";

const NETWORK = {
  chainId: 31_337,
  wrappedNative: `0x${"c0".repeat(20)}`,
  settlement: `0x${"a1".repeat(20)}`,
  protocols: [{ kind: 1, factory: `0x${"fa".repeat(20)}`, feePips: 3_000 }],
  feeTiers: [3_000],
  tokens: { USDC: { address: `0x${"01".repeat(20)}`, decimals: 6, feed: `0x${"02".repeat(20)}` } },
  nativeFeed: `0x${"03".repeat(20)}`,
};
// Neither a node nor a service is there: the daemon says that it starts all the same.
const MAIN = `version: 1
network: { name: sandbox, rpc: [{ url: "http://127.0.0.1:1" }], preset: network.json }
service: { url: "http://127.0.0.1:1" }
wallets:
  main: { privateKey: { env: WALLET_KEY } }
tokens:
  USDC: { address: preset, decimals: 6, feed: preset }
policy: policy.yaml
strategies: strategies
database: swapd.db
http: { listen: "127.0.0.1:0" }
timing: { requestTimeout: 5s }
`;
const STRATEGY = 'kind: dca\nwallet: main\nsell: "1 USDC"\nbuy: ETH\nschedule: { every: 6h }\n';

/** A copy of the project with the example, and a configuration alongside it that names it as the page shows it. */
function begin(alerts = shown): string {
  const folder = build();
  const policy = readFileSync(join(folder, "config/policy.example.yaml"), "utf8");
  writeFileSync(join(folder, "policy.yaml"), policy.replace(/^tokens: .*$/m, ""));
  mkdirSync(join(folder, "strategies"));
  writeFileSync(join(folder, "strategies/hold.yaml"), STRATEGY);
  writeFileSync(join(folder, "network.json"), JSON.stringify(NETWORK));
  writeFileSync(join(folder, "main.yaml"), MAIN + alerts);
  return folder;
}

const check = (folder: string) => run(folder, "src/main.ts", "check", "--offline", "main.yaml");

test("the page shows a file and its test, and changes nothing but the list by one line and its import", () => {
  expect(blocks.map(({ path }) => path)).toEqual([
    "src/adapters/notify/channels/pager.ts",
    "src/adapters/notify/channels.ts",
    "test/adapters/notify/channels/pager.test.ts",
  ]);
  const changed = blocks.filter(({ language }) => language === "diff");
  expect(changed.flatMap(({ text }) => text.split("\n").filter((line) => line.startsWith("+")))).toEqual([
    '+import { pager } from "./channels/pager.ts";',
    "+  pager,",
  ]);
});

test("a configuration names the example's channel as the page shows it, and a mistake is reported at its place", () => {
  const folder = begin();
  const env = {
    WALLET_KEY: `0x${"11".repeat(32)}`,
    PAGER_URL: "https://pager.example/desk",
    PAGER_CODE: "canary-code",
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  const loaded = check(folder);
  expect(loaded, loaded.output).toMatchObject({ status: 0 });
  writeFileSync(join(folder, "main.yaml"), MAIN + shown.replace("night-shift", "Night Shift"));
  const refused = check(folder);
  expect(refused).toMatchObject({ status: 1 });
  expect(page).toContain(`\`\`\`text\n${refused.output.trimEnd().replace(/^\S*\//, "")}\n\`\`\`\n`);
});

test("a daemon of the copy sends a message by the example's channel, again until its receiver takes it", async () => {
  const { url, received } = await startReceiver((response, count) => {
    response.writeHead(count === 1 ? 503 : 200).end();
  });
  const folder = begin();
  const env = {
    ...{ WALLET_KEY: `0x${"11".repeat(32)}`, PAGER_URL: `${url}/desk/canary-key`, PAGER_CODE: "canary-code" },
    ...{ NO_COLOR: "1", FORCE_COLOR: undefined },
  };
  const daemon = spawn(process.execPath, ["src/main.ts", "start", "--config", "main.yaml"], {
    ...{ cwd: folder, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] },
  });
  const ended = new Promise((resolve) => daemon.on("close", resolve));
  onTestFinished(async () => {
    daemon.kill("SIGKILL");
    await ended;
  });
  let output = "";
  for (const stream of [daemon.stdout, daemon.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await vi.waitFor(() => expect(received.length, output).toBeGreaterThan(1), 20_000);
  const [first, second] = received.map(({ body }) => JSON.parse(body));
  expect(first).toEqual({
    ...{ team: "night-shift", ref: expect.stringMatching(/^start_/), clears: null, rings: false },
    text: expect.stringMatching(/^STARTED on sandbox: dry run: swapd started on sandbox/),
  });
  expect(second).toEqual(first);
  expect(received[1]).toMatchObject({ path: "/desk/canary-key", headers: { "x-code": "canary-code" } });
  daemon.kill("SIGTERM");
  await ended;
  expect(output).not.toContain("canary");
});
