import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getAddress } from "ethers";
import { readBody } from "../http-server.ts";
import { judge, type Posted, type SafeFacts } from "./proposal-rules.ts";

/**
 * What becomes of a call:
 * - `lose`: it is done, and the connection breaks; `drop`: it breaks before
 * - `twice`: it is done two times, as a proxy that tries again does
 * - `hang`: no answer comes; `late`: it is done then
 * - `error`: a 500; `limit`: a 429 with a wait of two seconds
 */
export type CallFault = "lose" | "drop" | "twice" | "hang" | "late" | "error" | "limit";

/** A service with the interface of Safe's Transaction Service, as far as proposals need it. */
export interface TransactionServiceDouble {
  readonly url: string;
  /** what was proposed, the oldest first */
  readonly proposals: Posted[];
  /** by whom a delegate is listed, by its address; both checksummed */
  readonly delegates: Map<string, string>;
  /** calls as they came */
  readonly calls: { readonly method: string; readonly path: string; readonly key: string | undefined }[];
  /** the fault of the next call, asked for each one */
  fault: (call: { readonly method: string; readonly count: number }) => CallFault | undefined;
  /** callers without one of these keys are refused; undefined: nobody is */
  keys: readonly string[] | undefined;
  stop(): Promise<void>;
}

type Reply = readonly [status: number, body?: unknown];

const HASH = /\/v2\/multisig-transactions\/(0x[0-9a-f]{64})\/$/;
const OF_SAFE = /\/v2\/safes\/(0x[0-9a-fA-F]{40})\/multisig-transactions\/$/;

/** Starts it on a free loopback port, for one Safe. */
export async function startTransactionServiceDouble(safe: SafeFacts): Promise<TransactionServiceDouble> {
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const double: TransactionServiceDouble = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tx-service/local/api`,
    ...{ proposals: [], delegates: new Map(), calls: [], keys: undefined },
    fault: () => undefined,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "GET", headers } = request;
    const url = new URL(request.url ?? "/", double.url);
    const text = await readBody(request);
    double.calls.push({ method, path: `${url.pathname}${url.search}`, key: headers.authorization });
    const fault = double.fault({ method, count: double.calls.length });
    if (fault === "drop") return void request.socket.destroy();
    if (fault === "hang") return;
    if (fault === "error") return void response.writeHead(500).end("<html>trouble</html>");
    if (fault === "limit") return void response.writeHead(429, { "retry-after": "2" }).end("{}");
    const times = fault === "twice" ? 2 : 1;
    let reply: Reply = [404, {}];
    for (let time = 0; time < times; time += 1) reply = await answer(double, safe, { method, url, text, headers });
    if (fault === "lose") return void request.socket.destroy();
    if (fault === "late") return;
    const [status, body] = reply;
    response
      .writeHead(status, { "content-type": "application/json" })
      .end(body === undefined ? "" : JSON.stringify(body));
  };
  return double;
}

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly text: string;
  readonly headers: IncomingMessage["headers"];
}

async function answer(double: TransactionServiceDouble, safe: SafeFacts, call: Call): Promise<Reply> {
  const { method, url, headers } = call;
  const key = headers.authorization?.replace(/^Bearer /, "");
  if (double.keys !== undefined && !double.keys.includes(key ?? "")) return [401, { message: "Unauthorized" }];
  const { pathname } = url;
  if (pathname.endsWith("/v2/delegates/")) return delegatesOf(double, safe, url);
  const [, hash] = HASH.exec(pathname) ?? [];
  if (hash !== undefined) {
    const found = double.proposals.find(({ contractTransactionHash }) => contractTransactionHash === hash);
    return found === undefined ? [404, { detail: "Not found." }] : [200, shown(found, double, safe)];
  }
  const [, named] = OF_SAFE.exec(pathname) ?? [];
  if (named === undefined) return [404, { detail: "Not found." }];
  if (named !== getAddress(named)) return [422, { code: 1, message: "Checksum address validation failed" }];
  if (named !== safe.address) return [404, { detail: "Not found." }];
  return method === "POST" ? await take(double, safe, call) : [200, await waiting(double, safe, url)];
}

async function take(double: TransactionServiceDouble, safe: SafeFacts, { text }: Call): Promise<Reply> {
  const delegates = [...double.delegates].filter(([, by]) => safe.owners.includes(by)).map(([delegate]) => delegate);
  const judged = await judge(JSON.parse(text), { safe, delegates });
  if ("refused" in judged) return [422, { nonFieldErrors: [judged.refused] }];
  const hash = judged.contractTransactionHash;
  if (!double.proposals.some(({ contractTransactionHash }) => contractTransactionHash === hash))
    double.proposals.push(judged);
  return [201];
}

function delegatesOf({ delegates }: TransactionServiceDouble, safe: SafeFacts, url: URL): Reply {
  const asked = url.searchParams.get("delegate");
  if (asked === null) return [400, ["At least one query param must be provided"]];
  const results = [...delegates]
    .filter(([delegate]) => delegate === asked)
    .map(([delegate, delegator]) => ({ safe: safe.address, delegate, delegator, label: "swapd", expiryDate: null }));
  return [200, { count: results.length, next: null, previous: null, results }];
}

async function waiting({ proposals, ...double }: TransactionServiceDouble, safe: SafeFacts, url: URL) {
  const from = BigInt(url.searchParams.get("nonce__gte") ?? "0");
  const next = await safe.nonce();
  const least = url.searchParams.get("executed") === "false" && next > from ? next : from;
  const results = proposals
    .filter(({ nonce, signature }) => nonce >= least && typeof signature === "string")
    .sort((one, other) => Number(one.nonce - other.nonce))
    .slice(0, Number(url.searchParams.get("limit") ?? "20"))
    .map((one) => shown(one, double, safe));
  return { count: results.length, next: null, previous: null, results };
}

function shown(posted: Posted, { delegates }: Pick<TransactionServiceDouble, "delegates">, safe: SafeFacts) {
  const { contractTransactionHash, sender, signature, origin, ...fields } = posted;
  const texts = Object.entries(fields).map(([name, value]) => [name, typeof value === "bigint" ? `${value}` : value]);
  return {
    ...Object.fromEntries(texts),
    ...{ safe: safe.address, safeTxHash: contractTransactionHash, origin: JSON.stringify(origin ?? {}) },
    proposer: delegates.get(sender) ?? sender,
    proposedByDelegate: delegates.has(sender) ? sender : null,
    ...{ trusted: typeof signature === "string", isExecuted: false, transactionHash: null, confirmations: [] },
  };
}
