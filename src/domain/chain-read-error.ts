/**
 * No configured node gave a proper answer to a read. It says nothing about the chain, so nothing may be concluded from
 * it; the same read may be tried again. `wrong chain` needs a person, `not available` an endpoint that can do it,
 * `disagreement` means that two endpoints answered properly and not the same, and `reverted` that nodes asked a contract
 * which refused or broke.
 */
export class ChainReadError extends Error {
  readonly code:
    | "unreachable"
    | "refused"
    | "reverted"
    | "malformed answer"
    | "wrong chain"
    | "not available"
    | "disagreement";

  constructor(code: ChainReadError["code"], message: string) {
    super(message);
    this.name = "ChainReadError";
    this.code = code;
  }

  /** A node answers and refuses: it keeps nothing so old, serves no such range, or passes on a token's refusal. */
  get isRefusal(): boolean {
    return this.code === "refused" || this.code === "reverted" || this.code === "not available";
  }
}
