import { RpcError } from "../../chain/json-rpc.ts";
import type { Address } from "../../domain/money/address.ts";
import type { Clock } from "../../ports/clock.ts";

const MAX_ADDRESSES = 20_000;

interface Entry<T> {
  readonly answer: Promise<T>;
  /** by the monotonic clock; nobody asks again while an answer is waited for */
  untilMs: number;
}

/**
 * Remembers answers about addresses, those asked for last; failures not at all. Where a node fails while an answer is read
 * anew, what was known holds on; that there was nothing (undefined, false) is not known.
 * @param keepMs for how many milliseconds an answer holds
 */
export function createAddressMemory<T>(clock: Pick<Clock, "monotonicMs">, keepMs: (answer: T) => number) {
  const entries = new Map<Address, Entry<T>>();
  return (address: Address, ask: () => Promise<T>): Promise<T> => {
    const known = entries.get(address);
    if (known !== undefined && clock.monotonicMs() < known.untilMs) return known.answer;
    const answer = ask().catch(async (error: unknown) => {
      const before = await known?.answer;
      if (!before || !(error instanceof RpcError)) throw error;
      return before;
    });
    const entry: Entry<T> = { answer, untilMs: Number.POSITIVE_INFINITY };
    entries.delete(address);
    entries.set(address, entry);
    entry.answer.then(
      (answer) => {
        entry.untilMs = clock.monotonicMs() + keepMs(answer);
      },
      () => entries.delete(address),
    );
    const oldest = entries.size > MAX_ADDRESSES ? entries.keys().next().value : undefined;
    if (oldest !== undefined) entries.delete(oldest);
    return entry.answer;
  };
}
