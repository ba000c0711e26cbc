/** Headers and verdict for one request. */
export interface LimitVerdict {
  readonly allowed: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Counts like the rate limiting of a Kong gateway: fixed windows aligned to the server's UTC second, per key, else per
 * client address; a refused request is not counted; the reset is always one second away. Strict: the count is taken in
 * the same moment as the decision, which is never kinder than the gateway.
 */
export class KongLimits {
  readonly #limits: { readonly keyless: number; readonly keyed: number };
  readonly #keys: ReadonlySet<string>;
  readonly #used = new Map<string, { second: number; count: number }>();

  constructor(options: { keyless: number; keyed: number; keys: readonly string[] }) {
    this.#limits = options;
    this.#keys = new Set(options.keys);
  }

  /** An unknown key is served like none, at the keyless limit. */
  take(caller: { key: string | undefined; address: string }, nowMs: number): LimitVerdict {
    const known = caller.key !== undefined && this.#keys.has(caller.key);
    const limit = known ? this.#limits.keyed : this.#limits.keyless;
    const identity = known ? `key ${caller.key}` : `address ${caller.address}`;
    const second = Math.floor(nowMs / 1000);
    const window = this.#used.get(identity);
    const used = window?.second === second ? window.count : 0;
    const allowed = used < limit;
    if (allowed) this.#used.set(identity, { second, count: used + 1 });
    const remaining = String(Math.max(0, limit - used - 1));
    return {
      allowed,
      headers: {
        "X-RateLimit-Limit-Second": String(limit),
        "X-RateLimit-Remaining-Second": remaining,
        "RateLimit-Limit": String(limit),
        "RateLimit-Remaining": remaining,
        "RateLimit-Reset": "1",
        ...(allowed ? {} : { "Retry-After": "1" }),
      },
    };
  }
}
