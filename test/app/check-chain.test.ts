import { expect, test } from "vitest";
import { checkChain } from "../../src/app/check-chain.ts";
import { loaded, MAIN } from "../config/project.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { startRpcProxy } from "../support/rpc-proxy.ts";

const BASE = 8453;
const MISSING = { kind: "error", code: -32601, message: "Method not found" } as const;

/** What the check says of these endpoints; the chain behind them has none of the tokens. */
async function endpointFindings(urls: readonly string[]) {
  const env = Object.fromEntries(urls.map((url, index) => [`RPC_${index + 1}`, url]));
  const rpc = Object.keys(env).map((name) => `{ env: ${name} }`);
  const main = MAIN.replace("rpc: [{ env: RPC_1 }]", `rpc: [${rpc.join(", ")}]`);
  const findings = await checkChain(loaded({ "main.yaml": main }, env), env);
  return findings.filter(({ what }) => what === "RPC endpoints");
}

test("a node without eth_simulateV1 makes the check red, and is named by its host", async () => {
  const proxy = await startRpcProxy((await startBareAnvil({ chainId: BASE })).url);
  proxy.fault("eth_simulateV1", MISSING);
  const [finding] = await endpointFindings([proxy.url]);
  expect(finding?.whatToDo).toBeDefined();
  expect(finding?.found).toContain("the endpoint 127.0.0.1");
  expect(finding?.found).toContain("Method not found");
});

test("beside an endpoint that has it, it is a warning that names the weaker one", async () => {
  const anvil = await startBareAnvil({ chainId: BASE });
  const weak = await startRpcProxy(anvil.url);
  weak.fault("eth_simulateV1", MISSING);
  const findings = await endpointFindings([weak.url, anvil.url]);
  expect(findings.map(({ whatToDo, isWarning = false }) => [whatToDo, isWarning])).toEqual([
    [undefined, false],
    [undefined, true],
  ]);
  expect(findings[1]?.found).toMatch(/endpoint 1 \(127\.0\.0\.1.*\) lacks simulation/);
});
