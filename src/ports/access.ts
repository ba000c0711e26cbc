/** What somebody may do by the API: look, or ask the daemon for something too. */
export type Scope = "read" | "operate";

/** Who asks, as found by the hash of what he showed. */
export interface Access {
  readonly id: number;
  readonly kind: "login" | "token";
  readonly name: string;
  readonly scope: Scope;
  /** Unix milliseconds; undefined: until it is revoked */
  readonly untilMs: number | undefined;
}

/** The same as it is listed. */
export interface ListedAccess extends Access {
  readonly madeBy: string;
  readonly madeAtMs: number;
  /** when it was last shown, to the hour */
  readonly usedAtMs: number | undefined;
}

/** Something that is given out: a hash of what is shown, and for whom. */
export interface NewAccess {
  readonly name: string;
  readonly scope: Scope;
  readonly hash: string;
  readonly madeBy: string;
}

/** What an action was asked for with. */
export interface ActionKey {
  readonly accessId: number;
  readonly key: string;
  /** a hash of what is asked for */
  readonly asked: string;
}

/** A request as it is written down with its key. */
export interface KeyedRequest {
  readonly command: string;
  readonly arguments: Readonly<Record<string, string>>;
  readonly madeBy: string;
}

/**
 * Who may use the API. Instants are Unix milliseconds. What is written is durable when its promise resolves; a command may
 * write beside a running daemon.
 */
export interface AccessStore {
  /** Writes a one-time code down; older ones that were not used end with it. */
  addCode(code: NewAccess & { readonly untilMs: number }, atMs: number): Promise<void>;
  /** Whether a code of this hash is in force. */
  isWaitedFor(hash: string, nowMs: number): Promise<boolean>;
  /** Uses a code up for a login. @returns undefined where there is none, or it is over or used */
  useCode(
    used: { readonly hash: string; readonly login: { readonly hash: string; readonly untilMs: number } },
    atMs: number,
  ): Promise<Access | undefined>;
  /** @returns false where a token has that name already, and is in force */
  addToken(token: NewAccess & { readonly untilMs?: number | undefined }, atMs: number): Promise<boolean>;
  /** Ends a token, or a login, by its name, with what it asked for and nobody has taken yet. @returns whether there was one */
  revoke(name: string, atMs: number): Promise<boolean>;
  /** Ends a login by its id. */
  end(id: number, atMs: number): Promise<void>;
  /** All that is in force. */
  list(nowMs: number): Promise<readonly ListedAccess[]>;
  /** Who shows this; undefined where it is nobody, or no more. */
  find(hash: string, nowMs: number): Promise<Access | undefined>;
  /** Notes that it was shown, at most once an hour. */
  noteUse(id: number, atMs: number): Promise<void>;
  /**
   * Writes a request of an operator down with its key, or finds the one that has the key.
   * @returns its id, or why it is none; `too-many` of the same asker wait to be taken, and it is no halt
   */
  request(
    key: ActionKey,
    request: KeyedRequest,
    atMs: number,
  ): Promise<{ readonly id: number } | "other-request" | "too-many">;
}
