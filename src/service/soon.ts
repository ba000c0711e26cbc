import { RpcError } from "../chain/json-rpc.ts";
import { waitFor } from "./time-limit.ts";

/** Shorter than the time after which supervisors and scrapers give up: then they would learn of no network at all. */
const PATIENCE_MS = 2_000;

/**
 * An answer of a network's node where answers of others wait for it.
 * @throws RpcError when it takes too long, or what the answer itself ends with
 */
export async function soon<T>(host: string, answer: Promise<T>, withinMs = PATIENCE_MS): Promise<T> {
  const done = await waitFor(answer, withinMs);
  if (done !== undefined) return done.value;
  throw new RpcError({ kind: "transport", host, message: `${host}: no answer within ${withinMs} ms` });
}
