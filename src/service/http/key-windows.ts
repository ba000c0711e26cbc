import { digestOf, type KeyStore } from "../keys/key-store.ts";
import type { Allowance, TakeWindow } from "../limits/fixed-windows.ts";

export interface GateOptions {
  readonly limits: { readonly keyless: number; readonly keyed: number };
  /** keys that the configuration names, besides those of the database */
  readonly apiKeys: readonly string[];
}

/** Keys that were valid before; what they may do is still looked up with each request. */
const MAX_REMEMBERED = 10_000;

/** A request with a key, as it was counted. */
export interface KeyCount {
  readonly allowance: Allowance;
  /** false: it was not checked whether there is such a key, so it may be any text */
  readonly isKnown: boolean;
}

/**
 * Counts a request with a key, by the key's own limit or the service's for keys. The database is read only for what is
 * still within a limit: the key's own where it was good before, else one of the caller's address for unknown keys.
 * @returns undefined for an unknown key
 */
export function createKeyWindows(
  { apiKeys, limits }: GateOptions,
  { take, keys }: { take: TakeWindow; keys: Pick<KeyStore, "find"> },
): (digest: string, address: string) => KeyCount | undefined {
  const configured = new Set(apiKeys.map(digestOf));
  const remembered = new Map<string, number>();

  function remember(digest: string, limit: number): void {
    remembered.delete(digest);
    remembered.set(digest, limit);
    const oldest = remembered.size > MAX_REMEMBERED ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
  }

  return (digest, address) => {
    const window = `key ${digest}`;
    if (configured.has(digest)) return { allowance: take(window, limits.keyed), isKnown: true };
    const before = remembered.get(digest);
    const mayCheck = before === undefined ? take(`look-up ${address}`, limits.keyless) : take(window, before, 0);
    if (!mayCheck.allowed) return { allowance: mayCheck, isKnown: before !== undefined };
    const row = keys.find(digest);
    if (row === undefined) {
      remembered.delete(digest);
      return undefined;
    }
    const limit = row.requestsPerSecond ?? limits.keyed;
    remember(digest, limit);
    return { allowance: take(window, limit), isKnown: true };
  };
}
