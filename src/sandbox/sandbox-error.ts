/** Why a sandbox could not start or go on. */
export type SandboxErrorCode =
  | "ANVIL_MISSING"
  | "ANVIL_EXITED"
  | "PORT_IN_USE"
  | "RPC_REFUSED"
  | "CONTRACTS_MISSING"
  | "SETUP_REVERTED"
  | "STATE_UNREADABLE"
  | "FORK_UNREACHABLE"
  | "FORK_UNSUPPORTED";

/** A sandbox that cannot start or go on. The message says what happened, with values, and what to do next. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
