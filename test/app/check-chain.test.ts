import { expect, test } from "vitest";
import { checkChain } from "../../src/app/check-chain.ts";
import { createRuntime } from "../../src/app/runtime.ts";
import { loaded, MAIN, POLICY, WALLET } from "../config/project.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const BASE = 8453;
const MISSING = { kind: "error", code: -32601, message: "Method not found" } as const;

/** All that the check finds through these endpoints; the chain behind them has none of the tokens. */
async function findingsOver(
  urls: readonly string[],
  {
    change = (main) => main,
    policy = POLICY,
    nowMs = Date.now,
  }: { change?: (main: string) => string; policy?: string; nowMs?: () => number } = {},
) {
  const env = Object.fromEntries(urls.map((url, index) => [`RPC_${index + 1}`, url]));
  const rpc = Object.keys(env).map((name) => `{ env: ${name} }`);
  const main = MAIN.replace("rpc: [{ env: RPC_1 }]", `rpc: [${rpc.join(", ")}]`);
  return await checkChain(
    loaded({ "main.yaml": change(main), "policy.yaml": policy }, env),
    createRuntime({ level: "error", env }),
    { nowMs },
  );
}

async function endpointFindings(urls: readonly string[]) {
  return (await findingsOver(urls)).filter(({ what }) => what === "RPC endpoints");
}

test("a node without eth_simulateV1 and debug_traceCall makes the check red, and is named by its host", async () => {
  const proxy = await startRpcProxy((await startBareAnvil({ chainId: BASE })).url);
  for (const method of ["eth_simulateV1", "debug_traceCall"]) proxy.fault(method, MISSING);
  const [finding] = await endpointFindings([proxy.url]);
  expect(finding?.whatToDo).toBeDefined();
  expect(finding?.found).toContain("the endpoint 127.0.0.1");
  expect(finding?.found).toContain("Method not found");
  expect(finding?.found).toContain(
    "add an endpoint with eth_simulateV1 or debug_traceCall, or let the owner add probe",
  );
});

test("with one of the two it is green, and a warning says which way is left", async () => {
  const proxy = await startRpcProxy((await startBareAnvil({ chainId: BASE })).url);
  proxy.fault("eth_simulateV1", MISSING);
  const [finding, warning] = await endpointFindings([proxy.url]);
  expect(finding).toMatchObject({ whatToDo: undefined });
  expect(finding?.found).toMatch(/can do what trading needs, and transactions are simulated by debug_traceCall$/);
  expect(warning?.found).toMatch(/lacks eth_simulateV1, and simulates by debug_traceCall: .*Method not found/);
});

test("with neither it is green where the policy permits the probe", async () => {
  const proxy = await startRpcProxy((await startBareAnvil({ chainId: BASE })).url);
  for (const method of ["eth_simulateV1", "debug_traceCall"]) proxy.fault(method, MISSING);
  const policy = `${POLICY}simulation: [simulate, trace, probe]\n`;
  const findings = await findingsOver([proxy.url], { policy });
  const [finding] = findings.filter(({ what }) => what === "RPC endpoints");
  expect(finding).toMatchObject({ whatToDo: undefined });
  expect(finding?.found).toMatch(/simulated by a probe in eth_call$/);
});

test("alongside an endpoint that has it, it is a warning that names the weaker one", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const weak = await startRpcProxy(anvil.url);
  weak.fault("eth_simulateV1", MISSING);
  const findings = await endpointFindings([weak.url, anvil.url]);
  expect(findings.map(({ whatToDo, isWarning = false }) => [whatToDo, isWarning])).toEqual([
    [undefined, false],
    [undefined, true],
  ]);
  expect(findings[0]?.found).toMatch(/simulated by eth_simulateV1$/);
  expect(findings[1]?.found).toMatch(/endpoint 1 \(127\.0\.0\.1.*\) lacks eth_simulateV1/);
});

test.each([
  ["of another chain", async () => (await startBareAnvil({ chainId: 1 })).url, /: .*serves chain 1, not 8453/],
  ["that is dead", async () => "http://127.0.0.1:1", /everything: .*ECONNREFUSED/],
])("an endpoint %s beside a good one is a warning that says why nothing is known of it", async (_what, second, why) => {
  const good = await startBareAnvil({ chainId: BASE });
  const [finding, warning] = await endpointFindings([good.url, await second()]);
  expect(finding).toMatchObject({ whatToDo: undefined });
  expect(warning).toMatchObject({ isWarning: true, found: expect.stringMatching(why) });
});

test("a wallet that delegates to somebody whom nobody named makes the check red; named, it is said", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const delegate = `0x${"d".repeat(40)}`;
  await anvil.rpc.call("anvil_setCode", [WALLET, `0xef0100${delegate.slice(2)}`]);
  const named = (main: string) => main.replace("wallet.pass }", `wallet.pass }, delegate: "${delegate}"`);
  const [red] = (await findingsOver([anvil.url])).filter(({ what }) => what === "main delegates");
  expect(red?.whatToDo).toMatch(/key is stolen/);
  const [known] = (await findingsOver([anvil.url], { change: named })).filter(({ what }) => what === "main delegates");
  expect(known).toMatchObject({ found: `to ${delegate}, as it is named`, whatToDo: undefined });
});

test.each([
  ["of 1970", () => 0, /in the future.*/, /no slot runs; this machine's clock is wrong: timedatectl set-ntp true$/],
  [
    "of 2099",
    () => Date.UTC(2099, 0),
    /, 2\d{4}d(\d+h)? old/,
    /this machine's clock is wrong.*; or, where it is right/,
  ],
  ["three minutes ahead", () => Date.now() + 180_000, /3m\d*s? old/, /more than timing.maxClockSkew of 120s/],
  ["a minute ahead", () => Date.now() + 60_000, /1m\d*s? old/, undefined],
  ["a minute behind", () => Date.now() - 60_000, /, 0s old/, undefined],
])("a clock %s is judged by the newest block, as a slot judges it", async (_what, nowMs, found, whatToDo) => {
  const anvil = await startBareAnvil({ chainId: BASE });
  await anvil.mine();
  const [head] = (await findingsOver([anvil.url], { nowMs })).filter(({ what }) => what.startsWith("chain "));
  expect(head?.found).toMatch(found);
  if (whatToDo === undefined) expect(head?.whatToDo).toBeUndefined();
  else expect(head?.whatToDo).toMatch(whatToDo);
});

/** A feed whose answer is 100 dollars and as old as the block: `decimals()` says 8, `latestRoundData()` five words. */
const FEED_CODE =
  "0x5f3560e01c8063313ce56714601b5763feaf968c146024575f5ffd5b60085f5260205ff35b60015f526402540be4006020524260405242606052600160805260a05ff3";

test("a sale that is above what the policy lets through at once is told with both amounts, in dollars", async () => {
  const anvil = await startBareAnvil({ chainId: 1 });
  const feed = `0x${"fe".repeat(20)}`;
  await anvil.rpc.call("anvil_setCode", [feed, FEED_CODE]);
  await anvil.mine();
  const change = (main: string) =>
    main
      .replace("name: base", "name: ethereum")
      .replaceAll("feed: preset", `feed: { address: "${feed}", heartbeat: 1h }`);
  const [over] = (await findingsOver([anvil.url], { change })).filter(({ what }) => what === "strategy weekly");
  expect(over?.found).toBe("sells 100 USDC at once, 10000 USD, and the policy's max_trade is 500 USD");
});

test("a token that refuses is named, and so is one that is no contract; the rest is looked at, and no node is blamed", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const { tokens } = loaded({}, { RPC_1: anvil.url });
  const [usdc, weth] = ["USDC", "WETH"].map((symbol) => tokens.get(symbol)?.token.address);
  await anvil.rpc.call("anvil_setCode", [usdc, "0x5f5ffd"]);
  const of = async () =>
    (await findingsOver([anvil.url])).filter(({ what }) => what === "main holds" || what === "chain");
  const texts = (await of()).map(({ found }) => found);
  expect(texts).toContainEqual(expect.stringContaining(`not known of USDC: ${usdc} refuses balanceOf`));
  expect(texts).toContainEqual(expect.stringContaining(`not known of WETH: ${weth} does not answer balanceOf`));
  // One that answers 42 to whatever it is asked.
  await anvil.rpc.call("anvil_setCode", [weth, "0x602a5f5260205ff3"]);
  const found = await of();
  expect(found.map(({ what }) => what)).toEqual(["main holds", "main holds", "main holds"]);
  expect(found.find(({ found: text }) => text.includes("USDC"))?.whatToDo).toMatch(/^the token refuses, not the node/);
  expect(found.find(({ found: text }) => text.includes("WETH"))).toMatchObject({ whatToDo: undefined });
});

test("where no node answers, the check without one is named for the same configuration", async () => {
  const chain = (await findingsOver(["http://127.0.0.1:1"])).find(({ what }) => what === "chain");
  expect(chain?.whatToDo).toMatch(/the files alone are checked by: swapd check --offline --config \/\S+main\.yaml$/);
});
