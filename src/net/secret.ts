const HIDDEN = "[secret]";

/**
 * A text that must never be shown: a private key, a password, an API key, an RPC URL. Printing, inspecting, joining or
 * serialising the wrapper shows a fixed word; only `reveal` gives the text, at the place that needs it.
 */
export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The secret itself. Never store or print what this returns. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return HIDDEN;
  }

  toJSON(): string {
    return HIDDEN;
  }

  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return HIDDEN;
  }
}

/** The host (and port) of a URL, which is what may be shown of it. */
export function hostOf(url: string | Secret): string {
  const text = typeof url === "string" ? url : url.reveal();
  return URL.canParse(text) ? new URL(text).host : "(not a URL)";
}
