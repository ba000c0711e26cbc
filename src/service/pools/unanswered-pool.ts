/** A pool does not answer for what each pool of its kind has: there is nothing that can be traded with it. */
export class UnansweredPoolError extends Error {
  override readonly name = "UnansweredPoolError";
}
