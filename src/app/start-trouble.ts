import { MarkerError } from "../adapters/identity/marker-files.ts";
import { RpcError } from "../chain/json-rpc.ts";
import { ChainReadError } from "../domain/chain-read-error.ts";
import { PreflightError } from "../engine/prepare.ts";
import { SandboxError } from "../sandbox/sandbox-error.ts";
import { InUseError } from "../service/in-use.ts";
import { WrongContractsError } from "../service/settlement/views.ts";
import { isDamage } from "../storage/backup.ts";
import { StorageError } from "../storage/database.ts";
import { MigrationError } from "../storage/migrations.ts";
import { CommandFailure, EXIT } from "./exit-codes.ts";
import { whyNoRights } from "./no-rights.ts";

/**
 * Why a daemon is not up, by what helps:
 * - `port`: another process listens there, or the address is not there yet; it is tried again for a while
 * - `passing`: a full disk and its like; it is tried again until it works
 * - `elsewhere`: another process is at work, which is as it should be
 * - `person`: only a person can help, by changing a file
 * - `ours`: a mistake of this program
 */
export interface StartTrouble {
  readonly kind: "port" | "passing" | "elsewhere" | "person" | "ours";
  readonly exitCode: number;
  readonly message: string;
}

const PORT_CODES = new Set(["EADDRINUSE", "EADDRNOTAVAIL"]);

/** What the machine lacks for the moment. */
const PASSING_CODES = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOMEM", "EAGAIN", "EBUSY"]);
const PASSING_SQLITE = /^SQLITE_(FULL|IOERR|BUSY|LOCKED|NOMEM)/;

/** What only an installation brings. */
const NOT_INSTALLED = new Set(["ANVIL_MISSING", "CONTRACTS_MISSING"]);

/** Errors of the language are ours, wherever they come from. */
const OURS = [TypeError, RangeError, ReferenceError, SyntaxError, EvalError];

/** Judges what was thrown while a daemon started, or what made a running one stop. */
export function troubleOf(error: unknown): StartTrouble {
  if (error instanceof CommandFailure) {
    const kind = error.exitCode === EXIT.tryAgain ? "elsewhere" : "person";
    return { kind, exitCode: error.exitCode, message: error.message };
  }
  const message = error instanceof Error ? error.message : String(error);
  if (isPersons(error)) return { kind: "person", exitCode: EXIT.configuration, message };
  if (error instanceof InUseError) return { kind: "elsewhere", exitCode: EXIT.tryAgain, message };
  const codes = codesOf(error);
  if (codes.some((code) => PORT_CODES.has(code))) return { kind: "port", exitCode: EXIT.tryAgain, message };
  const isPassing = codes.some((code) => PASSING_CODES.has(code) || PASSING_SQLITE.test(code));
  if (isPassing || error instanceof ChainReadError) return { kind: "passing", exitCode: EXIT.tryAgain, message };
  const named = error instanceof Error ? `${error.name}: ${message}` : message;
  return { kind: "ours", exitCode: EXIT.invariant, message: named };
}

/** The same for what was thrown before anything ran: what is no mistake of the language speaks of the configuration. */
export function troubleOfStart(error: unknown): StartTrouble {
  const noRights = troubleOfRights(error);
  if (noRights !== undefined) return noRights;
  const trouble = troubleOf(error);
  const isForeign = error instanceof Error && !OURS.some((kind) => error instanceof kind);
  if (trouble.kind !== "ours" || !isForeign) return trouble;
  return { kind: "person", exitCode: EXIT.configuration, message: error.message };
}

/**
 * The same for what ended a command: it may meet a database that is damaged, of a newer release or none of ours, and a
 * node that does not answer.
 */
export function troubleOfCommand(error: unknown): StartTrouble {
  const noRights = troubleOfRights(error);
  if (noRights !== undefined) return noRights;
  if (error instanceof RpcError) {
    // A node that answers with a fault may want another key, or be another node.
    const advice = error.kind === "rpc" ? "; check the RPC endpoints" : "";
    return { kind: "passing", exitCode: EXIT.tryAgain, message: `${error.message}${advice}` };
  }
  const isOfFile = error instanceof StorageError || error instanceof MigrationError || isDamage(error);
  return isOfFile ? troubleOfStart(error) : troubleOf(error);
}

const NO_RIGHTS = new Set(["EACCES", "EPERM", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_PERM"]);

/** A file or folder that another user owns, and that this one may not use; undefined where it is not about rights. */
function troubleOfRights(error: unknown): StartTrouble | undefined {
  if (!codesOf(error).some((code) => NO_RIGHTS.has(code))) return undefined;
  const path = error instanceof Error && "path" in error ? error.path : undefined;
  const message = typeof path === "string" ? whyNoRights(path, "write") : undefined;
  return message === undefined ? undefined : { kind: "person", exitCode: EXIT.configuration, message };
}

function isPersons(error: unknown): boolean {
  if ([PreflightError, MarkerError, WrongContractsError].some((kind) => error instanceof kind)) return true;
  if (error instanceof SandboxError) return NOT_INSTALLED.has(error.code);
  return error instanceof ChainReadError && error.code === "wrong chain";
}

/** The codes of an error and of what caused it. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if ("code" in one && typeof one.code === "string") codes.push(one.code);
  }
  return codes;
}
