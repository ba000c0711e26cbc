import { RpcError } from "../net/json-rpc.ts";

/** Shorter than the time after which supervisors and scrapers give up: then they would learn of no network at all. */
const PATIENCE_MS = 2_000;

/**
 * An answer of a network's node where answers of others wait for it.
 * @throws RpcError when it takes too long, or what the answer itself ends with
 */
export async function soon<T>(host: string, answer: Promise<T>, withinMs = PATIENCE_MS): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `${host}: no answer within ${withinMs} ms`;
    timer = setTimeout(() => reject(new RpcError({ kind: "transport", host, message })), withinMs);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
