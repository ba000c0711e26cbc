import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/adapters/clock/system-clock.ts";
import { createChain } from "../../../src/chain/chain.ts";
import type { SimulationMethod } from "../../../src/domain/guard/simulation-method.ts";
import { type Address, type Hex, toAddress } from "../../../src/domain/money/address.ts";
import { Secret } from "../../../src/net/secret.ts";
import type { EndpointReport, SimulationOutcome } from "../../../src/ports/chain.ts";
import { startLyingNode } from "../../service/support/lying-node.ts";
import { ANVIL_ACCOUNT, OTHER_ACCOUNT, startBareAnvil } from "../../support/bare-anvil.ts";
import { type Fault, type RpcProxy, startRpcProxy } from "../../support/rpc-proxy.ts";

const PLAIN = { from: ANVIL_ACCOUNT, to: OTHER_ACCOUNT, data: "0x", value: 9n } as const;
const WATCHED = { accounts: [ANVIL_ACCOUNT], tokens: [], spenders: [] };
const MISSING: Fault = { kind: "error", code: -32601, message: "the method does not exist/is not available" };
const ALL = ["simulate", "trace", "probe"] as const;

function chainOver(urls: readonly string[], trialWays?: readonly SimulationMethod[]) {
  let passedMs = 0;
  const pass = (ms: number): void => {
    passedMs += ms;
  };
  const clock = { ...systemClock, monotonicMs: () => passedMs };
  const heard: (readonly EndpointReport[])[] = [];
  const rpcUrls = urls.map((url) => new Secret(url));
  const onAbilities = async (reports: readonly EndpointReport[]): Promise<void> => void heard.push(reports);
  const chain = createChain({ rpcUrls, chainId: 31337, timeoutMs: 2_000, trialWays }, { clock, onAbilities });
  const simulate = () => chain.simulate([PLAIN], { watched: WATCHED });
  return { chain, pass, heard, simulate };
}

const wayOf = (outcome: SimulationOutcome) => ("way" in outcome ? outcome.way : outcome.kind);
const asked = (proxy: RpcProxy, method: string) => proxy.seen.filter((call) => call.method === method).length;
const lends = (proxy: RpcProxy) =>
  proxy.seen.filter(({ method, params }) => method === "eth_call" && params.length > 2).length;

/** How a client or a provider says that it has not got a method. */
const LACKS: readonly [string, Extract<Fault, { kind: "error" }>][] = [
  ["Geth", { kind: "error", code: -32601, message: "the method %s does not exist/is not available" }],
  ["Erigon", { kind: "error", code: -32601, message: "the method %s does not exist/is not available" }],
  ["Reth", { kind: "error", code: -32601, message: "Method not found" }],
  ["Nethermind", { kind: "error", code: -32601, message: "Method %s is not supported" }],
  ["Besu", { kind: "error", code: -32604, message: "Method not enabled" }],
  ["Nitro", { kind: "error", code: -32603, message: "method handler crashed" }],
  ["a plan without it", { kind: "error", code: -32600, message: "%s is not available on the Free tier" }],
  ["a gateway that lists methods", { kind: "error", code: -32600, message: "Unsupported method: %s on ETH_MAINNET" }],
  ["a gateway that disables them", { kind: "error", code: -32075, message: "Method disabled" }],
  ["a gateway that forbids them", { kind: "error", code: -32001, message: "rpc method is not whitelisted" }],
  ["an older schema", { kind: "error", code: -32602, message: "invalid argument 0: json: unknown field" }],
];

const saying = ({ message, ...fault }: Extract<Fault, { kind: "error" }>, method: string): Fault => ({
  ...fault,
  message: message.replace("%s", method),
});

describe("the best way is used that is permitted and that an endpoint masters", () => {
  test.each(LACKS)("without eth_simulateV1 it is traced, in the words of %s", async (_who, fault) => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    proxy.fault("eth_simulateV1", saying(fault, "eth_simulateV1"));
    const { simulate } = chainOver([proxy.url]);
    expect(wayOf(await simulate())).toBe("trace");
    expect(wayOf(await simulate())).toBe("trace");
    // What it lacks is not asked for again and again.
    expect(asked(proxy, "eth_simulateV1")).toBe(1);
  });

  test.each(LACKS)(
    "without debug_traceCall either it is probed where that is permitted, in the words of %s",
    async (_who, fault) => {
      const proxy = await startRpcProxy((await startBareAnvil()).url);
      for (const method of ["eth_simulateV1", "debug_traceCall"]) proxy.fault(method, saying(fault, method));
      expect(wayOf(await chainOver([proxy.url], ALL).simulate())).toBe("probe");
      const before = lends(proxy);
      const strict = await chainOver([proxy.url]).simulate();
      if (strict.kind !== "unavailable") throw new Error(JSON.stringify(strict));
      expect(strict.reason).toContain("no RPC endpoint can try it out by eth_simulateV1 or debug_traceCall: 127.0.0.1");
      expect(strict.reason).toContain(
        saying(fault, "debug_traceCall").kind === "error" ? fault.message.split("%s")[0] : "",
      );
      expect(lends(proxy)).toBe(before);
    },
  );

  test.each<[readonly SimulationMethod[], SimulationMethod]>([
    [["trace"], "trace"],
    [["probe"], "probe"],
    [["probe", "trace"], "trace"],
    [["probe", "simulate"], "simulate"],
  ])("of a node that masters all, %j comes to %s, and nothing else is asked of it", async (ways, used) => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    expect(wayOf(await chainOver([proxy.url], ways).simulate())).toBe(used);
    expect(asked(proxy, "eth_simulateV1") > 0).toBe(used === "simulate");
    expect(asked(proxy, "debug_traceCall") > 0).toBe(used === "trace");
    expect(lends(proxy) > 0).toBe(used === "probe");
  });

  test("a better way at the second endpoint goes before a weaker one at the first", async () => {
    const anvil = await startBareAnvil();
    const [weak, strong] = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)];
    weak.fault("eth_simulateV1", MISSING);
    const { simulate } = chainOver([weak.url, strong.url], ALL);
    expect(wayOf(await simulate())).toBe("simulate");
    expect(asked(weak, "debug_traceCall")).toBe(0);
  });
});

/** A front of a real node that changes its answers to a method. */
async function changing(method: string, change: (answer: never) => unknown) {
  const anvil = await startBareAnvil();
  const node = await startLyingNode(() => anvil.url);
  node.lie(async (request) => {
    if (request.method !== method) return undefined;
    return { answer: change((await anvil.rpc.call(method, request.params)) as never) };
  });
  return node;
}

const withoutLogs = (frame: { logs?: unknown; calls?: never[] }): unknown => ({
  ...frame,
  logs: undefined,
  ...(frame.calls === undefined ? {} : { calls: frame.calls.map(withoutLogs) }),
});
const withoutTopLogs = ([block]: [{ calls: { logs: { address: string }[] }[] }]) => [
  {
    calls: block.calls.map((call) => ({
      ...call,
      logs: call.logs.filter(({ address }) => !address.startsWith("0xeeee")),
    })),
  },
];
const isFrame = (answer: object): boolean => "gasUsed" in answer;

describe("a node is not believed that", () => {
  test.each<[string, string, (answer: never) => unknown, SimulationMethod]>([
    ["simulates without native moves", "eth_simulateV1", withoutTopLogs, "trace"],
    [
      "simulates fewer calls",
      "eth_simulateV1",
      ([block]: [{ calls: unknown[] }]) => [{ calls: block.calls.slice(1) }],
      "trace",
    ],
    ["simulates without a word of what was lent", "eth_simulateV1", () => [{ calls: [EMPTY, EMPTY] }], "trace"],
    [
      "traces without logs",
      "debug_traceCall",
      (answer: object) => (isFrame(answer) ? withoutLogs(answer) : answer),
      "probe",
    ],
    [
      "traces without what is inside",
      "debug_traceCall",
      (answer: object) => ({ ...answer, calls: undefined }),
      "probe",
    ],
    [
      "reports no changes",
      "debug_traceCall",
      (answer: object) => (isFrame(answer) ? answer : { pre: {}, post: {} }),
      "probe",
    ],
    [
      "traces without the gas of a transaction",
      "debug_traceCall",
      (answer: object) => (isFrame(answer) ? { ...answer, gasUsed: "0x5207" } : answer),
      "probe",
    ],
    ["lends no code", "eth_call", () => "0x", "unavailable" as SimulationMethod],
  ])("%s", async (_what, method, change, next) => {
    const node = await changing(method, change as never);
    const order: SimulationMethod[] = ["simulate", "trace", "probe"];
    const begin = method === "eth_simulateV1" ? 0 : method === "debug_traceCall" ? 1 : 2;
    expect(wayOf(await chainOver([node.url], order.slice(begin)).simulate())).toBe(next);
    await node.stop();
  });
});

const EMPTY = { status: "0x1", returnData: "0x", gasUsed: "0x5208", logs: [] };

describe("what an endpoint masters", () => {
  test("GRD-27 is shown again after a minute, and by many that ask at once only once", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const { simulate, pass } = chainOver([proxy.url]);
    await Promise.all([simulate(), simulate(), simulate()]);
    expect(asked(proxy, "eth_simulateV1")).toBe(3 + 1);
    await simulate();
    expect(asked(proxy, "eth_simulateV1")).toBe(3 + 2);
    pass(60_000);
    await simulate();
    expect(asked(proxy, "eth_simulateV1")).toBe(3 + 4);
  });

  test("counts as little as it lacks it: after ten minutes it may show a better way again", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    proxy.fault("eth_simulateV1", MISSING);
    const { simulate, pass } = chainOver([proxy.url]);
    expect(wayOf(await simulate())).toBe("trace");
    proxy.clear();
    pass(599_000);
    expect(wayOf(await simulate())).toBe("trace");
    pass(1_000);
    expect(wayOf(await simulate())).toBe("simulate");
  });

  test("GRD-28 is lost with an upgrade: it is simulated again at once, and said, and never replaced by what is not permitted", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    proxy.fault("eth_simulateV1", MISSING);
    const { simulate, pass, chain, heard } = chainOver([proxy.url]);
    await chain.abilities();
    expect(wayOf(await simulate())).toBe("trace");
    pass(60_000);
    proxy.fault("debug_traceCall", MISSING);
    const lent = lends(proxy);
    expect(wayOf(await simulate())).toBe("unavailable");
    expect(lends(proxy)).toBe(lent);
    await expect.poll(() => heard.length).toBe(2);
    expect(heard[1]?.[0]?.findings.slice(0, 2).map(({ state }) => state)).toEqual(["lacking", "lacking"]);
  });

  test("is lost in the middle of a simulation: nothing of it counts, and it has to be shown again", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const { simulate } = chainOver([proxy.url], ["simulate", "probe"]);
    expect(wayOf(await simulate())).toBe("simulate");
    proxy.fault("eth_simulateV1", { kind: "error", code: -32000, message: "header not found" }, 1);
    expect(wayOf(await simulate())).toBe("probe");
    const before = asked(proxy, "eth_simulateV1");
    expect(wayOf(await simulate())).toBe("simulate");
    expect(asked(proxy, "eth_simulateV1")).toBe(before + 2);
  });

  test("is forgotten while it is away: another machine may stand behind its address when it returns", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    const { simulate, chain } = chainOver([proxy.url]);
    expect(wayOf(await simulate())).toBe("simulate");
    proxy.fault("eth_getBlockByNumber", { kind: "drop-before" });
    await expect(simulate()).rejects.toThrow();
    proxy.clear();
    const isSimulation = ([options]: readonly unknown[]): boolean => JSON.stringify(options).includes("stateOverrides");
    proxy.faultWhere(
      { method: "eth_simulateV1", where: isSimulation },
      { kind: "answer", result: [{ calls: [EMPTY, EMPTY] }] },
    );
    await chain.latest();
    expect(wayOf(await simulate())).toBe("trace");
  });

  test("goes on at another endpoint when the first one is away, in the way that that one masters", async () => {
    const anvil = await startBareAnvil();
    const [first, second] = [await startRpcProxy(anvil.url), await startRpcProxy(anvil.url)];
    second.fault("eth_simulateV1", MISSING);
    const { simulate } = chainOver([first.url, second.url]);
    expect(wayOf(await simulate())).toBe("simulate");
    first.fault("eth_simulateV1", { kind: "drop-before" });
    expect(wayOf(await simulate())).toBe("trace");
  });

  test("is not known of one that is silent: the swap waits, and no ability is blamed", async () => {
    const proxy = await startRpcProxy((await startBareAnvil()).url);
    for (const method of ["eth_simulateV1", "debug_traceCall"]) proxy.fault(method, { kind: "drop-before" });
    const { simulate } = chainOver([proxy.url]);
    await expect(simulate()).rejects.toThrow(/no RPC endpoint can try it out by eth_simulateV1 or debug_traceCall/);
    proxy.clear();
    expect(wayOf(await simulate())).toBe("simulate");
  });
});

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const TOKEN: Address = toAddress(`0x${"7".repeat(40)}`);

test("a tracer that leaves the logs and coins of undone frames in its answer makes nothing of them happen", async () => {
  const word = (address: Address): Hex => `0x${address.slice(2).padStart(64, "0")}`;
  const log = {
    address: TOKEN,
    topics: [TRANSFER, word(TOKEN), word(ANVIL_ACCOUNT)],
    data: `0x${"1".padStart(64, "0")}`,
  };
  const inner = { type: "CALL", from: TOKEN, to: ANVIL_ACCOUNT, value: "0x5", logs: [log] };
  const undone = {
    type: "CALL",
    from: TOKEN,
    to: TOKEN,
    value: "0x0",
    error: "execution reverted",
    logs: [log],
    calls: [inner],
  };
  const node = await changing("debug_traceCall", (answer: { gasUsed?: string; calls?: unknown[]; to?: string }) =>
    answer.to === OTHER_ACCOUNT ? { ...answer, calls: [undone] } : answer,
  );
  const outcome = await chainOver([node.url], ["trace"]).simulate();
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  expect(outcome.transfers.map(({ amount }) => amount)).toEqual([9n]);
  await node.stop();
});

test.each<[SimulationMethod, number]>([
  ["simulate", 1],
  ["trace", 1],
])("contracts see the height and time of the next block by %s", async (way, ahead) => {
  const anvil = await startBareAnvil();
  const { chain } = chainOver([anvil.url], [way]);
  await anvil.mine(3);
  const witness = toAddress("0x00000000000000000000000000000000000000cc");
  // Logs a transfer from (block number) to (caller) of (timestamp).
  await anvil.rpc.call("anvil_setCode", [witness, `0x426000523343${`7f${TRANSFER.slice(2)}`}60206000a300`]);
  const outcome = await chain.simulate([{ from: ANVIL_ACCOUNT, to: witness, data: "0x", value: 0n }]);
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  const [seen] = outcome.transfers;
  const head = await chain.latest();
  expect(BigInt(seen!.from)).toBe(BigInt(head.number + ahead));
  expect(seen!.amount).toBeGreaterThan(BigInt(head.timestamp));
});

test("the probe takes what comes to the account like one without code, and anyone who calls it gets nothing out of it", async () => {
  const anvil = await startBareAnvil();
  const { chain } = chainOver([anvil.url], ["probe"]);
  const payer = toAddress("0x00000000000000000000000000000000000000cd");
  // Calls its caller with its whole balance and 4 bytes of data; reverts where that fails or answers anything.
  await anvil.rpc.call("anvil_setCode", [payer, "0x5f5f60045f47335af115601457" + "3d601457" + "005b" + "5b5f5ffd"]);
  await anvil.rpc.call("anvil_setBalance", [payer, "0x9"]);
  const outcome = await chain.simulate([{ from: ANVIL_ACCOUNT, to: payer, data: "0x", value: 0n }], {
    watched: WATCHED,
  });
  if (outcome.kind !== "ok") throw new Error(JSON.stringify(outcome));
  expect(outcome.transfers.map(({ amount, to }) => [amount, to])).toEqual([[9n, ANVIL_ACCOUNT]]);
});
