/**
 * There is no signature now. It says nothing about whether the signer made one: what it made and nobody stored is asked
 * for again, with the same content. `pending`: it was asked, and the question goes on; `held back`: it was not asked,
 * because it failed a moment ago; `away`: it gave no proper answer; `refused`: it answered and does not sign;
 * `different`: it signed something else than it was asked for, or by another key.
 */
export class SigningError extends Error {
  readonly code: "pending" | "held back" | "away" | "refused" | "different";

  constructor(code: SigningError["code"], message: string) {
    super(message);
    this.name = "SigningError";
    this.code = code;
  }
}
