/** A key that cannot be used. The message never contains any part of the key, the keystore or the password. */
export class KeyError extends Error {
  readonly code:
    | "not a private key"
    | "not a mnemonic"
    | "not a path"
    | "not a keystore"
    | "too costly"
    | "wrong password"
    | "empty password"
    | "unexpected typed data";

  constructor(code: KeyError["code"], message: string) {
    super(message);
    this.name = "KeyError";
    this.code = code;
  }
}
