import type { Clock } from "../../ports/clock.ts";
import type { Quote } from "./quote.ts";

/**
 * Quotes that live in memory only: a caller that lost one asks again. An expired one is known for as long again as it
 * held, so that memory follows the rate of requests and not their number; beyond that the oldest make room, first those
 * of callers who have more than others have on average.
 */
export interface QuoteMemory {
  add(quote: Quote, caller: string): void;
  find(id: string): Quote | undefined;
}

export interface QuoteMemoryLimits {
  readonly total: number;
  readonly perCaller: number;
}

/** A caller with a key may ask for 200 quotes a second that hold a minute. */
const LIMITS: QuoteMemoryLimits = { total: 50_000, perCaller: 25_000 };

/** Of the oldest quotes, so many are checked for one of a caller that has many. */
const MOST_CHECKED = 100;

export function createQuoteMemory(clock: Pick<Clock, "nowMs">, limits = LIMITS): QuoteMemory {
  const quotes = new Map<string, { readonly quote: Quote; readonly caller: string }>();
  const idsOf = new Map<string, Set<string>>();

  function forget(id: string): void {
    const caller = quotes.get(id)?.caller;
    quotes.delete(id);
    if (caller === undefined) return;
    const ids = idsOf.get(caller);
    ids?.delete(id);
    if (ids?.size === 0) idsOf.delete(caller);
  }

  function forgetExpired(): void {
    const nowMs = clock.nowMs();
    for (const [id, { quote }] of quotes) {
      const expiresAtMs = quote.expiresAtSeconds * 1000;
      if (nowMs < expiresAtMs + (expiresAtMs - quote.createdAtMs)) return;
      forget(id);
    }
  }

  function makeRoom(): void {
    const hasMany = (caller: string) => (idsOf.get(caller)?.size ?? 0) * idsOf.size > quotes.size;
    const [oldest] = quotes.keys();
    let ofMany: string | undefined;
    let checked = 0;
    for (const [id, { caller }] of quotes) {
      checked += 1;
      if (hasMany(caller)) ofMany = id;
      if (ofMany !== undefined || checked === MOST_CHECKED) break;
    }
    const displaced = ofMany ?? oldest;
    if (displaced !== undefined) forget(displaced);
  }

  return {
    add(quote, caller) {
      forgetExpired();
      quotes.set(quote.id, { quote, caller });
      const ids = idsOf.get(caller) ?? new Set();
      idsOf.set(caller, ids.add(quote.id));
      const [oldest] = ids;
      if (ids.size > limits.perCaller && oldest !== undefined) forget(oldest);
      else if (quotes.size > limits.total) makeRoom();
    },
    find: (id) => quotes.get(id)?.quote,
  };
}
