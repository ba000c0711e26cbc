import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { startTestChain, type TestChain } from "./chain.ts";
import { wrongDecisions, wrongHeaders } from "./limit-decisions.ts";
import { type LoadAnswer, type LoadClient, type LoadRequest, offerTwice, TICK_MS } from "./load-client.ts";
import { deployMarket, type Market, serviceOptions } from "./market.ts";

/** What a load showed. */
export interface LoadReport {
  readonly answers: number;
  readonly quotes: number;
  readonly refused: number;
  /** answers that are neither a success nor a refusal by limit */
  readonly failures: readonly string[];
  readonly wrongDecisions: readonly string[];
  readonly wrongHeaders: readonly string[];
  readonly quoteP95Ms: number;
  readonly heapBytes: { readonly before: number; readonly after: number };
}

export interface LoadOptions {
  readonly warmUpSeconds: number;
  readonly seconds: number;
  readonly quoteLifetimeSeconds: number;
}

const LIMITS = { keyless: 50, keyed: 200 };
const MAIN = fileURLToPath(new URL("load-service-main.ts", import.meta.url));

/** Eight clients: three keys, of which two are used twice, and three without, of which two share an address. */
const CLIENTS: readonly LoadClient[] = [
  // Each from a host of its own: one address has a bounded number of connections.
  ...["first", "first", "second", "second", "third"].map((apikey, index) => {
    return { caller: `key ${apikey}`, limit: LIMITS.keyed, apikey, localAddress: `127.0.1.${index + 1}` };
  }),
  ...["127.0.0.2", "127.0.0.2", "127.0.0.3"].map((localAddress) => {
    return { caller: localAddress, limit: LIMITS.keyless, apikey: undefined, localAddress };
  }),
];

/** Of ten requests six are quotes, on four pairs; the others ask for everything else that there is. */
function createMix(market: Market, wallet: string): { next(): LoadRequest; learn(body: string): void } {
  const [dollar = "", ether = ""] = ["000000", "000000000000000000"];
  const trades: readonly (readonly [from: string, to: string, zeros: string])[] = [
    [market.usdc, market.weth, dollar],
    [market.weth, market.usdc, ether],
    [market.usdt, market.dai, dollar],
    [market.dai, market.weth, ether],
  ];
  let count = 0;
  let quoteId: string | undefined;
  const get = (endpoint: string, path: string): LoadRequest => ({ endpoint, method: "GET", path });
  function quote(): LoadRequest {
    const [from, to, zeros] = trades[count % trades.length]!;
    const query = `fromTokenAddress=${from}&toTokenAddress=${to}&sellAmount=${1 + (count % 10)}${zeros}`;
    const rest = `slippage=0.01&fromAddress=${wallet}&gasless=false&network=testnet`;
    return get("quote", `/aggregator/quote?${query}&${rest}`);
  }
  const others: readonly (() => LoadRequest)[] = [
    () => get("transaction", `/aggregator/transaction?quoteId=${quoteId}`),
    () => get("distributions", `/aggregator/distributions?quoteId=${quoteId}`),
    () => get("status-counts", `/user-manager/status-counts?walletAddress=${wallet}`),
    () => get("networks", "/token-manager/networks"),
    () => get("token", `/token-manager/token?address=${market.usdc}`),
    () => ({
      endpoint: "balances",
      method: "POST",
      path: "/balance-manager/balances",
      body: JSON.stringify({ networkNames: ["testnet"], walletAddresses: [wallet] }),
    }),
  ];
  return {
    next() {
      count += 1;
      if (count % 10 < 6 || quoteId === undefined) return quote();
      return others[count % others.length]!();
    },
    learn(body) {
      quoteId = /"id":"([^"]+)"/.exec(body)?.[1] ?? quoteId;
    },
  };
}

/** Starts a service, warms it up, loads it, and looks at every answer. */
export async function loadService(options: LoadOptions): Promise<LoadReport> {
  const directory = mkdtempSync(join(tmpdir(), "swapd-load-"));
  const chain = await startTestChain();
  try {
    const market = await deployMarket(chain);
    await chain.rpc.call("evm_setIntervalMining", [1]);
    return await loadOn({ chain, market, directory }, options);
  } finally {
    await chain.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function loadOn(
  world: { chain: TestChain; market: Market; directory: string },
  { warmUpSeconds, seconds, quoteLifetimeSeconds }: LoadOptions,
): Promise<LoadReport> {
  const { chain, market, directory } = world;
  const settings = serviceOptions(chain, market, {
    database: join(directory, "service.db"),
    limits: LIMITS,
    apiKeys: ["first", "second", "third"],
    quoteLifetimeSeconds,
  });
  const child = fork(MAIN, [JSON.stringify(settings)], { execArgv: ["--expose-gc"] });
  const ask = async (): Promise<number> => {
    child.send("heap");
    const [{ heapBytes }] = (await once(child, "message")) as [{ heapBytes: number }];
    return heapBytes;
  };
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const run = async (forSeconds: number): Promise<Seen> => {
    const seen: Seen = { byCaller: new Map(), all: [] };
    await Promise.all(
      CLIENTS.map(async (client, index) => {
        // Clients of their own do not send in step with each other.
        await sleep((index * TICK_MS) / CLIENTS.length);
        await runClient({ url, seconds: forSeconds }, client, seen, world);
      }),
    );
    return seen;
  };
  await run(warmUpSeconds);
  const before = await ask();
  // The rest of this second belongs to the warm-up, whose answers nobody counts.
  await sleep(1_000 - (Date.now() % 1_000));
  const seen = await run(seconds);
  const after = await ask();
  const ended = once(child, "exit");
  child.disconnect();
  await ended;
  return report(seen, { before, after });
}

interface Seen {
  readonly byCaller: Map<string, LoadAnswer[]>;
  readonly all: LoadAnswer[];
}

async function runClient(
  target: { url: string; seconds: number },
  client: LoadClient,
  seen: Seen,
  { chain, market }: { chain: TestChain; market: Market },
): Promise<void> {
  const mix = createMix(market, chain.deployer);
  const own = seen.byCaller.get(client.caller) ?? [];
  seen.byCaller.set(client.caller, own);
  await offerTwice(target, client, mix.next, (answer, body) => {
    own.push(answer);
    seen.all.push(answer);
    if (answer.endpoint === "quote" && answer.status === 200) mix.learn(body);
  });
}

function report(seen: Seen, heapBytes: LoadReport["heapBytes"]): LoadReport {
  const limitOf = new Map(CLIENTS.map(({ caller, limit }) => [caller, limit]));
  const quotes = seen.all.filter(({ endpoint, status }) => endpoint === "quote" && status === 200);
  const durations = quotes.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const callers = [...seen.byCaller].map(([caller, answers]) => ({ caller, answers, limit: limitOf.get(caller) ?? 0 }));
  return {
    answers: seen.all.length,
    quotes: quotes.length,
    refused: seen.all.filter(({ status }) => status === 429).length,
    failures: seen.all
      .filter(({ status }) => status !== 200 && status !== 429)
      .map(({ endpoint, status, text }) => `${endpoint} ${status}: ${text}`),
    wrongDecisions: callers.flatMap(({ caller, answers, limit }) => {
      return wrongDecisions(answers, limit).map((problem) => `${caller}, ${problem}`);
    }),
    wrongHeaders: callers.flatMap(({ answers, limit }) => {
      return answers.map((answer) => wrongHeaders(answer, limit)).filter((problem) => problem !== undefined);
    }),
    quoteP95Ms: durations[Math.floor(durations.length * 0.95)] ?? Number.NaN,
    heapBytes,
  };
}
