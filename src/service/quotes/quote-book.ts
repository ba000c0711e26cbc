import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { ServiceStore } from "../store/service-store.ts";
import type { Quote } from "./quote.ts";

/** Keeps quotes until they expire, and for a while knows that they did. */
export interface QuoteBook {
  add(quote: Quote): void;
  /** A quote that can still be used, else why not. */
  find(id: string): { readonly kind: "found"; readonly quote: Quote } | Refusal;
}

/**
 * Quotes of self-executed swaps live in memory only: whoever lost one asks again. An expired one is known for as long
 * again as it held, so that memory follows the rate of requests and not their number.
 */
const MAX_QUOTES = 50_000;

/** Gasless quotes stay in the database so long after they expired, so that a late caller learns what happened. */
const KEPT_AFTER_EXPIRY_SECONDS = 24 * 3600;
const PRUNE_EVERY_MS = 600_000;

export function createQuoteBook(store: ServiceStore, clock: Clock): QuoteBook {
  const quotes = new Map<string, Quote>();
  let prunedAtMs = Number.NEGATIVE_INFINITY;

  function prune(): void {
    if (clock.monotonicMs() - prunedAtMs < PRUNE_EVERY_MS) return;
    prunedAtMs = clock.monotonicMs();
    store.pruneQuotes(Math.floor(clock.nowMs() / 1000) - KEPT_AFTER_EXPIRY_SECONDS);
  }

  function forgetExpired(): void {
    const nowMs = clock.nowMs();
    for (const [id, { expiresAtSeconds, createdAtMs }] of quotes) {
      const expiresAtMs = expiresAtSeconds * 1000;
      if (nowMs < expiresAtMs + (expiresAtMs - createdAtMs)) return;
      quotes.delete(id);
    }
  }

  return {
    add(quote) {
      if (quote.gasless && quote.owner !== undefined) {
        prune();
        store.insertQuote(quote);
        return;
      }
      forgetExpired();
      quotes.set(quote.id, quote);
      const oldest = quotes.size > MAX_QUOTES ? quotes.keys().next().value : undefined;
      if (oldest !== undefined) quotes.delete(oldest);
    },
    find(id) {
      const quote = quotes.get(id) ?? store.quote(id);
      if (quote === undefined) return refuse("QUOTE_UNKNOWN", { parameter: "quoteId" });
      if (clock.nowMs() >= quote.expiresAtSeconds * 1000) {
        const detail = `it was valid until ${quote.expiresAtSeconds}`;
        return refuse("QUOTE_EXPIRED", { parameter: "quoteId", detail });
      }
      return { kind: "found", quote };
    },
  };
}
