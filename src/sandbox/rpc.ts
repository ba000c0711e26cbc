import { z } from "zod";
import { SandboxError } from "./sandbox-error.ts";

/** One JSON-RPC call: the method and its parameters. */
export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** Talks to the sandbox's own node on loopback. */
export interface Rpc {
  readonly url: string;
  /** @throws SandboxError `RPC_REFUSED` when the node answers with an error */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>;
  /** One HTTP request for many calls; answers come in the order of the calls. @throws like `call` */
  batch(calls: readonly RpcCall[]): Promise<unknown[]>;
}

/** anvil refuses request bodies above 2 MB. */
const MAX_BATCH_BYTES = 1_500_000;

const answerSchema = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
const answersSchema = z.array(answerSchema);

/** A JSON-RPC client for a loopback node: bounded in time, no retry, no redirect. */
export function createRpc(url: string, timeoutMs = 30_000): Rpc {
  async function post(bodies: readonly string[]): Promise<z.infer<typeof answersSchema>> {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `[${bodies.join(",")}]`,
      redirect: "error",
      signal: AbortSignal.timeout(timeoutMs),
    });
    return answersSchema.parse(await response.json());
  }

  async function batch(calls: readonly RpcCall[]): Promise<unknown[]> {
    const results = new Array<unknown>(calls.length);
    for (const chunk of chunked(calls)) {
      const answers = new Map((await post(chunk.map((entry) => entry.body))).map((answer) => [answer.id, answer]));
      for (const { id } of chunk) results[id] = resultOf(calls[id]?.method ?? "", answers.get(id));
    }
    return results;
  }

  return { url, batch, call: async (method, ...params) => (await batch([{ method, params }]))[0] };
}

function resultOf(method: string, answer: z.infer<typeof answerSchema> | undefined): unknown {
  if (answer === undefined) throw new SandboxError("RPC_REFUSED", `The sandbox's node left ${method} unanswered.`);
  if (answer.error === undefined) return answer.result;
  const { code, message } = answer.error;
  throw new SandboxError("RPC_REFUSED", `The sandbox's node refused ${method}: ${message} (code ${code}).`);
}

function* chunked(calls: readonly RpcCall[]): Generator<{ id: number; body: string }[]> {
  let chunk: { id: number; body: string }[] = [];
  let bytes = 0;
  for (const [id, call] of calls.entries()) {
    const body = JSON.stringify({ jsonrpc: "2.0", id, method: call.method, params: call.params });
    if (chunk.length > 0 && bytes + body.length > MAX_BATCH_BYTES) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push({ id, body });
    bytes += body.length + 1;
  }
  if (chunk.length > 0) yield chunk;
}
