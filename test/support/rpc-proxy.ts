import type { ServerResponse } from "node:http";
import { Transaction } from "ethers";
import { request } from "undici";
import { readBody, startHttpServer } from "./http-server.ts";

interface RpcCall {
  readonly id: number;
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What happens to a call: `times` counts down; without it the fault stays until `clear`. */
export type Fault =
  /** the node never sees it; the caller gets a 502 */
  | { readonly kind: "drop-before" }
  /** the node gets it, its answer is lost in one of these ways */
  | { readonly kind: "drop-after"; readonly loss: "reset" | "502" | "truncated" }
  | { readonly kind: "delay"; readonly ms: number }
  /** the answer is replaced; `forward` says whether the node sees the call */
  | { readonly kind: "answer"; readonly result: unknown; readonly forward?: boolean }
  | { readonly kind: "error"; readonly code?: number; readonly message: string; readonly forward?: boolean };

export interface RpcProxy {
  readonly url: string;
  /** every call that arrived, oldest first */
  readonly seen: readonly RpcCall[];
  /** Applies a fault to the next `times` calls of a method (default: until cleared). */
  fault(method: string, fault: Fault, times?: number): void;
  /** The same for calls with certain parameters, until cleared. */
  faultWhere(calls: { method: string; where(params: readonly unknown[]): boolean }, fault: Fault): void;
  clear(): void;
  /** Refuses what the pool knows, and replacements that raise either fee by less than 10 %, in Geth's words. */
  gethRules(on: boolean): void;
  /** Shows the chain as it was so many blocks ago. */
  stale(blocks: number): void;
}

/**
 * Starts a JSON-RPC proxy in front of a node that can lose, delay and forge answers, so that a test can know "never
 * forwarded" from "forwarded, answer lost". Batches are passed through as they are.
 */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const seen: RpcCall[] = [];
  const faults: { method: string; where(params: readonly unknown[]): boolean; fault: Fault; left: number }[] = [];
  let staleBlocks = 0;
  let isGeth = false;
  const pool = createGethPool(target);

  function takeFault({ method, params }: RpcCall): Fault | undefined {
    const entry = faults.find((one) => one.method === method && one.left > 0 && one.where(params));
    if (entry === undefined) return undefined;
    entry.left--;
    return entry.fault;
  }

  async function handle(body: string, response: ServerResponse): Promise<void> {
    const call: RpcCall = JSON.parse(body);
    if (Array.isArray(call)) return reply(response, await forward(target, body));
    seen.push(call);
    const fault = takeFault(call);
    const outgoing = staleBlocks > 0 ? await makeStale(target, call, staleBlocks) : call;
    if (outgoing === undefined) return reply(response, forge(call, { kind: "answer", result: null }));
    if (fault?.kind === "delay") await new Promise((resolve) => setTimeout(resolve, fault.ms));
    if (fault?.kind === "drop-before") return void response.writeHead(502).end("bad gateway");
    if ((fault?.kind === "answer" || fault?.kind === "error") && fault.forward !== true) {
      return reply(response, forge(call, fault));
    }
    const refusal = isGeth ? await pool.refusal(call) : undefined;
    const answer = refusal ?? (await forward(target, JSON.stringify(outgoing)));
    if (refusal === undefined) pool.remember(call);
    if (fault?.kind === "drop-after") return lose(response, answer, fault.loss);
    if (fault?.kind === "answer" || fault?.kind === "error") return reply(response, forge(call, fault));
    return reply(response, answer);
  }

  const { url } = await startHttpServer((request, response) => {
    readBody(request)
      .then((body) => handle(body, response))
      .catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  return {
    url,
    seen,
    fault: (method, fault, times = Number.POSITIVE_INFINITY) =>
      void faults.push({ method, where: () => true, fault, left: times }),
    faultWhere: (calls, fault) => void faults.push({ ...calls, fault, left: Number.POSITIVE_INFINITY }),
    clear: () => void faults.splice(0),
    gethRules: (on) => {
      isGeth = on;
    },
    stale: (blocks) => {
      staleBlocks = blocks;
    },
  };
}

const JSON_TYPE = { "content-type": "application/json" };

/** The built-in fetch takes three times the processor time. */
async function forward(target: string, body: string): Promise<string> {
  const { body: answer } = await request(target, { method: "POST", headers: JSON_TYPE, body });
  return await answer.text();
}

async function ask(target: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const { result } = JSON.parse(await forward(target, JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })));
  return result;
}

function reply(response: ServerResponse, body: string): void {
  response.writeHead(200, { "content-type": "application/json" }).end(body);
}

function lose(response: ServerResponse, answer: string, loss: "reset" | "502" | "truncated"): void {
  if (loss === "502") response.writeHead(502).end("bad gateway");
  else if (loss === "truncated") reply(response, answer.slice(0, answer.length / 2));
  else response.destroy();
}

function forge(call: RpcCall, fault: Extract<Fault, { kind: "answer" | "error" }>): string {
  const content =
    fault.kind === "answer"
      ? { result: fault.result }
      : { error: { code: fault.code ?? -32000, message: fault.message } };
  return JSON.stringify({ jsonrpc: "2.0", id: call.id, ...content });
}

/** The same call about an older block, where the tip was asked for; undefined where the answer lies above that block. */
async function makeStale(target: string, call: RpcCall, blocks: number): Promise<RpcCall | undefined> {
  const tip = Math.max(0, Number(await ask(target, "eth_blockNumber", [])) - blocks);
  const [first] = call.params;
  if (call.method === "eth_getBlockByNumber" && Number(first) > tip) return undefined;
  if (call.method === "eth_getTransactionReceipt") {
    const receipt = (await ask(target, call.method, [first])) as { blockNumber: string } | null;
    if (receipt !== null && Number(receipt.blockNumber) > tip) return undefined;
  }
  return { ...call, params: call.params.map((param) => (param === "latest" ? `0x${tip.toString(16)}` : param)) };
}

/** Remembers which transaction holds a nonce, as Geth's pool does, which anvil's is too lenient about. */
function createGethPool(target: string) {
  const held = new Map<string, Transaction>();
  function read(call: RpcCall): Transaction | undefined {
    return call.method === "eth_sendRawTransaction" ? Transaction.from(String(call.params[0])) : undefined;
  }
  const keyOf = (transaction: Transaction) => `${transaction.from}:${transaction.nonce}`;
  const isRaisedEnough = (old: bigint | null, next: bigint | null) =>
    (next ?? 0n) > (old ?? 0n) && (next ?? 0n) * 100n >= (old ?? 0n) * 110n;
  return {
    async refusal(call: RpcCall): Promise<string | undefined> {
      const next = read(call);
      const old = next === undefined ? undefined : held.get(keyOf(next));
      if (next === undefined || old === undefined) return undefined;
      const known = (await ask(target, "eth_getTransactionByHash", [old.hash])) as { blockNumber: unknown } | null;
      if (known === null || known.blockNumber !== null) return undefined;
      if (old.hash === next.hash) return forge(call, { kind: "error", message: "already known" });
      const isEnough =
        isRaisedEnough(old.maxFeePerGas, next.maxFeePerGas) &&
        isRaisedEnough(old.maxPriorityFeePerGas, next.maxPriorityFeePerGas);
      if (isEnough) return undefined;
      return forge(call, { kind: "error", message: "replacement transaction underpriced" });
    },
    remember(call: RpcCall): void {
      const transaction = read(call);
      if (transaction !== undefined) held.set(keyOf(transaction), transaction);
    },
  };
}
