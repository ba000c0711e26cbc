import type { Clock } from "../../ports/clock.ts";
import { type Refusal, refuse } from "../errors/errors.ts";
import type { ServiceStore } from "../store/service-store.ts";
import type { Quote } from "./quote.ts";
import { createQuoteMemory, type QuoteMemory } from "./quote-memory.ts";

/** Who asked for a quote. */
export interface QuoteCaller {
  readonly name: string;
  readonly isKeyed: boolean;
}

/**
 * Keeps quotes until they expire, and for a while knows that they did. A gasless quote of a caller with a key, which
 * somebody may be signing while the service starts again, is a row. All others cost their callers nothing, so they are
 * kept in memory: a row comes with the signature.
 */
export interface QuoteBook {
  /** @returns the quote as it is kept: those in memory have ids of another kind */
  add(quote: Quote, caller: QuoteCaller): Quote;
  /** A quote that can still be used, else why not. */
  find(id: string): { readonly kind: "found"; readonly quote: Quote } | Refusal;
}

/** Unsigned quotes of a key that are rows; further ones are kept in memory until older ones have expired. */
const MAX_ROWS_OF_CALLER = 2_000;

/** Gasless quotes stay in the database so long after they expired, so that a late caller learns what happened. */
const KEPT_AFTER_EXPIRY_SECONDS = 24 * 3600;

/** Old rows go a few at a time, with the requests that bring new ones: no request waits for all of them. */
const ROWS_OF_A_SLICE = 100;
const SLICE_EVERY_MS = 100;

/** The digit of an id that shows its kind: a random one, or one of our own making, whose quote is in memory only. */
const KIND_AT = 14;
const IN_MEMORY = "8";

export function createQuoteBook(
  store: Pick<ServiceStore, "insertQuote" | "quote" | "pruneQuotes" | "makeRoomForQuote">,
  clock: Pick<Clock, "nowMs" | "monotonicMs">,
  memory: QuoteMemory = createQuoteMemory(clock),
): QuoteBook {
  let prunedAtMs = Number.NEGATIVE_INFINITY;
  const nowSeconds = () => Math.floor(clock.nowMs() / 1000);

  function prune(): void {
    if (clock.monotonicMs() - prunedAtMs < SLICE_EVERY_MS) return;
    prunedAtMs = clock.monotonicMs();
    store.pruneQuotes(nowSeconds() - KEPT_AFTER_EXPIRY_SECONDS, ROWS_OF_A_SLICE);
  }

  function isRow({ gasless, owner }: Quote, { name, isKeyed }: QuoteCaller): boolean {
    if (!gasless || owner === undefined || !isKeyed) return false;
    prune();
    return store.makeRoomForQuote(name, { most: MAX_ROWS_OF_CALLER, nowSeconds: nowSeconds() });
  }

  return {
    add(quote, caller) {
      if (isRow(quote, caller)) {
        store.insertQuote(quote, caller.name);
        return quote;
      }
      const id = `${quote.id.slice(0, KIND_AT)}${IN_MEMORY}${quote.id.slice(KIND_AT + 1)}`;
      const forgettable = { ...quote, id };
      memory.add(forgettable, caller.name);
      return forgettable;
    },
    find(id) {
      const quote = memory.find(id) ?? store.quote(id);
      if (quote === undefined) {
        return refuse(id[KIND_AT] === IN_MEMORY ? "QUOTE_FORGOTTEN" : "QUOTE_UNKNOWN", { parameter: "quoteId" });
      }
      if (clock.nowMs() >= quote.expiresAtSeconds * 1000) {
        const detail = `it was valid until ${quote.expiresAtSeconds}`;
        return refuse("QUOTE_EXPIRED", { parameter: "quoteId", detail });
      }
      return { kind: "found", quote };
    },
  };
}
