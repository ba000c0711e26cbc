/** Another process holds what only one may have: a database, or a relayer's account. It passes when that one stops. */
export class InUseError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InUseError";
  }
}
