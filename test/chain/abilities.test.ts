import { describe, expect, test } from "vitest";
import { createChain } from "../../src/chain/chain.ts";
import { Secret } from "../../src/net/secret.ts";
import type { EndpointReport } from "../../src/ports/chain.ts";
import { createHandClock } from "../service/support/hand-clock.ts";
import { startBareAnvil } from "../support/bare-anvil.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

function chainOver(proxies: readonly RpcProxy[]) {
  const clock = createHandClock(Date.now());
  const heard: (readonly EndpointReport[])[] = [];
  const rpcUrls = proxies.map(({ url }) => new Secret(url));
  const onAbilities = async (reports: readonly EndpointReport[]): Promise<void> => void heard.push(reports);
  const chain = createChain({ rpcUrls, chainId: 31337, timeoutMs: 2_000 }, { clock, onAbilities });
  return { chain, clock, heard };
}

function stateOf(reports: readonly EndpointReport[] | undefined, ability: string, endpoint = 0): string | undefined {
  return reports?.[endpoint]?.findings.find((finding) => finding.ability === ability)?.state;
}

const SIMULATED = { status: "0x1", returnData: "0x", gasUsed: "0x5208", logs: [] };

describe("a simulation of an endpoint", () => {
  test("finds everything at a real node", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const [report] = await chainOver([proxy]).chain.abilities();
    expect(report?.findings.map(({ ability, state }) => [ability, state])).toEqual([
      ["simulate", "able"],
      ["trace", "able"],
      ["probe", "able"],
      ["finality", "able"],
      ["overrides", "able"],
      ["logs", "able"],
    ]);
  });

  test.each([
    ["simulate", "eth_simulateV1", { kind: "error", code: -32601, message: "Method not found" }],
    ["simulate", "eth_simulateV1", { kind: "error", code: -32603, message: "method handler crashed" }],
    [
      "simulate",
      "eth_simulateV1",
      { kind: "answer", result: [{ calls: [{ ...SIMULATED, status: "0x0" }, SIMULATED] }] },
    ],
    ["simulate", "eth_simulateV1", { kind: "answer", result: [{ calls: [SIMULATED, SIMULATED] }] }],
    ["simulate", "eth_simulateV1", { kind: "answer", result: null }],
    ["trace", "debug_traceCall", { kind: "error", code: -32601, message: "Method not found" }],
    ["trace", "debug_traceCall", { kind: "error", code: -32600, message: "method not allowed" }],
    ["trace", "debug_traceCall", { kind: "answer", result: { gas: 0, structLogs: [] } }],
    ["trace", "debug_traceCall", { kind: "answer", result: null }],
    ["overrides", "eth_call", { kind: "answer", result: "0x" }],
    ["trace", "debug_traceCall", { kind: "error", code: -32601, message: "Method not found" }],
    ["trace", "debug_traceCall", { kind: "error", code: -32600, message: "method not allowed" }],
    ["trace", "debug_traceCall", { kind: "answer", result: { gas: 0, structLogs: [] } }],
    ["trace", "debug_traceCall", { kind: "answer", result: null }],
    ["overrides", "eth_call", { kind: "error", code: -32602, message: "too many arguments" }],
    ["logs", "eth_getLogs", { kind: "error", code: -32005, message: "query exceeds max block range 10" }],
  ] as const)("finds that %s is lacking where %s gives %j", async (ability, method, fault) => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    proxy.fault(method, fault);
    const reports = await chainOver([proxy]).chain.abilities();
    expect(stateOf(reports, ability)).toBe("lacking");
    const lacking = reports[0]?.findings.flatMap((one) => (one.state === "able" ? [] : [one.ability]));
    expect(lacking).toEqual(method === "eth_call" ? ["probe", "overrides"] : [ability]);
  });

  test("finds that no block is final", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const isFinalized = (params: readonly unknown[]): boolean => params[0] === "finalized";
    proxy.faultWhere({ method: "eth_getBlockByNumber", where: isFinalized }, { kind: "answer", result: null });
    expect(stateOf(await chainOver([proxy]).chain.abilities(), "finality")).toBe("lacking");
  });

  test("finds that logs are lacking where the newest block has no number, whatever it has instead", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const isNewest = (params: readonly unknown[]): boolean => params[0] === "latest";
    const result = { number: { toString: 1 }, timestamp: "0x0" };
    proxy.faultWhere({ method: "eth_getBlockByNumber", where: isNewest }, { kind: "answer", result });
    expect(stateOf(await chainOver([proxy]).chain.abilities(), "logs")).toBe("lacking");
  });

  test("whose answer is lost says nothing of the ability", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    proxy.fault("eth_simulateV1", { kind: "drop-after", loss: "reset" });
    expect(stateOf(await chainOver([proxy]).chain.abilities(), "simulate")).toBe("unknown");
  });
});

test("a read goes to the endpoint that has the ability, also where the first one only pretends to", async () => {
  const anvil = await startBareAnvil();
  const [weak, able] = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)];
  weak.fault("eth_simulateV1", { kind: "answer", result: [{ calls: [SIMULATED, SIMULATED] }] });
  const { chain } = chainOver([weak, able]);
  await chain.abilities();
  const before = weak.seen.length;
  const from = "0x00000000000000000000000000000000000000aa" as never;
  expect((await chain.simulate([{ from, to: from, data: "0x", value: 0n }])).kind).toBe("ok");
  expect(weak.seen.slice(before).map(({ method }) => method)).not.toContain("eth_simulateV1");
});

test("an endpoint that returns after an outage is simulated again", async () => {
  const proxy = await startRpcProxy((await startBareAnvil()).url);
  const { chain, heard } = chainOver([proxy]);
  proxy.fault("eth_chainId", { kind: "drop-before" });
  await chain.abilities();
  expect(stateOf(heard.at(-1), "simulate")).toBe("unknown");
  proxy.clear();
  await chain.latest();
  await expect.poll(() => stateOf(heard.at(-1), "simulate")).toBe("able");
});

test("logs of a node with a short range are asked in smaller pieces, and none is missing", async () => {
  const anvil = await startBareAnvil();
  const proxy = await startRpcProxy(anvil.url);
  await anvil.mine(40);
  const isLong = ([query]: readonly unknown[]): boolean => {
    const { fromBlock, toBlock } = query as { fromBlock: string; toBlock: string };
    return Number(toBlock) - Number(fromBlock) >= 10;
  };
  const refusal = { kind: "error", code: -32602, message: "up to a 10 block range is allowed" } as const;
  proxy.faultWhere({ method: "eth_getLogs", where: isLong }, refusal);
  const asked = () =>
    proxy.seen
      .filter(({ method, params }) => method === "eth_getLogs" && !isLong(params))
      .map(({ params }) => params[0] as { fromBlock: string; toBlock: string })
      .flatMap(({ fromBlock, toBlock }) => {
        const length = Number(toBlock) - Number(fromBlock) + 1;
        return Array.from({ length }, (_, index) => Number(fromBlock) + index);
      });
  expect(await chainOver([proxy]).chain.logs({ topics: [], fromBlock: 1, toBlock: 40 })).toEqual([]);
  expect(asked()).toEqual(Array.from({ length: 40 }, (_, index) => index + 1));
});
