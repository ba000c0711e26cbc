import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { ContractFactory, id, JsonRpcProvider, Wallet } from "ethers";
import { KongLimits } from "../kong-limits.ts";
import { readRouterArtifact } from "./compile-router.ts";
import { createFaultPlan, FAULTS, type Fault, type FaultPlan } from "./faults.ts";
import { HttpProblem } from "./http-problem.ts";
import { type DoubleWorld, QuoteEndpoint } from "./quote-endpoint.ts";
import { RelayEndpoint } from "./relay-endpoint.ts";

/** How the double runs. */
export interface HostedDoubleOptions extends DoubleWorld {
  /** default: a free port */
  readonly port?: number;
  /** seconds until a signature's deadline; default 300, as the hosted service has it */
  readonly lifetimeSeconds?: number;
  /** how late the fault `late` executes; default 3 seconds */
  readonly lateMs?: number;
  readonly limits?: { readonly keyless: number; readonly keyed: number; readonly keys: readonly string[] };
}

/** A running double of the hosted service. */
export interface HostedDouble {
  readonly url: string;
  readonly router: string;
  readonly relayer: string;
  readonly serviceSigner: string;
  readonly faults: FaultPlan;
  /** Instants and statuses of all answers so far, in order. */
  readonly answers: readonly { readonly status: number; readonly atMs: number }[];
  stop(): Promise<void>;
}

const LONGEST_BODY = 65_536;

/**
 * Starts a double of the hosted service on a development chain: deploys its router, gives its relayer native tokens, and
 * serves the wire names of the interface. Built from published facts alone; shares no code with the service or client of
 * this project.
 */
export async function startHostedDouble(options: HostedDoubleOptions): Promise<HostedDouble> {
  const provider = new JsonRpcProvider(options.rpcUrl, options.chainId, {
    staticNetwork: true,
    cacheTimeout: -1,
    batchMaxCount: 1,
    pollingInterval: 100,
  });
  const serviceSigner = new Wallet(id("signer of the hosted double"));
  const relayer = new Wallet(id(`relayer of the hosted double ${Date.now()} ${process.pid}`), provider);
  await provider.send("anvil_setBalance", [relayer.address, `0x${(10n ** 21n).toString(16)}`]);
  const router = await deployRouter(options, relayer, serviceSigner.address);
  const desk = new QuoteEndpoint({
    world: options,
    provider,
    router,
    relayer: relayer.address.toLowerCase(),
    serviceSigner,
    lifetimeSeconds: options.lifetimeSeconds ?? 300,
  });
  const relay = new RelayEndpoint({ relayer, provider, chainId: options.chainId, lateMs: options.lateMs ?? 3_000 });
  const parts: Parts = {
    desk,
    relay,
    faults: createFaultPlan(),
    limits: new KongLimits(options.limits ?? { keyless: 50, keyed: 200, keys: [] }),
    answers: [],
    network: options.network,
  };
  const server = createServer((request, response) => void handle(parts, request, response));
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    router,
    relayer: relayer.address.toLowerCase(),
    serviceSigner: serviceSigner.address.toLowerCase(),
    faults: parts.faults,
    answers: parts.answers,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await relay.stop();
      provider.destroy();
    },
  };
}

async function deployRouter(world: DoubleWorld, deployer: Wallet, serviceSigner: string): Promise<string> {
  const { abi, bytecode } = readRouterArtifact();
  const factory = new ContractFactory([...abi] as never[], bytecode, deployer);
  const contract = await factory.deploy(world.factory, world.wrappedNative, serviceSigner);
  await contract.waitForDeployment();
  return (await contract.getAddress()).toLowerCase();
}

interface Parts {
  readonly desk: QuoteEndpoint;
  readonly relay: RelayEndpoint;
  readonly faults: FaultPlan;
  readonly limits: KongLimits;
  readonly answers: { status: number; atMs: number }[];
  readonly network: string;
}

async function handle(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const atMs = Date.now();
  const url = new URL(request.url ?? "/", "http://double");
  const key = request.headers.apikey;
  const caller = { key: typeof key === "string" ? key : undefined, address: request.socket.remoteAddress ?? "" };
  const isControl = url.pathname === "/control/faults";
  const verdict = isControl ? { allowed: true, headers: {} } : parts.limits.take(caller, atMs);
  const answer = (status: number, body: unknown): void => {
    if (!isControl) parts.answers.push({ status, atMs });
    response.writeHead(status, { ...verdict.headers, "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  if (!verdict.allowed) return answer(429, { message: "API rate limit exceeded" });
  try {
    const result = await route(parts, request, url);
    if (result === "lost") response.destroy();
    else answer(result.status, result.body);
  } catch (error) {
    if (error instanceof HttpProblem) return answer(error.status, { message: error.message, code: error.code });
    answer(500, { message: "Internal server error", code: 1000 });
  }
}

type Result = { status: number; body: unknown } | "lost";

async function route(parts: Parts, request: IncomingMessage, url: URL): Promise<Result> {
  const query = url.searchParams;
  const ok = (body: unknown): Result => ({ status: 200, body });
  switch (`${request.method} ${url.pathname}`) {
    case "GET /aggregator/quote":
      return ok(parts.desk.toWire(await parts.desk.make(query)));
    case "GET /aggregator/quote/transaction": {
      const quote = await parts.desk.make(query);
      return ok({ quote: parts.desk.toWire(quote), transaction: await parts.desk.transaction(quote) });
    }
    case "GET /aggregator/transaction":
      return ok(await parts.desk.transaction(parts.desk.find(query.get("quoteId"))));
    case "GET /aggregator/distributions": {
      const { pair } = parts.desk.find(query.get("quoteId"));
      return ok([{ poolAddress: pair, protocol: "uniswap-v2", share: "1" }]);
    }
    case "POST /user-manager/execute-swap":
      return executeSwap(parts, await readJson(request));
    case "GET /user-manager/swap": {
      if (query.get("networkName") !== parts.network) throw new HttpProblem(500, 1000, "Internal server error");
      const wanted = { quoteId: query.get("quoteId"), hash: query.get("hash"), id: query.get("id") };
      const swap = await parts.relay.find(wanted);
      if (swap === undefined) throw new HttpProblem(404, 2030, "Swap not found");
      return ok(swap);
    }
    case "GET /user-manager/status-counts":
      return ok(await parts.relay.counts((query.get("walletAddress") ?? "").toLowerCase()));
    case "POST /control/faults": {
      const { faults, repeat } = await readJson(request);
      parts.faults.set(readFaults(faults), { repeat: repeat === true });
      return ok({});
    }
    default:
      throw new HttpProblem(404, 404, "Not found");
  }
}

async function executeSwap(parts: Parts, body: Readonly<Record<string, unknown>>): Promise<Result> {
  if (body.networkName !== parts.network) throw new HttpProblem(500, 1000, "Internal server error");
  const quote = parts.desk.find(typeof body.quoteId === "string" ? body.quoteId : null);
  if (!quote.gasless) throw new HttpProblem(400, 2021, "The quote is not gasless");
  const fault = parts.faults.next();
  if (fault === "lose-before") return "lost";
  const swap = await parts.relay.take(quote, body, fault);
  switch (fault) {
    case "lose-after":
      return "lost";
    case "report-error":
      return { status: 400, body: { message: "Swap could not be executed", code: 2022 } };
    case "error-after-accept":
      return { status: 500, body: { message: "Internal server error", code: 1000 } };
    case "late":
    case "none":
      return { status: 200, body: swap };
  }
}

function readFaults(value: unknown): readonly Fault[] {
  if (!Array.isArray(value)) throw new HttpProblem(400, 1001, "faults must be a list");
  return value.map((each) => {
    const fault = FAULTS.find((known) => known === each);
    if (fault === undefined) throw new HttpProblem(400, 1001, `no such fault: ${String(each)}`);
    return fault;
  });
}

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = "";
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > LONGEST_BODY) throw new HttpProblem(413, 413, "Body too large");
  }
  const body: unknown = JSON.parse(text);
  if (typeof body !== "object" || body === null) throw new HttpProblem(400, 1001, "the body must be an object");
  return body as Readonly<Record<string, unknown>>;
}
